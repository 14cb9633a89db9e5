package locator

// NNTP is an nntp URL (§3.7), or nntps with Secure.
//
// In §3.7 each of them has a newsgroup, and only news:* (§3.6) is the list of groups: that of a server
// which the URL does not name. As an extension, "nntp://host/" is the list of the groups of that server.
// A Parser reads it if [AllGroups] is tolerated.
type NNTP struct {
	HostPort
	// Group is a newsgroup name. It is empty if the URL designates the list of all groups; Article is
	// then empty, too.
	Group string
	// Article is the article number in decimal digits, as written. It is empty if the URL designates
	// the group, or the list of groups.
	Article string
	// Secure is set for nntps.
	Secure bool
}

// Scheme implements [Locator]: "nntp", or "nntps" for a Secure one.
func (l *NNTP) Scheme() string { return schemeName(l.Secure, "nntp", "nntps") }

// String implements [Locator].
func (l *NNTP) String() string {
	b := append(append(make([]byte, 0, usualLength), l.Scheme()...), "://"...)
	b = l.HostPort.append(b)
	b = append(b, '/')
	b = appendDecoded(b, l.Group, groupOctet)
	if l.Article != "" {
		b = append(b, '/')
		b = appendDecoded(b, l.Article, digit)
	}
	return string(b)
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *NNTP) Redacted() string { return l.String() }

func (l *NNTP) equal(b Locator) bool { return equalAs(l, b, identical) }

func (l *NNTP) check(c *octetCheck) {
	c.component("group", l.Group, groupEnd)
	c.component("article", l.Article, wordEnd)
}

// nntp reads "'//' hostport '/' group [ '/' digits ]", or with AllGroups a hostport alone.
func (p *parser) nntp(secure bool) Locator {
	l := &NNTP{Secure: secure}
	p.slashes()
	p.hostportOnly(&l.HostPort, "3.7")
	if rest := p.s[p.i:]; (rest == "" || rest == "/" || rest == "/*") && p.bad.msg == "" && p.tolerate(AllGroups) {
		return l
	}
	p.expect('/', "3.7", `"/" and the name of a newsgroup must follow`)
	l.Group = p.group("3.7")
	if p.next('/') {
		l.Article = p.number("3.7", "an article number must follow")
	}
	p.end("3.7")
	return l
}

// number reads digits.
func (p *parser) number(section, missing string) string {
	start := p.i
	for p.i < len(p.s) && digit.has(p.s[p.i]) {
		p.i++
	}
	if p.i == start {
		p.unexpected(section, missing)
	}
	return p.s[start:p.i]
}
