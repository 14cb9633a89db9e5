// Package atom writes feeds (RFC 4287).
package atom

import (
	"encoding/xml"
	"io"
	"time"
)

// MediaType is that of a feed.
const MediaType = "application/atom+xml"

// A Feed is a list of entries, the newest first. encoding/xml writes it, with U+FFFD for characters that
// XML forbids.
type Feed struct {
	XMLName struct{} `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"` // see Time
	Author  *Person  `xml:"author"`
	Links   []Link   `xml:"link"`
	Entries []Entry  `xml:"entry"`
}

// An Entry is an entry of a feed. Either it or the feed has an author.
type Entry struct {
	ID      string  `xml:"id"`
	Title   string  `xml:"title"`
	Updated string  `xml:"updated"`
	Author  *Person `xml:"author"`
	Page    Link    `xml:"link"`
}

// A Person is an author.
type Person struct {
	Name string `xml:"name"`
}

// A Link leads from a feed or an entry to something else.
type Link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

// Self is the link to the feed itself.
func Self(url string) Link { return Link{"self", MediaType, url} }

// Page is a link to the page of a feed or an entry.
func Page(url string) Link { return Link{"alternate", "text/html", url} }

// Time is a time by RFC 3339. Every feed and entry needs one: the zero Time is 1970.
func Time(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.RFC3339)
}

// Write writes the feed. An error is that of w.
func (f *Feed) Write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", " ")
	if err := out.Encode(f); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
