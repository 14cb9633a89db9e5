package gateway

import (
	"slices"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
)

// html writes the list of newsgroups as it arrives.
func (g *groupsPage) html(w *markup.Writer) {
	w.Put(`<table class="groups stacked" role="table">
<caption>Newsgroups of the server</caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Group</th><th scope="col" role="columnheader">Description</th><th scope="col" role="columnheader">Articles</th><th scope="col" role="columnheader">Posting</th></tr></thead>
<tbody role="rowgroup">
`)
	for r := range g.Rows {
		r.html(w)
		if w.Failed() {
			return
		}
	}
	w.Put("</tbody>\n</table>\n")
	if cut := g.Cut(); cut != "" {
		w.Put("<p class=\"error\">The list ends early: %s</p>\n", cut)
	}
	if pages := g.Pages(); len(pages) > 0 {
		w.Put(`<nav class="pages" aria-label="Pages"><ul>`)
		for _, p := range pages {
			w.Put("\n<li><a href=\"%u\">%s</a></li>", p.Link.String(), p.Text)
		}
		w.Put("\n</ul></nav>")
	}
}

// html writes the row of a table.
func (r *groupRow) html(w *markup.Writer) {
	w.Put(`<tr role="row"><td role="cell">`)
	if r.Link.Empty() {
		w.Put("%s", r.Text)
	} else {
		w.Put(`<a href="%u">`, r.Link.String())
		putBreakable(w, r.Text)
		w.Put("</a>")
	}
	count := ""
	if r.Count >= 0 {
		count = strconv.FormatInt(r.Count, 10)
	}
	w.Put("</td><td role=\"cell\">%s</td><td role=\"cell\">%s</td><td role=\"cell\">%s</td></tr>\n", r.About, count, r.Posting)
}

// html writes the articles of a group.
func (g *groupPage) html(w *markup.Writer) {
	w.Put("<p>The newsgroup has %s.</p>\n", g.About)
	if len(g.Views) > 0 {
		w.Put(`<nav class="pages" aria-label="Views"><ul>`)
		for _, v := range g.Views {
			if v.NoFollow {
				w.Put("\n<li><a href=\"%u\" rel=\"nofollow\">%s</a></li>", v.Link.String(), v.Text)
			} else {
				w.Put("\n<li><a href=\"%u\">%s</a></li>", v.Link.String(), v.Text)
			}
		}
		w.Put("\n</ul></nav>\n")
	}
	switch {
	case len(g.Threads) > 0:
		w.Put(`<ol class="thread">`)
		putThreads(w, g.Threads)
		w.Put("</ol>\n")
	case len(g.Posts) > 0:
		w.Put(`<table class="articles stacked" role="table">
<caption>Articles, the newest first</caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Number</th><th scope="col" role="columnheader">Subject</th><th scope="col" role="columnheader">From</th><th scope="col" role="columnheader">Date</th><th scope="col" role="columnheader">Lines</th></tr></thead>
<tbody role="rowgroup">
`)
		for _, p := range g.Posts {
			w.Put(`<tr role="row"><td role="cell">%s</td><td role="cell">`, p.Number)
			putPost(w, p)
			w.Put(`</td><td role="cell">%s</td><td role="cell">`, p.From)
			putDate(w, p.Date)
			w.Put("</td><td role=\"cell\">%s</td></tr>\n", p.Lines)
		}
		w.Put("</tbody>\n</table>\n")
	default:
		w.Put("<p>There are no articles on this page.</p>\n")
	}
	if g.Cut != "" {
		w.Put(`<p class="error">The list is not complete: %s</p>`, g.Cut)
	}
}

// putPost writes the link to an article.
func putPost(w *markup.Writer, p *article.Post) {
	w.Put(`<a href="%u">`, p.Link.String())
	putBreakable(w, p.Text)
	if p.Repeated {
		w.Put(`<span class="hidden">, %s</span>`, p.Number)
	}
	w.Put("</a>")
}

