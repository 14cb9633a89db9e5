package gateway

import (
	"iter"
	"slices"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/markdown"
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// html writes the page: what its kind has in Main, and the frame around that.
func (p *page) html(w *markup.Writer) {
	w.Put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%s</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
`, p.Title)
	if !p.Native {
		w.Put(`<link rel="stylesheet" href="%u">
`, p.Prefix+"/style.css")
	}
	if !p.Feed.Empty() {
		w.Put(`<link rel="alternate" type="application/atom+xml" title="Atom" href="%u">
`, p.Feed.String())
	}
	w.Put(`</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
`)
	p.crumbs(w)
	w.Put(`<main id="main">
<h1>`)
	putBreakable(w, p.Heading)
	w.Put(`</h1>
`)
	if p.Main != nil {
		p.Main(w)
	}
	w.Put(`
</main>
<footer>
`)
	for _, note := range p.Notes {
		w.Put("<p>%s</p>\n", note)
	}
	if p.URL != "" {
		w.Put("<p class=\"url\">%s</p>\n", p.URL)
	}
	if len(p.Links) > 0 {
		putLinks(w, p.Links)
		w.Put("\n")
	}
	w.Put(`</footer>
</body>
</html>
`)
}

// crumbs writes the way to the page.
func (p *page) crumbs(w *markup.Writer) {
	if len(p.Crumbs) == 0 {
		return
	}
	w.Put(`<nav aria-label="Path"><ol class="crumbs">`)
	for i, c := range p.Crumbs {
		w.Put("\n<li>")
		switch {
		case !c.Link.Empty():
			w.Put(`<a href="%u">`, c.Link.String())
			putBreakable(w, c.Text)
			w.Put("</a>")
		case i == len(p.Crumbs)-1:
			w.Put(`<span aria-current="page">`)
			putBreakable(w, c.Text)
			w.Put("</span>")
		default:
			w.Put("<span>")
			putBreakable(w, c.Text)
			w.Put("</span>")
		}
		w.Put("</li>")
	}
	w.Put("\n</ol></nav>\n")
}

// putLinks writes a list of links.
func putLinks(w *markup.Writer, links []crumb) {
	w.Put(`<ul class="links">`)
	for _, l := range links {
		w.Put("\n<li>")
		if l.NoFollow {
			w.Put(`<a href="%u" rel="nofollow">%s</a>`, l.Link.String(), l.Text)
		} else {
			w.Put(`<a href="%u">%s</a>`, l.Link.String(), l.Text)
		}
		w.Put("</li>")
	}
	w.Put("\n</ul>")
}

// putCharsets writes links to a text in other charsets, below the heading summary.
func putCharsets(w *markup.Writer, summary string, charsets []crumb) {
	w.Put(`<details><summary>%s</summary>
<nav aria-label="Charset"><ul class="links">`, summary)
	for _, c := range charsets {
		if c.Link.Empty() {
			w.Put("\n<li><span aria-current=\"true\">%s</span></li>", c.Text)
		} else {
			w.Put("\n<li><a href=\"%u\" rel=\"nofollow\">%s</a></li>", c.Link.String(), c.Text)
		}
	}
	w.Put("\n</ul></nav></details>\n")
}

// putBreakable writes a text in which a browser may break lines.
func putBreakable(w *markup.Writer, text string) {
	for i, part := range breakable(text) {
		if i > 0 {
			w.Put("<wbr>")
		}
		w.Put("%s", part)
	}
}

// putLink writes a text, as a link if there is one.
func putLink(w *markup.Writer, to place.Link, text string) {
	if to.Empty() {
		w.Put("%s", text)
	} else {
		w.Put(`<a href="%u">%s</a>`, to.String(), text)
	}
}

// putAside writes a link, if there is one, to what programs need not follow, in a paragraph.
func putAside(w *markup.Writer, to place.Link, text string) {
	if !to.Empty() {
		w.Put("<p><a href=\"%u\" rel=\"nofollow\">%s</a></p>\n", to.String(), text)
	}
}

// putLinked writes a text with its links.
func putLinked(w *markup.Writer, pieces iter.Seq[piece]) {
	for p := range pieces {
		putLink(w, p.Link, p.Text)
		if w.Failed() {
			return
		}
	}
}

// putText writes a text with its links, whose line ends stay.
func putText(w *markup.Writer, pieces []piece) {
	w.Put("<pre class=\"text\">\n")
	putLinked(w, slices.Values(pieces))
	w.Put("</pre>\n")
}

// putHidden writes inputs that nobody sees.
func putHidden(w *markup.Writer, fields []fetch.Field) {
	for _, f := range fields {
		w.Put("<input type=\"hidden\" name=\"%s\" value=\"%s\">\n", f.Name, f.Value)
	}
}

// html writes the form.
func (f *searchForm) html(w *markup.Writer) {
	w.Put(`<form action="%u" method="get" role="search" aria-label="%s">`, f.Action.String(), f.Label)
	putHidden(w, f.Hidden)
	w.Put(`<label for="%s">%s</label> <input type="search" id="%s" name="q" value="%s"`, f.ID, f.Label, f.ID, f.Words)
	if f.Placeholder != "" {
		w.Put(` placeholder="%s"`, f.Placeholder)
	}
	w.Put(`> <button type="submit">Search</button></form>`)
}

// putProse writes a text in Markdown.
func putProse(w *markup.Writer, blocks iter.Seq[proseBlock]) {
	w.Put("<div class=\"prose\">\n")
	for b := range blocks {
		b.html(w)
		if w.Failed() {
			return
		}
	}
	w.Put("</div>\n")
}

// html writes the block.
func (b *proseBlock) html(w *markup.Writer) {
	pieces := slices.Values(b.Text)
	switch b.Kind {
	case markdown.Heading:
		w.Put("<h2>")
		putLinked(w, pieces)
		w.Put("</h2>\n")
	case markdown.Code:
		if b.Depth > 0 {
			w.Put("<pre class=\"depth-%s\">\n", strconv.Itoa(b.Depth))
		} else {
			w.Put("<pre>\n")
		}
		putLinked(w, pieces)
		w.Put("</pre>\n")
	case markdown.Quote:
		w.Put("<blockquote>")
		putLinked(w, pieces)
		w.Put("</blockquote>\n")
	case markdown.Rule:
		w.Put("<hr>\n")
	default:
		w.Put(`<p class="%s`, string(b.Kind))
		if b.Depth > 0 {
			w.Put(" depth-%s", strconv.Itoa(b.Depth))
		}
		w.Put(`">`)
		putLinked(w, pieces)
		w.Put("</p>\n")
	}
}

