package gateway

import (
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/markup"
)

// html writes the menu as it arrives.
func (m *menuPage) html(w *markup.Writer) {
	if m.Search != nil {
		m.Search.html(w)
		w.Put("\n")
	}
	for r := range m.Rows() {
		r.html(w)
		if w.Failed() {
			return
		}
	}
	if m.Empty() {
		w.Put("<p class=\"note\">The menu is empty.</p>\n")
	}
	if capped := m.Capped(); capped != "" {
		w.Put("<p class=\"warning\">%s</p>\n", capped)
	}
	if cut := m.Cut(); cut != "" {
		w.Put("<p class=\"error\" role=\"alert\">The menu ends here, because of an error: %s</p>\n", cut)
	}
	putAside(w, m.Details(), "This menu with sizes and dates")
	if charsets := m.Charsets(); len(charsets) > 0 {
		putCharsets(w, "Charset", charsets)
	}
}

// html writes the row.
func (r *menuRow) html(w *markup.Writer) {
	if r.Close {
		w.Put("</ul>\n")
	}
	switch {
	case r.Art > 0:
		number := strconv.Itoa(r.Art)
		w.Put(`<div class="drawing"><a class="skip" href="%u">Skip the drawing</a>
<pre class="plain" role="img" tabindex="0" aria-label="%s">
%s</pre></div>
<div id="after-art%s"></div>
`, "#after-art"+number, r.Label, r.Lines, number)
	case r.Lines != "":
		w.Put("<pre class=\"plain\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">\n%s</pre>\n", r.Label, r.Lines)
	case len(r.Parts) > 0:
		w.Put("<pre class=\"text\">\n")
		for _, p := range r.Parts {
			if p.Class != "" {
				w.Put("<span class=\"%s\">%s</span>\n", p.Class, p.Text)
			} else {
				w.Put("%s\n", p.Text)
			}
		}
		w.Put("</pre>\n")
	case r.Kind != "":
		r.item(w)
	}
}

// item writes the row as an item of a list.
func (r *menuRow) item(w *markup.Writer) {
	if r.Open {
		w.Put("<ul class=\"menu\">\n")
	}
	w.Put("<li")
	if r.Error {
		w.Put(` class="error"`)
	}
	w.Put(`><span class="kind">%s</span> `, r.Kind)
	switch {
	case r.Search != nil:
		r.Search.html(w)
	case r.External():
		w.Put(`<a href="%u" rel="noreferrer">%s</a>`, r.Link.String(), r.Text)
	default:
		putLink(w, r.Link, r.Text)
	}
	if r.Why != "" {
		w.Put(` <span class="why">(%s)</span>`, r.Why)
	}
	if r.Size != "" {
		w.Put(` <span class="size">%s</span>`, r.Size)
	}
	if r.Time != nil {
		w.Put(` <time datetime="%s">%s</time>`, r.Time.Format("2006-01-02T15:04:05Z"), r.Time.Format(time.DateOnly))
	}
	if r.About.Path != "" {
		w.Put(` <a class="about" href="%u" rel="nofollow">about<span class="hidden"> %s</span></a>`, r.About.Path, r.Text)
	}
	w.Put("</li>\n")
}

// html writes the form.
func (p *searchPage) html(w *markup.Writer) {
	if p.Text != "" {
		w.Put("<p>%s</p>\n", p.Text)
	}
	p.Form.html(w)
	w.Put("\n")
}

// html writes the form for a query, and the entries that were found.
func (p *phonePage) html(w *markup.Writer) {
	if p.Text != "" {
		w.Put("<p class=\"note\">%s</p>\n", p.Text)
	}
	if len(p.Fields) > 0 {
		p.form(w)
	} else {
		p.Form.html(w)
		w.Put("\n")
	}
	for e := range p.Entries() {
		e.html(w)
		if w.Failed() {
			return
		}
	}
	if p.None() {
		w.Put("<p class=\"note\">The answer has no entry.</p>\n")
	}
	if cut := p.Cut(); cut != "" {
		w.Put("<p class=\"error\" role=\"alert\">The answer ends here, because of an error: %s</p>\n", cut)
	}
	if !p.All.Empty() {
		w.Put("<p><a href=\"%u\">All fields of this phone book</a></p>\n", p.All.String())
	}
}

// form writes a form with an input for each field.
func (p *phonePage) form(w *markup.Writer) {
	w.Put(`<form action="%u" method="get" role="search" aria-label="Phone book">
`, p.Form.Action.String())
	putHidden(w, p.Form.Hidden)
	w.Put("<input type=\"hidden\" name=\"fields\" value=\"1\">\n")
	for i, f := range p.Fields {
		n := strconv.Itoa(i)
		w.Put(`<p><label for="f%s">%s</label>`, n, visible(f.Name))
		if f.Indexed {
			w.Put(` <span class="kind">(indexed)</span>`)
		}
		w.Put("<br>\n<input type=\"text\" id=\"f%s\" name=\"field.%s\"", n, f.Name)
		if f.About != "" {
			w.Put(" aria-describedby=\"d%s\"><br>\n<span id=\"d%s\" class=\"kind\">%s</span></p>\n", n, n, visible(f.About))
		} else {
			w.Put("></p>\n")
		}
	}
	w.Put(`<p><input type="checkbox" id="all" name="all"> <label for="all">Show all fields of the entries</label></p>
<p><button type="submit">Search</button></p>
</form>
<p class="kind">Fill in at least one field that is indexed. A “*” stands for any letters.</p>
`)
}

// html writes the entry.
func (e *phoneEntry) html(w *markup.Writer) {
	name := e.Name
	if name == "" {
		name = "(no name)"
	}
	w.Put("<section>\n<h2>%s</h2>\n<dl class=\"fields\">", name)
	for _, f := range e.Fields {
		w.Put("\n<dt>%s</dt>\n<dd>", f.Name)
		for i, line := range f.Lines {
			if i > 0 {
				w.Put("<br>\n")
			}
			w.Put("%s", line)
		}
		w.Put("</dd>")
	}
	w.Put("\n</dl>\n</section>\n")
}

// html writes what the server says about an item.
func (p *itemPage) html(w *markup.Writer) {
	if !p.Item.Empty() {
		w.Put("<p><a href=\"%u\">Open the item</a></p>\n", p.Item.String())
	}
	if !p.Form.Empty() {
		w.Put("<p><a href=\"%u\">Fill in the form of the item</a></p>\n", p.Form.String())
	}
	if p.Abstract != "" {
		w.Put("<h2>Abstract</h2>\n<pre class=\"text\">\n%s</pre>\n", p.Abstract)
	}
	if len(p.Views) > 0 {
		w.Put(`<h2>Views</h2>
<table>
<caption>The forms in which the server has the item, the preferred one first</caption>
<thead><tr><th scope="col">Type</th><th scope="col">Language</th><th scope="col" class="number">Size</th></tr></thead>
<tbody>`)
		for _, v := range p.Views {
			v.html(w)
		}
		w.Put("\n</tbody>\n</table>\n")
	}
	if len(p.Facts) > 0 {
		w.Put("<h2>Information</h2>\n<dl class=\"fields\">")
		for _, f := range p.Facts {
			f.html(w)
		}
		w.Put("\n</dl>\n")
	}
	for _, b := range p.Blocks {
		w.Put("<h2>%s</h2>\n<pre class=\"text\">\n%s</pre>\n", b.Name, b.Text)
	}
}

// html writes the view as a row of a table.
func (v *itemView) html(w *markup.Writer) {
	w.Put("\n<tr><td><a href=\"%u\">%s", v.Link.String(), v.Type)
	if v.Language != "" {
		w.Put(`<span class="hidden"> %s</span>`, v.Language)
	}
	w.Put(`</a></td><td>%s</td><td class="number">%s</td></tr>`, v.Language, v.Size)
}

// html writes the fact.
func (f *itemFact) html(w *markup.Writer) {
	w.Put("\n<dt>%s</dt>\n<dd>", f.Name)
	if f.Time != "" {
		w.Put(`<time datetime="%s">%s</time>`, f.Time, f.Value)
	} else {
		putLink(w, f.Link, f.Value)
	}
	w.Put("</dd>")
}