// putDate writes a date, if it is known.
func putDate(w *markup.Writer, t time.Time) {
	if !t.IsZero() {
		w.Put("<time>%s</time>", t.UTC().Format("2006-01-02 15:04Z"))
	}
}

// putThreads writes articles with the replies to them.
func putThreads(w *markup.Writer, threads []*article.Thread) {
	for _, t := range threads {
		w.Put("\n<li>")
		if p := t.Post; p != nil {
			putPost(w, p)
			if p.Text != p.From {
				w.Put(` <span class="kind">%s</span>`, p.From)
			}
			w.Put(" ")
			putDate(w, p.Date)
		} else {
			w.Put("Not listed: ")
			if id := visible(t.ID); t.Missing.Empty() {
				w.Put("%s", id)
			} else {
				w.Put(`<a href="%u" rel="nofollow">%s</a>`, t.Missing.String(), id)
			}
		}
		if len(t.Replies) > 0 {
			w.Put("\n<ol>")
			putThreads(w, t.Replies)
			w.Put("</ol>")
		}
		w.Put("</li>")
	}
}

// html writes the article.
func (a *articlePage) html(w *markup.Writer) {
	if len(a.Fields) > 0 {
		putArticleFields(w, a.Fields)
	}
	if len(a.Others) > 0 {
		w.Put("<details><summary>Other header fields</summary>\n")
		putArticleFields(w, a.Others)
		w.Put("</details>\n")
	}
	if len(a.Charsets) > 0 {
		summary := "Charset: according to the article"
		if a.Charset != "" {
			summary = "Charset: " + a.Charset + " (chosen)"
		}
		putCharsets(w, summary, a.Charsets)
	}
	for _, t := range a.Texts {
		if t.Type != "" {
			w.Put("<p class=\"note\">This part of type %s is shown as its source.</p>\n", t.Type)
		}
		putBlocks(w, t.Blocks)
	}
	if len(a.Files) == 0 {
		return
	}
	w.Put("<h2>Files</h2>\n<ul>")
	for _, f := range a.Files {
		w.Put("\n<li>")
		if f.Link.Empty() {
			w.Put("%s", f.Name)
		} else {
			w.Put(`<a href="%u" rel="nofollow">%s</a>`, f.Link.String(), f.Name)
		}
		size := strconv.FormatInt(f.Size, 10)
		w.Put(` (%s, <data value="%s">%s bytes</data>)</li>`, f.Type, size, size)
	}
	w.Put("\n</ul>\n")
}

// putArticleFields writes fields of the header.
func putArticleFields(w *markup.Writer, fields []articleField) {
	w.Put(`<dl class="fields">`)
	for _, f := range fields {
		w.Put("\n<dt>%s</dt>\n<dd>", f.Name)
		switch {
		case f.Text == "":
		case f.Time.IsZero():
			w.Put("%s", f.Text)
		default:
			w.Put(`<time datetime="%s">%s</time>`, f.Time.Format(time.RFC3339), f.Text)
		}
		for i, v := range f.Values {
			if i > 0 {
				w.Put(" ")
			}
			putLink(w, v.Link, v.Text)
		}
		w.Put("</dd>")
	}
	w.Put("\n</dl>\n")
}

// putBlocks writes the text of an article with its quotes.
func putBlocks(w *markup.Writer, blocks []*block) {
	for _, b := range blocks {
		if len(b.Quote) > 0 {
			w.Put("<blockquote>\n")
			putBlocks(w, b.Quote)
			w.Put("</blockquote>\n")
			continue
		}
		if b.Signature {
			w.Put("<pre class=\"text signature\">\n")
		} else {
			w.Put("<pre class=\"text\">\n")
		}
		for i, line := range b.Lines {
			if i > 0 {
				w.Put("\n")
			}
			if b.Mark != "" {
				w.Put(`<span class="hidden" aria-hidden="true">%s</span>`, b.Mark)
			}
			putLinked(w, slices.Values(line))
		}
		w.Put("</pre>\n")
	}
}
