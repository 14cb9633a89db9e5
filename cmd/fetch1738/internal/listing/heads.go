package listing

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
)

// Head returns the attributes of a document as lines of an HTTP header, as curl prints them for
// ftp.
func Head(a *fetch.Attributes) string { return modified(a.ModTime) + length(a) + Fields(a) }

// FileHead is like Head, in the order that curl uses for file.
func FileHead(a *fetch.Attributes) string {
	if a.Size < 0 {
		return modified(a.ModTime)
	}
	return length(a) + "Accept-ranges: bytes\r\n" + modified(a.ModTime)
}

// Fields returns the other attributes as header lines: the header of an article, or the attributes
// of a Gopher+ item, each prefixed by the name of its block.
func Fields(a *fetch.Attributes) string {
	var b strings.Builder
	for _, f := range a.Header {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	return b.String()
}

// Views returns the views of a Gopher+ item, one per line: the name that --view takes, and the
// size.
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
			fmt.Fprintf(&list, "\t%d bytes", v.Size)
		case v.Size > 0:
			fmt.Fprintf(&list, "\tabout %d bytes", v.Size)
		}
		list.WriteString("\n")
	}
	return list.String()
}

// modified returns the field Last-Modified, or "" if the time is unknown.
func modified(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "Last-Modified: " + t.UTC().Format(http.TimeFormat) + "\r\n"
}

// length returns the field Content-Length, or "" if the size is unknown.
func length(a *fetch.Attributes) string {
	if a.Size < 0 {
		return ""
	}
	return fmt.Sprintf("Content-Length: %d\r\n", a.Size)
}
