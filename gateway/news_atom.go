package gateway

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/article"
)

// An atomFeed is a feed by RFC 4287. encoding/xml writes it, with U+FFFD for characters that XML
// forbids.
type atomFeed struct {
	XMLName struct{}    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"` // by RFC 3339
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Page    atomLink `xml:"link"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

// atomPage is a link to the page of a group or an article.
func atomPage(url string) atomLink { return atomLink{"alternate", "text/html", url} }

// write writes the feed. An error is that of the connection.
func (f *atomFeed) write(w io.Writer) {
	_, _ = io.WriteString(w, xml.Header)
	out := xml.NewEncoder(w)
	out.Indent("", " ")
	_ = out.Encode(f)
	_, _ = io.WriteString(w, "\n")
}

// atom sends the newest articles of a group as a feed, the newest first. Its links have the name
// that the client used for the gateway.
func (v newsPages) atom(posts []*article.Post) error {
	v.page = "atom"
	if v.err != nil {
		return v.err
	}
	base, here := v.origin(), v.linkTo(v.loc)
	feed := atomFeed{
		ID: v.loc.String(), Title: groupName(v.loc),
		Links: []atomLink{{"self", "application/atom+xml", base + here.With("atom").Path}, atomPage(base + here.Path)},
	}
	seen := make(map[string]bool)
	var updated, last time.Time // of the feed; of the article before
	for _, p := range posts {
		e := atomEntry{
			ID: "mid:" + url.PathEscape(strings.Trim(p.ID, "<>")), Title: p.Subject, Author: p.From,
			Page: atomPage(base + p.Link.Path),
		}
		if p.ID == "" {
			e.ID = strings.TrimSuffix(feed.ID, "/") + "/" + p.Number
		}
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		date := p.Date
		if date.IsZero() { // every entry needs a date: that of its neighbour is near
			date = last
		}
		if last = date; date.After(updated) {
			updated = date
		}
		e.Updated = atomTime(date)
		feed.Entries = append([]atomEntry{e}, feed.Entries...)
	}
	feed.Updated = atomTime(updated)
	v.secureOctets("application/atom+xml")
	v.w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method != http.MethodHead {
		feed.write(v.w)
	}
	return nil
}

// atomTime is a time by RFC 3339. Unknown ones are 1970.
func atomTime(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.RFC3339)
}
