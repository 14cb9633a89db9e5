package locator

import "strings"

// Opaque is a URL of a scheme that this package has no grammar for (§2.1, §4): experimental "x-…",
// afs, mid, cid, nfs, tn3270 and any later scheme. Rest is the scheme-specific part, still encoded.
type Opaque struct{ Name, Rest string }

// Scheme implements [Locator]. It returns Name in lower case.
func (l *Opaque) Scheme() string { return strings.ToLower(l.Name) }

// String implements [Locator].
func (l *Opaque) String() string {
	b := appendDecoded(make([]byte, 0, usualLength), l.Scheme(), schemeOctet)
	b = append(b, ':')
	return string(appendEncoded(b, l.Rest, xchar))
}

// Redacted implements [Locator]. It hides every part that may be a password, because the syntax of the
// scheme is unknown.
func (l *Opaque) Redacted() string { return redact(l.String()) }

// Path returns the url-path of the common Internet scheme syntax (§3.1): what follows the server in
// Rest, without the "/" between them. If Rest names no server, it is all of Rest. It is still
// encoded, because only the scheme says which of its octets are delimiters: split it first, then
// decode each part, as with url.PathUnescape, and refuse what the protocol cannot carry.
// [ServerOf] returns the server.
func (l *Opaque) Path() string {
	_, path, ok := l.split()
	if !ok {
		return l.Rest
	}
	return strings.TrimPrefix(path, "/")
}

// server returns the server in Rest, if Rest has the common Internet scheme syntax (§3.1).
func (l *Opaque) server() (Server, bool) {
	s, _, ok := l.split()
	return s, ok
}

func (l *Opaque) withLogin(login *Login) Locator {
	s, path, ok := l.split()
	if !ok {
		return nil
	}
	b := s.HostPort.append(login.append([]byte("//"), false))
	return &Opaque{l.Name, string(appendEncoded(nil, string(b)+path, xchar))}
}

// split splits Rest into "//user:password@host:port" and the rest. The brackets of an IPv6 address are
// encoded in Rest, because a Parser that tolerates them encodes them.
func (l *Opaque) split() (s Server, path string, ok bool) {
	p := parser{s: l.Rest, size: len(l.Rest), tol: ModernHosts}
	p.next('/')
	p.expect('/', "3.1", "no server")
	if at := p.findLogin(); at >= 0 {
		s.Login = new(Login)
		p.login(s.Login, at)
	}
	if address, found := strings.CutPrefix(p.s[p.i:], "%5B"); found {
		p.s, p.i = "["+strings.Replace(address, "%5D", "]", 1), 0
	}
	p.hostport(&s.HostPort)
	return s, p.s[p.i:], p.bad.msg == ""
}

func (l *Opaque) equal(b Locator) bool { return equalAs(l, b, identical) }

// check implements [Locator]. Rest is encoded; the Fetcher that decodes it must check it.
func (*Opaque) check(*octetCheck) {}

// opaque reads "schemepart".
func (p *parser) opaque(name string) Locator {
	l := &Opaque{Name: name, Rest: p.encoded(xchar, 0)}
	p.end("2.1")
	return l
}
