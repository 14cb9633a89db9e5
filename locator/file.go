package locator

import (
	"slices"
	"strings"
)

// File is a file URL (§3.10).
type File struct {
	// Host is "" or "localhost" for a file on this computer; String keeps the difference. Any other
	// host designates a file on that host.
	Host string
	// Segments are the components of the path. The last is empty if the URL ends in a slash.
	Segments []string
}

// Scheme implements [Locator].
func (*File) Scheme() string { return "file" }

// String implements [Locator].
func (l *File) String() string {
	b := append(make([]byte, 0, usualLength), "file://"...)
	b = appendHost(b, l.Host)
	for _, s := range l.Segments {
		b = append(b, '/')
		b = appendDecoded(b, s, fsegment)
	}
	if len(l.Segments) == 0 {
		b = append(b, '/')
	}
	return string(b)
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *File) Redacted() string { return l.String() }

func (l *File) server() (Server, bool) { return Server{HostPort: HostPort{Host: l.Host}}, true }

func (*File) withLogin(*Login) Locator { return nil }

func (l *File) equal(b Locator) bool {
	return equalAs(l, b, func(a, b *File) bool { return a.Host == b.Host && slices.Equal(a.Segments, b.Segments) })
}

func (l *File) check(c *octetCheck) {
	for _, s := range l.Segments {
		c.component("path", s, "\x00/")
	}
}

// file reads "'//' [ host | 'localhost' ] '/' fpath".
func (p *parser) file() Locator {
	switch rest := p.s[p.i:]; {
	case strings.HasPrefix(rest, "//"):
		p.i += 2
	case strings.HasPrefix(rest, "/") && p.tolerate(MissingSlashes):
		// "file:/path" has no host.
	default:
		p.next('/')
		p.fail(p.i, "3.10", `"//" must follow the scheme`)
	}
	l, segments := newFile(strings.Count(p.s[p.i:], "/"))
	if p.i < len(p.s) && p.s[p.i] != '/' {
		l.Host = p.host()
	}
	p.expect('/', "3.10", `"/" and a path must follow the host`)
	dirs, name := p.segments(segments)
	l.Segments = slices.Clip(append(dirs, name))
	p.end("3.10")
	return l
}

// newFile allocates a File and the memory for n segments in one block.
func newFile(n int) (*File, []string) {
	switch {
	case n <= 6:
		b := new(struct {
			File
			segments [6]string
		})
		return &b.File, b.segments[:0]
	case n <= 20:
		b := new(struct {
			File
			segments [20]string
		})
		return &b.File, b.segments[:0]
	}
	return new(File), make([]string, 0, n)
}
