package gateway

import (
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/markup"
)

// html writes the text.
func (t *textPage) html(w *markup.Writer) {
	w.Put("\n")
	if t.Source {
		w.Put("<p class=\"note\">This is the source of a document of type %s. The gateway does not run documents from servers.</p>\n", t.MediaType)
	}
	if t.Empty {
		w.Put("<p class=\"note\">The document is empty.</p>\n")
	} else {
		putCharsets(w, "Charset: "+t.Charset+" ("+t.How+")", t.Charsets)
		if t.Markdown {
			putProse(w, t.Prose())
		} else {
			w.Put("<pre class=\"text\">\n")
			putLinked(w, t.Pieces())
			w.Put("</pre>\n")
		}
		if shown := t.Shown(); shown != "" {
			w.Put("<p class=\"note\">The page shows the first %s of the document. <a href=\"%u\" rel=\"nofollow\">The whole document</a></p>\n", shown, t.Raw.String())
		}
	}
	if cut := t.Cut(); cut != "" {
		w.Put("<p class=\"error\">The document ends early: %s</p>\n", cut)
	}
}

// html writes the picture, the sound or the video.
func (m *mediaPage) html(w *markup.Writer) {
	w.Put("\n")
	switch m.Kind {
	case "image":
		w.Put("<p><a href=\"%u\" rel=\"nofollow\"><img src=\"%u\" alt=\"%s\"></a></p>\n", m.Raw.String(), m.Raw.Path, m.Label)
	case "audio":
		w.Put("<audio controls preload=\"metadata\" src=\"%u\" aria-label=\"%s\"></audio>\n", m.Raw.Path, m.Label)
		putAside(w, m.Raw, "The sound as a file")
	default:
		w.Put("<video controls preload=\"metadata\" src=\"%u\" aria-label=\"%s\"></video>\n", m.Raw.Path, m.Label)
		putAside(w, m.Raw, "The video as a file")
	}
	w.Put(`<dl class="fields">`)
	if m.MediaType != "" {
		w.Put("\n<dt>Type</dt><dd>%s</dd>", m.MediaType)
	}
	w.Put("\n<dt>Size</dt><dd>")
	if m.Size < 0 {
		w.Put("not known")
	} else {
		size := strconv.FormatInt(m.Size, 10)
		w.Put(`<data value="%s">%s bytes</data>`, size, size)
	}
	w.Put("</dd>\n</dl>")
}

// html writes the advice.
func (p *advicePage) html(w *markup.Writer) {
	w.Put("\n<p>%s</p>\n", p.What)
	if len(p.Fields) > 0 {
		w.Put(`<dl class="fields">`)
		putFields(w, p.Fields)
		w.Put("\n</dl>\n")
	}
	if len(p.Text) > 0 {
		putText(w, p.Text)
	}
	if !p.Link.Empty() {
		w.Put("<p>")
		putLink(w, p.Link, p.Label)
		w.Put("</p>\n")
	}
}

// putFields writes terms with their values, each in a line.
func putFields(w *markup.Writer, fields []field) {
	for _, f := range fields {
		w.Put("\n<dt>%s</dt><dd>%s</dd>", f.Name, f.Text)
	}
}

// html writes the plan.
func (p *explainPage) html(w *markup.Writer) {
	w.Put("\n<p>This is what the gateway would do for this URL. Nothing has been sent.</p>\n")
	if p.Refused != "" {
		w.Put("<p class=\"error\">%s</p>\n", p.Refused)
	}
	if p.Server != "" {
		w.Put("<p>Connect to <code>%s</code>.</p>\n", p.Server)
	}
	if len(p.Steps) > 0 {
		w.Put("<ol>")
		for _, s := range p.Steps {
			s.html(w)
		}
		w.Put("\n</ol>\n")
	}
	for _, note := range p.Notes {
		w.Put("<p class=\"note\">%s</p>\n", note)
	}
}

// html writes the step.
func (s step) html(w *markup.Writer) {
	w.Put("\n<li>")
	if s.Send != "" {
		w.Put("Send <code>%s</code>", s.Send)
	} else {
		w.Put("%s", s.Do)
	}
	if s.When != "" {
		w.Put(", %s", s.When)
	}
	if s.Ahead {
		w.Put(", without waiting for the reply before")
	}
	w.Put("</li>")
}

