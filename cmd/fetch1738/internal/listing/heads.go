package listing

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
)

// Head is what is known of a document, in lines like those of HTTP, as curl has
// them for ftp.
func Head(a *fetch.Attributes) string { return modified(a.ModTime) + length(a) + Fields(a) }

// FileHead is Head in the order that curl has for file.
func FileHead(a *fetch.Attributes) string {
	if a.Size < 0 {
		return modified(a.ModTime)
	}
	return length(a) + "Accept-ranges: bytes\r\n" + modified(a.ModTime)
}

// Fields are what else is known: of an article its header, of a Gopher+ item its
// attributes, each behind the name of its block.
func Fields(a *fetch.Attributes) string {
	var b strings.Builder
	for _, f := range a.Header {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	return b.String()
}

// Views has the views of a Gopher+ item, one a line: as --view takes it, and
// its size.
func Views(a *fetch.Attributes) string {
	var list strings.Builder
	attributes := gopher.AttributesOf(a.Header)
	if attributes == nil {
		return ""
	}
	for _, v := range attributes.Views {
		list.WriteString(v.Type)
		if v.Language != "" {
			list.WriteString("," + v.Language)
		}
		switch {
		case v.Exact:
			fmt.Fprintf(&list, "\t%d octets", v.Size)
		case v.Size > 0:
			fmt.Fprintf(&list, "\tabout %d octets", v.Size)
		}
		list.WriteString("\n")
	}
	return list.String()
}

func modified(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "Last-Modified: " + t.UTC().Format(http.TimeFormat) + "\r\n"
}

func length(a *fetch.Attributes) string {
	if a.Size < 0 {
		return ""
	}
	return fmt.Sprintf("Content-Length: %d\r\n", a.Size)
}
