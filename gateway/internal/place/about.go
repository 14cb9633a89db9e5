package place

import (
	"path"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/transport"
)

// WithPlus is the URL of an item with a Gopher+ string.
func WithPlus(l *locator.Gopher, plus string) *locator.Gopher {
	with := *l
	with.Plus, with.Fields, with.HasPath = plus, 2, true
	if with.Type == 0 {
		with.Type = '1'
	}
	return &with
}

// MediaType is the media type of a document as far as its URL says, or empty.
func MediaType(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.FTP:
		if l.Type|0x20 == 'a' {
			return "text/plain"
		}
		return transport.MediaType(l.Name)
	case *locator.Gopher:
		bySuffix := filename.MediaType(l.Selector)
		switch l.Type {
		case 'g':
			return "image/gif"
		case 'I', 'p', ':', 's', '<', ';', '9', '5':
			if bySuffix != "" && (MediaKind(l, "") == "" || MediaKind(l, "") == KindOfType(bySuffix)) {
				return bySuffix
			}
			if l.Type == '9' || l.Type == '5' {
				return "application/octet-stream"
			}
		case 'P', 'd':
			return "application/pdf"
		}
	}
	return ""
}

// MediaKind is the element for a document of a media type: "image", "audio", "video" or none. The
// item types of gopher say it without a media type.
func MediaKind(l locator.Locator, mediaType string) string {
	if mediaType == "" {
		if g, ok := l.(*locator.Gopher); ok {
			switch g.Type {
			case 'g', 'I', 'p', ':':
				return "image"
			case 's', '<':
				return "audio"
			case ';':
				return "video"
			}
		}
	}
	return KindOfType(mediaType)
}

// LastPart is the last component of the path of a URL, or all of it.
func LastPart(l locator.Locator) string {
	path := strings.TrimRight(Heading(l), "/")
	if last := path[strings.LastIndexByte(path, '/')+1:]; last != "" {
		return last
	}
	return path
}

// IsDocument reports whether a URL names a document, as far as it says.
func IsDocument(l locator.Locator) bool {
	switch l := l.(type) {
	case *locator.FTP:
		return l.Name != "" && l.Type != 'd'
	case *locator.Gopher:
		return !strings.ContainsRune("127", rune(l.Type)) && l.Type != 0 && (l.Plus == "" || l.Plus[0] == '+')
	case *locator.WAIS:
		return l.Form == locator.WAISDocument
	}
	return entry.IsArticle(l)
}

// FileName is a name for a document in a file, or empty.
func FileName(l locator.Locator) string {
	name := ""
	switch l := l.(type) {
	case *locator.FTP:
		name = l.Name
	case *locator.Gopher:
		name = l.Selector
	case *locator.News:
		name = l.MessageID
	case *locator.NNTP:
		name = l.Group + "." + l.Article
	case *locator.WAIS:
		name = l.Database
	case *locator.Prospero:
		name = l.HSOName
	}
	name, err := filename.Safe(name)
	if err != nil {
		return ""
	}
	return name
}

// KindOfType is the element for a media type, or empty. SVG is text, because it can contain a
// program; for other types missing here, browsers have no decoder.
func KindOfType(mediaType string) string {
	switch mediaType {
	case "image/svg+xml", "image/tiff", "audio/basic", "video/x-msvideo", "video/mpeg":
		return ""
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	return ""
}

// Realm is the server of a URL, as the user reads it, or "" if the scheme has no login.
func Realm(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.FTP, *locator.NNTP:
		return l.Scheme() + "://" + Server(l)
	case *locator.News:
		if l.Host != "" {
			return l.Scheme() + "://" + Server(l)
		}
		return l.Scheme()
	}
	return ""
}

// Filled reports whether a URL is that of a form of Gopher+ with its values (RFC 1738 §3.4.9).
func Filled(l locator.Locator) bool {
	g, ok := l.(*locator.Gopher)
	return ok && strings.ContainsAny(g.Plus, "\t\r\n")
}

// Heading is the decoded path of a URL, or its server if it has no path.
func Heading(l locator.Locator) string {
	if entry.IsGroups(l) {
		return "Newsgroups"
	}
	switch l := l.(type) {
	case *locator.FTP:
		return visible.Name(Server(l) + "/" + strings.Join(append(l.CWD[:len(l.CWD):len(l.CWD)], l.Name), "/"))
	case *locator.Gopher:
		return visible.Name(strings.TrimSpace(Server(l) + " " + l.Selector))
	case *locator.News:
		if l.MessageID != "" {
			return visible.Name("<" + l.MessageID + ">")
		}
		return visible.Name(l.Group)
	case *locator.NNTP:
		return visible.Name(l.Group + " " + l.Article)
	case *locator.WAIS:
		if l.Database == "" {
			return "Databases of " + visible.Name(Server(l))
		}
		return visible.Name(l.Database)
	case *locator.Prospero:
		return visible.Name(l.HSOName)
	}
	return visible.Name(WithoutLogin(l).Redacted())
}

// Server is the host of a URL, with its port if that is not the usual one.
func Server(l locator.Locator) string {
	s, ok := locator.ServerOf(l)
	if !ok {
		return ""
	}
	host := s.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if s.Port != locator.DefaultPort(l.Scheme()) {
		host += ":" + strconv.Itoa(int(s.Port))
	}
	return host
}

// TopOf is the name of a directory.
func TopOf(l locator.Locator) string {
	name := Server(l)
	switch l := l.(type) {
	case *locator.FTP:
		if n := len(l.CWD); n > 0 && l.CWD[n-1] != "" {
			name = l.CWD[n-1]
		}
	case *locator.Gopher:
		if last := path.Base(l.Selector); last != "." && last != "/" {
			name = last
		}
	case *locator.Prospero:
		name = path.Base("/" + l.HSOName)
	}
	return name
}

// Searched is a search of l for words, if it can be searched, and l without words.
func Searched(l locator.Locator, words string) locator.Locator {
	if words == "" {
		return l
	}
	switch l := l.(type) {
	case *locator.Gopher:
		with := *l
		with.Search, with.Fields, with.HasPath = words, max(1, l.Fields), true
		return &with
	case *locator.WAIS:
		with := *l
		with.Form, with.Search = locator.WAISSearch, words
		return &with
	}
	return l
}

// OneLine replaces the octets that would end a line or a field of a request by spaces.
func OneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}
