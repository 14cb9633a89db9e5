package locator

import (
	"strconv"
	"strings"
)

// HostPort is a host and an optional port (§3.1).
type HostPort struct {
	// Host is a domain name or address as written; IPv6 literals (tolerated
	// only) are without their brackets. Non-ASCII names (tolerated only) are
	// valid UTF-8 and not converted: whoever looks them up does that.
	Host string
	// Port is 0 when the URL gives none; see [DefaultPort].
	Port uint16
}

// Server is the "//user:password@host:port" of the common Internet scheme
// syntax (§3.1).
type Server struct {
	// Login is nil when the URL has no "@". Only ftp and telnet define one; http
	// has one when [HTTPLogin] was tolerated.
	Login *Login
	HostPort
}

// Login is what stands before the "@" (§3.1). An empty user or password differs
// from an absent one: "ftp://@h/" has an empty user and no password,
// "ftp://foo:@h/" the user foo and an empty password.
type Login struct {
	User, Password string
	HasPassword    bool
}

// slashes reads the "//" that the common Internet scheme syntax starts with.
func (p *parser) slashes() {
	switch {
	case strings.HasPrefix(p.s[p.i:], "//"):
		p.i += 2
	case p.tolerate(MissingSlashes):
		p.next('/')
	default:
		p.next('/')
		p.fail(p.i, "3.1", `"//" must follow the scheme`)
	}
}

// findLogin returns the index of the "@" that ends a login, or -1. Neither a
// user name nor a password holds a "/".
func (p *parser) findLogin() int {
	rest := p.s[p.i:]
	i := strings.IndexByte(rest, '@')
	if i < 0 || strings.IndexByte(rest[:i], '/') >= 0 {
		return -1
	}
	return p.i + i
}

// login reads "user [ ':' password ] '@'" up to the "@" that findLogin found.
func (p *parser) login(l *Login, end int) {
	// A "\" is no part of a login even where unsafe octets are tolerated: some
	// programs take it for a "/", and so another host for the URL's.
	if i := strings.IndexByte(p.s[p.i:end], '\\'); i >= 0 {
		p.fail(p.i+i, "2.2", `"\" must be encoded as %5C`)
		return
	}
	l.User = p.text(user, 0)
	if p.next(':') {
		l.HasPassword = true
		p.secret.from = p.i
		l.Password = p.text(password, colon)
		p.secret.to = p.i
	}
	p.expect('@', "3.1", `":", "@" and "/" must be encoded in a user name and password`)
}

// hostport reads "host [ ':' port ]".
func (p *parser) hostport(h *HostPort) {
	h.Host = p.host()
	if p.next(':') {
		h.Port = p.port()
	}
	if p.i < len(p.s) && !(slash | question).has(p.s[p.i]) && p.s[p.i] != '#' {
		p.fail(p.i, "3.1", `only "/" or the end of the URL may follow the host and port`)
	}
}

// hostportOnly is hostport for schemes without a login. If there is one, it is
// what is wrong.
func (p *parser) hostportOnly(h *HostPort, section string) {
	start := p.i
	if p.hostport(h); p.bad.msg == "" {
		return
	}
	p.i = start
	if at := p.findLogin(); at >= 0 {
		p.bad = failure{at, section, "no user name or password is allowed here"}
	}
	p.i = len(p.s)
}

func (p *parser) port() uint16 {
	start, n := p.i, 0
	for p.i < len(p.s) && digit.has(p.s[p.i]) {
		n = min(n*10+int(p.s[p.i]-'0'), 1<<16)
		p.i++
	}
	switch {
	case p.i == start:
		if p.i < len(p.s) && !(slash|question).has(p.s[p.i]) || !p.tolerate(EmptyPort) {
			p.fail(p.i, "3.1", "a port number must follow the colon after the host")
		}
	case n == 0 || n >= 1<<16:
		p.fail(start, "3.1", "a port is a number from 1 to 65535")
	}
	return uint16(n)
}

// append appends "user:password@", the password as "***" if hidden.
func (l *Login) append(b []byte, hidden bool) []byte {
	if l == nil {
		return b
	}
	b = appendDecoded(b, l.User, user)
	if l.HasPassword || l.Password != "" {
		b = append(b, ':')
		if hidden {
			b = append(b, "***"...)
		} else {
			b = appendDecoded(b, l.Password, password)
		}
	}
	return append(b, '@')
}

// append appends "host:port".
func (h HostPort) append(b []byte) []byte {
	b = appendHost(b, h.Host)
	if h.Port != 0 {
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(h.Port), 10)
	}
	return b
}

// ServerOf is the server a Locator names, with the scheme's default port filled
// in. It is false for Locators that name none: mailto and news, and those of
// schemes without a grammar here unless they have the common Internet scheme
// syntax. A file URL's host is a server without a port, and so is one of a scheme
// without a row in [Schemes] unless the URL gives a port.
func ServerOf(l Locator) (Server, bool) {
	s, ok := AuthorityOf(l)
	if ok && s.Port == 0 {
		s.Port = DefaultPort(l.Scheme())
	}
	return s, ok
}

// AuthorityOf is ServerOf without a default port: the port is 0 when the URL
// gives none.
func AuthorityOf(l Locator) (Server, bool) {
	if l == nil {
		return Server{}, false
	}
	s, ok := l.server()
	if !ok {
		s = Server{}
	}
	return s, ok
}

func (h *HostPort) server() (Server, bool) { return Server{HostPort: *h}, true }

func (s *Server) server() (Server, bool) { return *s, true }

// WithLogin is a copy of l with another login; a nil login is none. It is false
// for Locators of schemes whose URLs have no place for one.
func WithLogin(l Locator, login *Login) (with Locator, ok bool) {
	if with = l.withLogin(login); with == nil {
		return l, false
	}
	return with, true
}

// withLogin serves the schemes without logins.
func (*HostPort) withLogin(*Login) Locator { return nil }
