package output

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/locator"
)

// NoName is the file name of -O for a URL whose path has no name, as in curl.
const NoName = "curl_response"

// RemoteName returns the file name of -O: the last segment of the path or, if that ends in a slash, the
// one before it. Without a name it is NoName.
func RemoteName(l locator.Locator, typed string) string {
	if name := LastSegment(l, typed); name != "" {
		return name
	}
	p := strings.TrimSuffix(pathOf(l, typed), "/")
	return cmp.Or(p[strings.LastIndexByte(p, '/')+1:], NoName)
}

// LastSegment returns the last segment of the path of l as typed, still encoded. It is empty if the path
// ends in a slash. For a gopher URL it is that of the selector.
func LastSegment(l locator.Locator, typed string) string {
	if news, isNews := l.(*locator.News); isNews && news.Host == "" {
		_, name, _ := strings.Cut(typed, ":")
		return name
	}
	p := pathOf(l, typed)
	return p[strings.LastIndexByte(p, '/')+1:]
}

// pathOf returns the path of l as typed, or the selector of a gopher URL.
func pathOf(l locator.Locator, typed string) string {
	_, rest, found := strings.Cut(typed, "://")
	if !found {
		_, rest, _ = strings.Cut(l.String(), "://")
	}
	rest, _, _ = strings.Cut(rest, "#")
	_, p, _ := strings.Cut(rest, "/")
	switch l := l.(type) {
	case *locator.HTTP:
		p, _, _ = strings.Cut(p, "?")
	case *locator.FTP:
		if typecode := max(0, len(p)-len(";type=i")); strings.EqualFold(p[typecode:max(typecode, len(p)-1)], ";type=") {
			p = p[:typecode]
		}
	case *locator.Gopher:
		p, _, _ = strings.Cut(p, "%09")
		p = p[min(1, len(p)):] // the type
	case *locator.WAIS:
		if l.Form == locator.WAISDocument {
			p = localID(l.WPath)
		}
	}
	return p
}

// DecodedName is LastSegment, decoded.
func DecodedName(l locator.Locator, typed string) string {
	return plan.Decoded(LastSegment(l, typed))
}

// localID returns the name of a document on its WAIS server. In a document-id in the form
// of WAIS browsers, LENGTH/tag=value;tag=value;, it is one of the values, usually a path
// after some numbers. Any other document-id is returned as a whole.
func localID(wpath string) string {
	for part := range strings.SplitSeq(wpath, ";") {
		tag, value, found := strings.Cut(part, "=")
		if tag = tag[strings.LastIndexByte(tag, '/')+1:]; found && tag == originalLocalID {
			return value
		}
	}
	return wpath
}

// originalLocalID is the tag of the document's id on the server that created it.
const originalLocalID = "3"

// SafeName returns a safe file name for text that may come from a server.
func SafeName(text string) (string, error) {
	name, err := filename.Safe(text)
	if err != nil {
		return "", fmt.Errorf("%w; set one with -o", err)
	}
	return name, nil
}

// HeaderName returns the file name that an HTTP response has, or "" if it has none, or only that of
// a directory.
func HeaderName(header http.Header) string {
	name := mime822.FileName(header.Get("Content-Disposition"))
	if _, err := filename.Safe(name); errors.Is(err, filename.ErrNone) {
		return ""
	}
	return name
}

// NameByServer sets the file name to one that a server gave in a response or a listing. A file with
// such a name is never overwritten. If the name is "", the file keeps the one from the URL.
func (s *Sink) NameByServer(dir, given string) error {
	if given == "" {
		return s.nameless
	}
	name, err := SafeName(given)
	if err != nil {
		return err
	}
	s.Path, s.Served, s.nameless = inFolder(dir, name), name, nil
	return nil
}

// inFolder returns the path of a file in a directory; "" means the current one.
func inFolder(dir, name string) string {
	if dir == "" {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// Pattern returns the wildcard that a URL ends in, or nil.
func Pattern(l locator.Locator, typed string) *wildcard.Pattern {
	if path, isFTP := l.(*locator.FTP); isFTP {
		if path.Type == 'd' || path.Name == "" {
			return nil
		}
		return wildcard.Parse(LastSegment(path, typed))
	}
	if _, isFile := l.(*locator.File); isFile {
		return wildcard.Parse(LastSegment(l, typed))
	}
	return nil
}
