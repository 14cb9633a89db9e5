package gateway

import (
	"bufio"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/article"
)

// An atomFeed is a feed by RFC 4287.
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

// write writes the feed. It uses of encoding/xml the escaping alone: the part that writes XML by
// reflection is large.
func (f *atomFeed) write(w io.Writer) {
	put := func(format string, values ...string) {
		for _, value := range values {
			before, after, _ := strings.Cut(format, "%s")
			_, _ = io.WriteString(w, before)
			_ = xml.EscapeText(w, []byte(value)) // U+FFFD replaces characters that XML forbids
			format = after
		}
		_, _ = io.WriteString(w, format)
	}
	put(`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
 <id>%s</id>
 <title>%s</title>
 <updated>%s</updated>
 <link rel="self" type="application/atom+xml" href="%s"></link>
 <link rel="alternate" type="text/html" href="%s"></link>`, f.ID, f.Title, f.Updated, f.Self, f.Page)
	for _, e := range f.Entries {
		put(`
 <entry>
  <id>%s</id>
  <title>%s</title>
  <updated>%s</updated>
  <author>
   <name>%s</name>
  </author>
  <link rel="alternate" type="text/html" href="%s"></link>
 </entry>`, e.ID, e.Title, e.Updated, e.Author, e.Page)
	}
	put("\n</feed>\n")
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
		out := bufio.NewWriter(v.w)
		feed.write(out)
		_ = out.Flush() // an error is that of the connection
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
