package locator

import "strings"

// HTTP is an http URL (§3.3), or https with Secure.
type HTTP struct {
	// Login is nil unless [HTTPLogin] was tolerated. §3.3: "No user name or password is allowed."
	Server
	// Path and Search are still encoded, as written in the URL, because HTTP sends them so. The "/"
	// between host and path and the "?" belong to neither. Octets that [UnsafeOctets] or
	// [StrayPercent] tolerated are encoded.
	Path, Search string
	// HasPath and HasSearch distinguish an empty component from an absent one.
	HasPath, HasSearch bool
	// Secure is set for https.
	Secure bool
}

// Scheme implements [Locator]: "http", or "https" for a Secure one.
func (l *HTTP) Scheme() string { return schemeName(l.Secure, "http", "https") }

// String implements [Locator].
func (l *HTTP) String() string { return string(l.append(make([]byte, 0, usualLength), false)) }

// Redacted implements [Locator].
func (l *HTTP) Redacted() string { return string(l.append(make([]byte, 0, usualLength), true)) }

func (l *HTTP) append(b []byte, hidden bool) []byte {
	b = append(append(b, l.Scheme()...), "://"...)
	b = l.Login.append(b, hidden)
	b = l.HostPort.append(b)
	hasSearch := l.HasSearch || l.Search != ""
	if l.HasPath || l.Path != "" || hasSearch {
		b = append(b, '/')
		b = appendEncoded(b, l.Path, hpath)
	}
	if hasSearch {
		b = append(b, '?')
		b = appendEncoded(b, l.Search, search|looseSearch)
	}
	return b
}

func (l *HTTP) withLogin(login *Login) Locator {
	c := *l
	c.Login = login
	return &c
}

func (l *HTTP) equal(b Locator) bool {
	return equalAs(l, b, func(a, b *HTTP) bool {
		return equalServers(a.Server, b.Server) && a.Path == b.Path && a.Search == b.Search &&
			a.HasPath == b.HasPath && a.HasSearch == b.HasSearch && a.Secure == b.Secure
	})
}

func (l *HTTP) check(c *octetCheck) {
	c.login(l.Login, lineEnds)
	c.component("path", l.Path, controls)
	c.component("search", l.Search, controls)
}

// looseSearch are the octets that [ReservedOctets] tolerates in a search. String does not encode them,
// because servers may distinguish them from their encoding.
const looseSearch = slash | question

// http reads "'//' hostport [ '/' hpath [ '?' search ]]".
func (p *parser) http(secure bool) Locator {
	l := &HTTP{Secure: secure}
	p.slashes()
	if p.tol&HTTPLogin != 0 {
		l.Login = p.httpLogin()
	}
	p.hostportOnly(&l.HostPort, "3.3")
	l.HasPath = p.next('/') || p.searchFollows()
	if l.HasPath {
		l.Path = p.encoded(hpath, 0)
		if p.next('?') {
			l.HasSearch = true
			l.Search = p.encoded(search, looseSearch)
		}
	}
	p.end("3.3")
	return l
}

// httpLogin reads a login, if the URL has one. An "@" after a "?" or "#" does not end a login, because
// both end the host of an http URL everywhere else.
func (p *parser) httpLogin() *Login {
	at := p.findLogin()
	if at < 0 || strings.ContainsAny(p.s[p.i:at], "?#") {
		return nil
	}
	p.tolerate(HTTPLogin)
	l := new(Login)
	p.login(l, at)
	return l
}

// searchFollows reports whether a "?" comes next, without a "/" before it. That is tolerated as a
// missing slash.
func (p *parser) searchFollows() bool {
	if p.i == len(p.s) || p.s[p.i] != '?' {
		return false
	}
	if !p.tolerate(MissingSlashes) {
		p.fail(p.i, "3.3", `a "/" must stand between the host and "?"`)
	}
	return true
}
