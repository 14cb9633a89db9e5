package gateway

import (
	"cmp"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// An archivePage is the first page for an archive.
type archivePage struct {
	About, Words, End string
	Action            place.Link
	Searched          bool
	Sites, Hits       []archiveRow
}

// An archiveRow is a site, or a document that a search has found.
type archiveRow struct {
	Text, URL string
	Link      place.Link // empty if it has no page here
	Time      time.Time
}

func (p *archivePage) html(w *markup.Writer) {
	if p.About != "" {
		w.Put("<p>%s</p>\n", p.About)
	}
	w.Put(`<form action="%u" method="get" role="search">
<label for="q">Words in URLs and titles</label> <input type="search" id="q" name="q" value="%s"> <button type="submit">Search</button>
</form>
`, p.Action.String(), p.Words)
	if p.Searched {
		p.hits(w)
	}
	w.Put("<h2>Sites</h2>\n<ul class=\"cards\">")
	for _, r := range p.Sites {
		w.Put("\n<li>")
		r.link(w)
		if r.Link.Empty() {
			w.Put(" <span>has no pages here</span>")
		}
		w.Put("</li>")
	}
	w.Put("\n</ul>\n<p>Nothing is fetched from the servers of today.</p>")
}

// hits is what a search has found.
func (p *archivePage) hits(w *markup.Writer) {
	w.Put("<h2>Documents with %s</h2>\n", p.Words)
	if len(p.Hits) == 0 {
		w.Put("<p class=\"note\">Nothing was found.</p>\n")
	} else {
		w.Put(`<ol class="hits">`)
		for _, r := range p.Hits {
			w.Put("\n<li>")
			r.link(w)
			w.Put("<br>\n<span class=\"kind\">")
			if r.Text != "" {
				w.Put("%s, ", r.URL)
			}
			day := r.Time.Format(time.DateOnly)
			w.Put(`<time datetime="%s">%s</time></span></li>`, day, day)
		}
		w.Put("\n</ol>\n")
	}
	if p.End != "" {
		w.Put("<p class=\"note\">%s</p>\n", p.End)
	}
}

// link is the text of a row, or else its URL, with a link if there is a page.
func (r *archiveRow) link(w *markup.Writer) {
	text := cmp.Or(r.Text, r.URL)
	if r.Link.Empty() {
		w.Put("%s", text)
		return
	}
	w.Put(`<a href="%u">%s</a>`, r.Link.String(), text)
}