// html writes what went wrong, and what to do.
func (f *failure) html(w *markup.Writer) {
	w.Put("\n")
	if f.Detail != "" {
		w.Put("<p class=\"error\">%s</p>\n", f.Detail)
	}
	if len(f.Server) > 0 {
		w.Put("<h2>What the server says</h2>\n")
		putText(w, f.Server)
	}
	if f.Admin.Text != "" {
		w.Put("<p>The administrator of the server: ")
		putLink(w, f.Admin.Link, f.Admin.Text)
		w.Put("</p>\n")
	}
	if f.Moved.Text != "" {
		w.Put("<p>The document is now at ")
		putLink(w, f.Moved.Link, f.Moved.Text)
		w.Put("</p>\n")
	}
	if f.Sent != "" {
		w.Put("<h2>What was sent</h2>\n<pre class=\"text\">\n%s</pre>\n", f.Sent)
	}
	if f.Do == "" && f.Login.Empty() && f.Retry.Empty() {
		return
	}
	w.Put("<h2>What to do</h2>\n")
	if f.Do != "" {
		w.Put("<p>%s</p>\n", f.Do)
	}
	if len(f.Links) > 0 {
		w.Put("<ul>")
		for _, l := range f.Links {
			w.Put("\n<li><a href=\"%u\" rel=\"nofollow\">%s</a></li>", l.Link.String(), l.Text)
		}
		w.Put("\n</ul>\n")
	}
	putAside(w, f.Login, "Log in")
	putAside(w, f.Retry, "Try again")
}
