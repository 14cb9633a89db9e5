package gateway

import (
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// A hitsPage is the data of the page of a WAIS database, or of what a search of it has found.
type hitsPage struct {
	Of          string     // what can be searched: a database, or those of a server
	Server      string     // whose databases can be searched; empty for one database
	Form        place.Link // where the search is sent; empty for a client that cannot send one
	Words       string     // of the search; empty if there was no search
	Searched    bool
	Hits        int
	List        iter.Seq[*hit] // nil if nothing was found
	Source      []field        // the description of the database
	Description []textview.Piece
	Maintainer  crumb
	Catalogue   crumb
	SeedWords   string
	Diagnostics []string

	out *response
}

// Cut says, after List, why there are no more documents; empty if all were shown.
func (p *hitsPage) Cut() string { return p.out.cut() }

// A hit is a document that a search has found, safe to show.
type hit struct {
	Text    string
	Link    place.Link // to the first format; empty if the gateway cannot show the document
	Facts   []string
	Time    time.Time // zero if not known
	Formats []crumb   // more than one, or none
	Fault   string    // why there is no link
}

// hits shows what a WAIS search has found, or the database and a form to search it.
func (v documentPages) hits(res *fetch.Resource) error {
	p := &hitsPage{out: v.out, Words: v.req.query.Get("q"), Searched: res.Kind == fetch.KindMenu}
	if l, ok := v.req.loc.(*locator.WAIS); ok {
		if p.Of = visible.Name(l.Database); p.Of == "" {
			p.Server = visible.Name(place.Server(l))
			p.Of = "the databases of " + p.Server
		}
		if l.Form == locator.WAISDocument {
			p.Searched = false // the formats of one document
		}
		if l.Form == locator.WAISSearch && p.Words == "" {
			p.Words = l.Search
		}
		if !v.req.native && l.Form != locator.WAISDocument {
			database := *l
			database.Form, database.Search = locator.WAISDatabase, ""
			if p.Form = v.req.linkTo(&database); strings.Contains(p.Form.Path, "?") {
				p.Form = place.Link{} // a form would replace the query
			}
			if p.Searched {
				database.Form, database.Search = locator.WAISSearch, p.Words
				v.req = v.req.of(&database) // for the links of the page
			}
		}
	}
	p.Words = visible.Name(p.Words)
	p.Hits = -1
	if info, ok := res.Info.(*wais.Info); ok && info != nil {
		p.describe(v.req, info)
	}
	if res.Items != nil && p.Hits != 0 {
		p.List = v.found(res.Items)
	}
	heading := ""
	if p.Searched && p.Words != "" {
		heading = "Results for " + p.Words + " in " + p.Of
	}
	return v.out.render(v.req, "hits", http.StatusOK, &page{Heading: heading, Main: p})
}

// describe adds what the server says besides the documents.
func (p *hitsPage) describe(q *request, info *wais.Info) {
	p.Hits = info.Hits
	p.SeedWords = visible.Name(info.SeedWords)
	for _, d := range info.Diagnostics {
		p.Diagnostics = append(p.Diagnostics, visible.Name(d.Error()))
	}
	if c := info.Catalogue; c != nil {
		p.Catalogue = crumb{Text: visible.Name(c.Name), Link: q.linkTo(c.Locator)}
	}
	s := info.Source
	if s == nil {
		return
	}
	p.Description = q.linked(strings.Trim(s.Description, "\r\n"))
	p.Maintainer = administrator(q, s.Maintainer)
	if strings.Contains(s.Maintainer, "@") && p.Maintainer.Link.Empty() {
		p.Maintainer = administrator(q, "<"+s.Maintainer+">")
		p.Maintainer.Text = visible.Name(s.Maintainer)
	}
	for _, f := range []field{{"Keywords", strings.Join(s.Keywords, ", ")}, {"Cost", cost(s)}} {
		if f.Text != "" {
			p.Source = append(p.Source, field{f.Name, visible.Name(f.Text)})
		}
	}
}

// cost is what a search costs, or empty if it is free.
func cost(s *wais.Source) string {
	if s.CostUnit == "" || strings.EqualFold(s.CostUnit, "free") {
		return ""
	}
	return s.Cost + " " + s.CostUnit
}

// found are the documents in the items of a search, which has one item for each format.
func (v documentPages) found(items iter.Seq2[fetch.Item, error]) iter.Seq[*hit] {
	return func(yield func(*hit) bool) {
		var last *hit
		var name, score string
		for r := range v.out.rows(v.req, items) {
			header := make(map[string]string)
			for _, f := range r.Header {
				header[f.Name] = visible.Name(f.Value)
			}
			format := crumb{Text: header[wais.HeaderType], Link: r.Link}
			if last != nil && name == r.Name && score == header[wais.HeaderScore] && !hasFormat(last, format.Text) {
				last.Formats = append(last.Formats, format)
				if last.Link.Empty() {
					last.Link, last.Fault = r.Link, ""
				}
				continue
			}
			if last != nil && !yield(last.done()) {
				return
			}
			name, score = r.Name, header[wais.HeaderScore]
			last = &hit{Text: r.Text, Link: r.Link, Time: r.ModTime, Formats: []crumb{format}, Fault: header[wais.HeaderFault]}
			if last.Text == "" {
				last.Text = "untitled"
			}
			if score != "" {
				last.Facts = append(last.Facts, "score "+score)
			}
			switch lines := header[wais.HeaderLines]; lines {
			case "":
			case "1":
				last.Facts = append(last.Facts, "1 line")
			default:
				last.Facts = append(last.Facts, lines+" lines")
			}
			if r.Size >= 0 {
				last.Facts = append(last.Facts, fmt.Sprintf("%d bytes", r.Size))
			}
			if city := header[wais.HeaderCity]; city != "" {
				last.Facts = append(last.Facts, city)
			}
		}
		if last != nil {
			yield(last.done())
		}
	}
}

func hasFormat(h *hit, name string) bool {
	for _, f := range h.Formats {
		if f.Text == name {
			return true
		}
	}
	return false
}

// done is h with its only format as a fact.
func (h *hit) done() *hit {
	if len(h.Formats) == 1 {
		h.Facts = append(h.Facts, h.Formats[0].Text)
		h.Formats = nil
	}
	return h
}
