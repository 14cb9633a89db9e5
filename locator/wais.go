package locator

import "strings"

// WAISForm is one of the three forms of a wais URL (§3.9).
type WAISForm uint8

// The forms of a wais URL.
const (
	WAISDatabase WAISForm = iota // wais://host/database
	WAISSearch                   // wais://host/database?search
	WAISDocument                 // wais://host/database/wtype/wpath
)

// WAIS is a wais URL (§3.9). The form WAISSearch uses Search: the words, in which an unencoded "+" of
// the URL is a space, as in browsers. The form WAISDocument uses WType and
// WPath; WPath is the decoded, opaque document-id. A document-id as WAIS browsers write it, which needs
// [ReservedOctets], is kept as written, because it has its own encoding.
type WAIS struct {
	HostPort
	Form                           WAISForm
	Database, Search, WType, WPath string
}

// Scheme implements [Locator].
func (*WAIS) Scheme() string { return "wais" }

// String implements [Locator].
func (l *WAIS) String() string {
	b := append(make([]byte, 0, usualLength), "wais://"...)
	b = l.HostPort.append(b)
	b = append(b, '/')
	b = appendDecoded(b, l.Database, uchar)
	switch l.Form {
	case WAISSearch:
		b = append(b, '?')
		for i, word := range strings.Split(l.Search, " ") {
			if i > 0 {
				b = append(b, '+')
			}
			b = append(b, strings.ReplaceAll(string(appendDecoded(nil, word, search)), "+", "%2B")...)
		}
	case WAISDocument:
		b = append(b, '/')
		b = appendDecoded(b, l.WType, uchar)
		b = append(b, '/')
		b = appendDecoded(b, l.WPath, uchar)
	}
	return string(b)
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *WAIS) Redacted() string { return l.String() }

func (l *WAIS) equal(b Locator) bool { return equalAs(l, b, identical) }

func (l *WAIS) check(c *octetCheck) { c.component("database", l.Database, lineEnds) }

// wais reads "'//' hostport '/' database", and "'?' search" or "'/' wtype '/'
// wpath" after it.
func (p *parser) wais() Locator {
	l := new(WAIS)
	p.slashes()
	p.hostportOnly(&l.HostPort, "3.9")
	p.expect('/', "3.9", `"/" and the name of a database must follow`)
	l.Database = p.text(uchar, reserved&^(slash|question))
	switch {
	case p.next('?'):
		l.Form = WAISSearch
		if from := p.i; p.text(search, slash|question) != "" {
			l.Search = decodeWords(p.s[from:p.i])
		}
	case p.next('/'):
		l.Form = WAISDocument
		l.WType = p.text(uchar, reserved&^slash)
		p.expect('/', "3.9", `"/" and a document-id must follow the type`)
		l.WPath = p.wpath()
	}
	p.end("3.9")
	return l
}

// wpath reads a document-id. One with unencoded reserved characters is as WAIS browsers write it,
// "length/tag=value;tag=value;". It has its own encoding and is not decoded.
func (p *parser) wpath() string {
	start, used := p.i, p.used
	p.used = 0
	id := p.text(uchar, reserved)
	if p.used&ReservedOctets != 0 {
		id = p.s[start:p.i]
	}
	p.used |= used
	return id
}