// html writes the form for a search, what was found, and the description of the database.
func (p *hitsPage) html(w *markup.Writer) {
	w.Put("\n")
	if p.Server != "" {
		w.Put("<p>A server of WAIS describes its databases in one of them. Search it for a subject or the name of a database. If you know the name, add it to the URL: <code>wais://%s/NAME</code></p>\n", p.Server)
	}
	if !p.Form.Empty() {
		w.Put(`<form method="get" action="%u" role="search">
<p><label for="q">Search %s for</label>
<input id="q" name="q" type="search" required value="%s">
<button type="submit">Search</button></p>
</form>
`, p.Form.Path, p.Of, p.Words)
	}
	if p.Searched {
		p.count(w)
	}
	for _, d := range p.Diagnostics {
		w.Put("<p class=\"note\">Message from the server: %s</p>\n", d)
	}
	if p.List != nil {
		w.Put(`<ol class="hits">`)
		for h := range p.List {
			h.html(w)
		}
		w.Put("\n</ol>\n")
	}
	if p.Catalogue.Text != "" {
		w.Put("<p>")
		if p.Catalogue.Link.Empty() {
			w.Put("%s", p.Catalogue.Text)
		} else {
			putLink(w, p.Catalogue.Link, "The catalogue of the database")
		}
		w.Put("</p>\n")
	}
	if cut := p.Cut(); cut != "" {
		w.Put("<p class=\"error\">The list ends early: %s</p>\n", cut)
	}
	p.about(w)
}

// count writes how many documents were found, and for what.
func (p *hitsPage) count(w *markup.Writer) {
	switch {
	case p.List == nil:
		w.Put("<p class=\"note\">Nothing was found.</p>\n")
	case p.Hits == 1:
		w.Put("<p>1 document found, best first.</p>\n")
	case p.Hits >= 0:
		w.Put("<p>%s documents found, best first.</p>\n", strconv.Itoa(p.Hits))
	}
	if p.SeedWords != "" {
		w.Put("<p class=\"note\">The server searched for: %s</p>\n", p.SeedWords)
	}
}

// about writes the description of the database.
func (p *hitsPage) about(w *markup.Writer) {
	facts := len(p.Source) > 0 || p.Maintainer.Text != ""
	if len(p.Description) == 0 && !facts {
		if !p.Searched && !p.Form.Empty() {
			w.Put("<p class=\"note\">The server does not describe this database.</p>\n")
		}
		return
	}
	w.Put("<h2>About the database</h2>\n")
	if len(p.Description) > 0 {
		putText(w, p.Description)
	}
	if !facts {
		return
	}
	w.Put(`<dl class="fields">`)
	putFields(w, p.Source)
	if p.Maintainer.Text != "" {
		w.Put("\n<dt>Maintainer</dt><dd>")
		putLink(w, p.Maintainer.Link, p.Maintainer.Text)
		w.Put("</dd>")
	}
	w.Put("\n</dl>\n")
}

// html writes the document that was found.
func (h *hit) html(w *markup.Writer) {
	w.Put("\n<li>")
	putLink(w, h.Link, h.Text)
	if h.Fault != "" {
		w.Put(` <span class="why">(%s)</span>`, h.Fault)
	}
	if len(h.Facts) > 0 || !h.Time.IsZero() {
		w.Put("<br>\n<span class=\"kind\">%s", strings.Join(h.Facts, ", "))
		if !h.Time.IsZero() {
			if len(h.Facts) > 0 {
				w.Put(", ")
			}
			date := h.Time.Format(time.DateOnly)
			w.Put(`<time datetime="%s">%s</time>`, date, date)
		}
		w.Put("</span>")
	}
	if len(h.Formats) > 0 {
		w.Put("\n<ul class=\"links\">")
		for _, f := range h.Formats {
			w.Put("\n<li>")
			if f.Link.Empty() {
				w.Put("%s", f.Text)
			} else {
				w.Put(`<a href="%u" aria-label="%s: %s">%s</a>`, f.Link.String(), f.Text, h.Text, f.Text)
			}
			w.Put("</li>")
		}
		w.Put("\n</ul>")
	}
	w.Put("</li>")
}
