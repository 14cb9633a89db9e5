package locator

import (
	"strconv"
	"strings"
)

// HostPort is a host and an optional port (§3.1).
type HostPort struct {
	// Host is a domain name or address as written. An IPv6 literal (tolerated only) is without its
	// brackets. A non-ASCII name (tolerated only) is valid UTF-8 and must be converted before it is
	// looked up.
	Host string
	// Port is 0 if the URL has none; see [DefaultPort].
	Port uint16
}

// Server is the "//user:password@host:port" of the common Internet scheme
// syntax (§3.1).
type Server struct {
	// Login is nil if the URL has no "@". Of the schemes with a grammar here only ftp and telnet have
	// a login; http has one if [HTTPLogin] was tolerated.
	Login *Login
	HostPort
}

// Login is the part before the "@" (§3.1). An empty user or password differs from an absent one:
// "ftp://@h/" has an empty user and no password, "ftp://foo:@h/" has the user foo and an empty
// password.
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

// findLogin returns the index of the "@" that ends a login, or -1. A user name or password cannot
// contain a "/".
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
	// A "\" is never tolerated in a login: some programs read it as a "/", and then see another
	// host.
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

// hostportOnly is hostport for schemes without a login. If the URL has a login, that is the error.
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

// port parses a port from 1 to 65535. It returns 0 for an empty one that is tolerated.
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

// append appends "user:password@". If hidden is set, the password is "***".
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

// String returns "host:port" as in a URL, or only the host if Port is 0.
func (h HostPort) String() string { return string(h.append(nil)) }

// append appends "host:port".
func (h HostPort) append(b []byte) []byte {
	b = appendHost(b, h.Host)
	if h.Port != 0 {
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(h.Port), 10)
	}
	return b
}

// ServerOf returns the server in a URL, with the default port of the scheme filled in. ok is false if
// the URL has no server: mailto, news, and schemes without a grammar here unless they have the common
// Internet scheme syntax. The port stays 0 for a file URL, and for a scheme that is not in [Schemes]
// if the URL has no port.
func ServerOf(l Locator) (s Server, ok bool) {
	s, ok = AuthorityOf(l)
	if ok && s.Port == 0 {
		s.Port = DefaultPort(l.Scheme())
	}
	return s, ok
}

// SameServer reports whether two Locators have the same scheme, host and port. Hosts are compared
// without regard to case. Logins are not compared.
func SameServer(a, b Locator) bool {
	at, _ := ServerOf(a)
	there, _ := ServerOf(b)
	return a.Scheme() == b.Scheme() && at.Port == there.Port && strings.EqualFold(at.Host, there.Host)
}

// AuthorityOf is like [ServerOf], but does not fill in the default port: the port is 0 if the URL has
// none.
func AuthorityOf(l Locator) (s Server, ok bool) {
	if l == nil {
		return Server{}, false
	}
	s, ok = l.server()
	if !ok {
		s = Server{}
	}
	return s, ok
}

func (h *HostPort) server() (Server, bool) { return Server{HostPort: *h}, true }

func (s *Server) server() (Server, bool) { return *s, true }

// WithLogin returns a copy of l with another login; nil removes the login. If URLs of the scheme
// cannot have a login, it returns l and false.
func WithLogin(l Locator, login *Login) (with Locator, ok bool) {
	if with = l.withLogin(login); with == nil {
		return l, false
	}
	return with, true
}

// withLogin is for the schemes without logins.
func (*HostPort) withLogin(*Login) Locator { return nil }

// WithHostPort returns a copy of l with another host and port. If URLs of the scheme have neither, or
// it has no grammar here, it returns l.
func WithHostPort(l Locator, at HostPort) Locator { return l.withHostPort(at) }

func (l *FTP) withHostPort(at HostPort) Locator      { c := *l; c.HostPort = at; return &c }
func (l *HTTP) withHostPort(at HostPort) Locator     { c := *l; c.HostPort = at; return &c }
func (l *Gopher) withHostPort(at HostPort) Locator   { c := *l; c.HostPort = at; return &c }
func (l *News) withHostPort(at HostPort) Locator     { c := *l; c.HostPort = at; return &c }
func (l *NNTP) withHostPort(at HostPort) Locator     { c := *l; c.HostPort = at; return &c }
func (l *Telnet) withHostPort(at HostPort) Locator   { c := *l; c.HostPort = at; return &c }
func (l *WAIS) withHostPort(at HostPort) Locator     { c := *l; c.HostPort = at; return &c }
func (l *Prospero) withHostPort(at HostPort) Locator { c := *l; c.HostPort = at; return &c }
func (l *File) withHostPort(HostPort) Locator        { return l }
func (l *Mailto) withHostPort(HostPort) Locator      { return l }
func (l *Opaque) withHostPort(HostPort) Locator      { return l }
