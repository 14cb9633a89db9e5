package gateway

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// atomFeed is a feed by RFC 4287.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Link    atomLink `xml:"link"`
}

// atom sends the newest articles of a group as a feed, the newest first. Its links have the name
// that the client used for the gateway.
func (v newsPages) atom(res *fetch.Resource, posts []*post) {
	v.page = "atom"
	if v.err != nil {
		v.failToFetch(v.err)
		return
	}
	base := "http://" + v.r.Host
	if v.r.TLS != nil {
		base = "https://" + v.r.Host
	}
	here := v.linkTo(v.loc)
	feed := atomFeed{
		ID: v.loc.String(), Title: groupName(v.loc),
		Links: []atomLink{
			{"self", "application/atom+xml", base + here.with("atom").Path},
			{"alternate", "text/html", base + here.Path},
		},
	}
	seen := make(map[string]bool)
	var updated, last time.Time // of the feed; of the article before
	for _, p := range posts {
		e := atomEntry{
			ID: "mid:" + url.PathEscape(strings.Trim(p.ID, "<>")), Title: p.Subject, Author: p.From,
			Link: atomLink{"alternate", "text/html", base + p.Link.Path},
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
	text, err := xml.MarshalIndent(feed, "", " ")
	if err != nil {
		v.fail(failed(err))
		return
	}
	v.secureOctets("application/atom+xml")
	v.w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method != http.MethodHead {
		_, _ = io.WriteString(v.w, xml.Header+string(text)+"\n")
	}
}

// atomTime is a time by RFC 3339. Unknown ones are 1970.
func atomTime(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.RFC3339)
}
