package locator

import (
	"slices"
	"strings"
)

// FTP is an ftp URL (§3.2), or ftps with Secure.
type FTP struct {
	Server
	// CWD are the arguments of the CWD commands, in order. An empty string means a CWD with a null
	// argument.
	CWD []string
	// Name is the last component: the argument of RETR or NLST. It is empty if the URL ends in a
	// slash.
	Name string
	// Type is the typecode 'a', 'i' or 'd' in lower case; 0 if the URL has none.
	Type byte
	// HasPath is true for "ftp://h/" and false for "ftp://h".
	HasPath bool
	// Secure is set for ftps.
	Secure bool
}

// Scheme implements [Locator]: "ftp", or "ftps" for a Secure one.
func (l *FTP) Scheme() string { return schemeName(l.Secure, "ftp", "ftps") }

// String implements [Locator].
func (l *FTP) String() string { return string(l.append(make([]byte, 0, usualLength), false)) }

// Redacted implements [Locator].
func (l *FTP) Redacted() string { return string(l.append(make([]byte, 0, usualLength), true)) }

func (l *FTP) append(b []byte, hidden bool) []byte {
	b = append(append(b, l.Scheme()...), "://"...)
	b = l.Login.append(b, hidden)
	b = l.HostPort.append(b)
	if !l.HasPath && len(l.CWD) == 0 && l.Name == "" && l.Type == 0 {
		return b
	}
	for _, dir := range l.CWD {
		b = append(b, '/')
		b = appendDecoded(b, dir, fsegment)
	}
	b = append(b, '/')
	b = appendDecoded(b, l.Name, fsegment)
	if l.Type != 0 {
		b = append(b, ";type="...)
		b = appendDecoded(b, string([]byte{lower(l.Type)}), unreserved)
	}
	return b
}

func (l *FTP) withLogin(login *Login) Locator {
	c := *l
	c.Login = login
	return &c
}

func (l *FTP) equal(b Locator) bool {
	return equalAs(l, b, func(a, b *FTP) bool {
		return equalServers(a.Server, b.Server) && slices.Equal(a.CWD, b.CWD) &&
			a.Name == b.Name && a.Type == b.Type && a.HasPath == b.HasPath && a.Secure == b.Secure
	})
}

func (l *FTP) check(c *octetCheck) {
	c.login(l.Login, lineEnds)
	for _, dir := range l.CWD {
		c.component("path", dir, lineEnds)
	}
	c.component("path", l.Name, lineEnds)
}

// ftp reads "'//' login [ '/' fpath [ ';type=' ftptype ]]".
func (p *parser) ftp(secure bool) Locator {
	p.slashes()
	at := p.findLogin()
	l, cwd := newFTP(strings.Count(p.s[p.i:], "/")-1, at >= 0)
	l.Secure = secure
	if at >= 0 {
		p.login(l.Login, at)
	}
	p.hostport(&l.HostPort)
	if l.HasPath = p.next('/'); !l.HasPath {
		p.end("3.2.2")
		return l
	}
	start := p.i
	l.Type = p.cutTypecode()
	if cwd, l.Name = p.segments(cwd); len(cwd) > 0 {
		l.CWD = slices.Clip(cwd)
	}
	p.endOfPath(start)
	return l
}

// newFTP allocates an FTP, its Login if it has one, and the memory for n CWD elements. It uses one
// block unless n is large.
func newFTP(n int, hasLogin bool) (l *FTP, cwd []string) {
	var login *Login
	switch {
	case n <= 4 && !hasLogin:
		b := new(struct {
			FTP
			cwd [4]string
		})
		return &b.FTP, b.cwd[:0]
	case n <= 6:
		b := new(struct {
			FTP
			login Login
			cwd   [6]string
		})
		l, login, cwd = &b.FTP, &b.login, b.cwd[:0]
	case n <= 32:
		b := new(struct {
			FTP
			login Login
			cwd   [32]string
		})
		l, login, cwd = &b.FTP, &b.login, b.cwd[:0]
	default:
		l, login, cwd = new(FTP), new(Login), make([]string, 0, n)
	}
	if hasLogin {
		l.Login = login
	}
	return l, cwd
}

const typeTag = ";type="

// cutTypecode removes ";type=" and a typecode from the end of the text, and returns the typecode.
func (p *parser) cutTypecode() byte {
	i := len(p.s) - len(typeTag) - 1
	if i < p.i || p.s[i:len(p.s)-1] != typeTag {
		return 0
	}
	switch c := lower(p.s[len(p.s)-1]); c {
	case 'a', 'i', 'd':
		p.s = p.s[:i]
		return c
	}
	return 0
}

// lower returns an ASCII letter in lower case.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// segments reads "fsegment *[ '/' fsegment ]". It returns dirs with all but the last appended, and the
// last.
func (p *parser) segments(dirs []string) ([]string, string) {
	for {
		s := p.text(fsegment, semicolon)
		if !p.next('/') {
			return dirs, s
		}
		dirs = append(dirs, s)
	}
}

// endOfPath is end for the path that starts at start, after cutTypecode. A remaining ";type=" is an
// error, even if a ";" is tolerated in a name.
func (p *parser) endOfPath(start int) {
	if p.i == len(p.s) && p.used&ReservedOctets == 0 {
		return
	}
	i := strings.Index(p.s[start:], typeTag)
	switch {
	case i >= 0 && start+i <= p.i:
		p.fail(start+i+len(typeTag), "3.2.2", `a typecode is one of "a", "i" and "d", and ends the URL`)
	case p.i < len(p.s) && p.s[p.i] == ';':
		p.fail(p.i, "3.2.2", `";" must be encoded as %3B, or start ";type=" and a typecode`)
	default:
		p.end("3.2.2")
	}
}
