package output

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/internal/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// LastSegment is the last part of the path of l as it was typed, still encoded:
// the name that -O gives a file. Of a gopher URL it is that of the selector.
func LastSegment(l locator.Locator, typed string) string {
	if news, isNews := l.(*locator.News); isNews && news.Host == "" {
		_, name, _ := strings.Cut(typed, ":")
		return name
	}
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
	return p[strings.LastIndexByte(p, '/')+1:]
}

// localID is what a wais server calls a document. Of a document-id in the form of
// WAIS browsers, LENGTH/tag=value;tag=value; it is one of the parts, as a rule a
// path with numbers before it; others are the whole.
func localID(wpath string) string {
	for part := range strings.SplitSeq(wpath, ";") {
		tag, value, found := strings.Cut(part, "=")
		if tag = tag[strings.LastIndexByte(tag, '/')+1:]; found && tag == originalLocalID {
			return value
		}
	}
	return wpath
}

// The tag of the part that holds the document's id at the server that made it.
const originalLocalID = "3"

// SafeName makes a file name out of text that may be somebody else's.
func SafeName(text string) (string, error) {
	name, err := filename.Safe(text)
	if err != nil {
		return "", fmt.Errorf("%w; set one with -o", err)
	}
	return name, nil
}

// NameByServer gives the file the name that an HTTP answer has for it, if it has
// one. Such a name never replaces a file.
func (s *Sink) NameByServer(dir string, header http.Header) error {
	given := filename.OfDisposition(header.Get("Content-Disposition"))
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

// inFolder is a file's path in a folder; "" is the current one.
func inFolder(dir, name string) string {
	if dir == "" {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// Pattern is the wildcard that a URL ends in, or nil.
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
