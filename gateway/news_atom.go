package gateway

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/article"
)

// An atomFeed is what pages/group.atom shows: a feed by RFC 4287.
type atomFeed struct {
	ID, Title  string
	Updated    string // by RFC 3339
	Self, Page string // URLs of the feed and of the page of the group
	Entries    []atomEntry
}

type atomEntry struct {
	ID, Title, Author string
	Updated           string
	Page              string // URL of the article's page
}

// atomTemplate writes an atomFeed. It uses of encoding/xml the escaping alone: the part that writes
// XML by reflection is large.
var atomTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("group.atom").Funcs(template.FuncMap{"xml": escapeXML}).ParseFS(files, "pages/group.atom"))
})

// escapeXML returns text for an element or an attribute. U+FFFD replaces characters that XML forbids.
func escapeXML(text string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(text))
	return b.String(), err
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
		ID: v.loc.String(), Title: groupName(v.loc), Self: base + here.With("atom").Path, Page: base + here.Path,
	}
	seen := make(map[string]bool)
	var updated, last time.Time // of the feed; of the article before
	for _, p := range posts {
		e := atomEntry{
			ID: "mid:" + url.PathEscape(strings.Trim(p.ID, "<>")), Title: p.Subject, Author: p.From,
			Page: base + p.Link.Path,
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
		_ = atomTemplate().Execute(v.w, feed) // an error is that of the connection
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
