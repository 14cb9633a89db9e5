// Package entry has what the command line and the gateway share about the entries of directories,
// menus and newsgroups.
package entry

import (
	"encoding/json"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/internal/mime822"
)

// Field returns the value of a header field of an item, or nil if it has no such field.
func Field(it *fetch.Item, name string) *string {
	for i := range it.Header {
		if it.Header[i].Name == name {
			return &it.Header[i].Value
		}
	}
	return nil
}

// line is an item for programs. Unknown values are omitted.
type line struct {
	Name  string `json:"name"`
	URL   string `json:"url,omitempty"`
	Kind  string `json:"kind"`
	Size  *int64 `json:"size,omitempty"`
	MTime string `json:"mtime,omitempty"`
	Type  string `json:"type,omitempty"`

	Target string `json:"target,omitempty"` // of a symbolic link

	Author      string `json:"author,omitempty"` // of an article, with the address
	Subject     string `json:"subject,omitempty"`
	Description string `json:"description,omitempty"` // of a newsgroup
}

// WriteJSON writes an item as one line of JSON Lines. names is the charset of names. A symbolic link is
// of the kind "link", because not every listing says what it leads to.
func WriteJSON(w io.Writer, it *fetch.Item, names charset.Charset) error {
	l := line{Name: names.Decode(it.Name), Kind: "text", Type: it.MediaType}
	if it.Locator != nil {
		l.URL, l.Kind = it.Locator.Redacted(), it.Kind.String()
	}
	switch target := Field(it, fetch.HeaderLink); {
	case target != nil:
		l.Kind, l.Target = "link", names.Decode(*target)
	case Field(it, fetch.HeaderSpecial) != nil:
		l.Kind = "special"
	case it.Locator == nil && Field(it, gopher.HeaderError) != nil:
		l.Kind = "error"
	}
	text := func(name string) string {
		if f := Field(it, name); f != nil {
			return mime822.Text(names.Decode(*f))
		}
		return ""
	}
	if it.MediaType == "message/rfc822" {
		l.Author, l.Subject = text("From"), text("Subject")
	}
	l.Description = text("Description")
	if it.Size >= 0 {
		l.Size = &it.Size
	}
	if !it.ModTime.IsZero() {
		l.MTime = it.ModTime.UTC().Format(time.RFC3339)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(l)
}
