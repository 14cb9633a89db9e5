// Package entry has what the command line and the gateway share about the entries of directories,
// menus and newsgroups.
package entry

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
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

	File     string  `json:"file,omitempty"` // that has the document
	Body     *string `json:"body,omitempty"`
	Encoding string  `json:"encoding,omitempty"` // of body: "base64", or omitted for text
}

// A Document is what --json says about a document.
type Document struct {
	fetch.Item
	File string        // that has the document, or ""
	Body *bytes.Buffer // the document, or nil
}

// WriteJSON writes an item as one line of JSON Lines. names is the charset of names. A symbolic link is
// of the kind "link", because not every listing says what it leads to.
func WriteJSON(w io.Writer, it *fetch.Item, names charset.Charset) error {
	return write(w, lineOf(it, names))
}

// WriteDocument writes the line about a document: that of an item, with the name of its file, or its
// body, if there is one. A body that is not UTF-8 is in base64.
func WriteDocument(w io.Writer, d *Document, names charset.Charset) error {
	l := lineOf(&d.Item, names)
	l.File = d.File
	if d.Body != nil {
		text := d.Body.String()
		if !utf8.ValidString(text) {
			text, l.Encoding = base64.StdEncoding.EncodeToString(d.Body.Bytes()), "base64"
		}
		l.Body = &text
	}
	return write(w, l)
}

func write(w io.Writer, l *line) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return err
	}
	_, err := w.Write(safe(b.Bytes()))
	return err
}

// safe returns JSON with escapes for the characters that a terminal obeys and that encoding/json leaves
// as they are: DEL, the C1 controls, and those that change the direction of text.
func safe(line []byte) []byte {
	obeyed := func(r rune) bool { return r >= 0x7F && r < 0xA0 || unicode.Is(unicode.Cf, r) && r < 0x10000 }
	if !bytes.ContainsFunc(line, obeyed) {
		return line
	}
	escaped := make([]byte, 0, len(line)+16)
	for _, r := range string(line) {
		if obeyed(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = utf8.AppendRune(escaped, r)
		}
	}
	return escaped
}

func lineOf(it *fetch.Item, names charset.Charset) *line {
	l := &line{Name: names.Decode(it.Name), Kind: "text", Type: it.MediaType}
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
			return mime822.Text(*f, names)
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
	return l
}
