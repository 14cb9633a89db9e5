package locator

// Telnet is a telnet URL (§3.8). It designates a service, not a document.
type Telnet struct {
	Server
	// Slash reports whether the URL ends in "/".
	Slash bool
}

// Scheme implements [Locator].
func (*Telnet) Scheme() string { return "telnet" }

// String implements [Locator].
func (l *Telnet) String() string { return string(l.append(make([]byte, 0, usualLength), false)) }

// Redacted implements [Locator].
func (l *Telnet) Redacted() string { return string(l.append(make([]byte, 0, usualLength), true)) }

func (l *Telnet) append(b []byte, hidden bool) []byte {
	b = append(b, "telnet://"...)
	b = l.Login.append(b, hidden)
	b = l.HostPort.append(b)
	if l.Slash {
		b = append(b, '/')
	}
	return b
}

func (l *Telnet) withLogin(login *Login) Locator {
	c := *l
	c.Login = login
	return &c
}

func (l *Telnet) equal(b Locator) bool {
	return equalAs(l, b, func(a, b *Telnet) bool { return equalServers(a.Server, b.Server) && a.Slash == b.Slash })
}

func (l *Telnet) check(c *octetCheck) { c.login(l.Login, lineEnds+"\xff") }

// telnet reads "'//' login [ '/' ]".
func (p *parser) telnet() Locator {
	l := new(struct {
		Telnet
		login Login
	})
	p.slashes()
	if at := p.findLogin(); at >= 0 {
		l.Login = &l.login
		p.login(l.Login, at)
	}
	p.hostport(&l.HostPort)
	l.Slash = p.next('/')
	p.end("3.8")
	return &l.Telnet
}
