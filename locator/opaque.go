package locator

import "strings"

// Opaque is a URL of any scheme this package has no grammar for (§2.1, §4):
// experimental "x-…", afs, mid, cid, nfs, tn3270 and whatever comes later. Rest
// is the scheme-specific part, still encoded.
type Opaque struct{ Name, Rest string }

func (*Opaque) locator() {}

// Scheme implements [Locator]: the Name in lower case.
func (l *Opaque) Scheme() string { return strings.ToLower(l.Name) }

// String implements [Locator].
func (l *Opaque) String() string {
	b := appendDecoded(make([]byte, 0, usualLength), l.Scheme(), schemeOctet)
	b = append(b, ':')
	return string(appendEncoded(b, l.Rest, xchar))
}

// Redacted implements [Locator]. Nobody knows where an unknown scheme puts a
// password: what may be one is hidden.
func (l *Opaque) Redacted() string { return redact(l.String()) }

// opaque reads "schemepart".
func (p *parser) opaque(name string) Locator {
	l := &Opaque{Name: name, Rest: p.encoded(xchar, 0)}
	p.end("2.1")
	return l
}
