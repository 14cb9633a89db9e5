package locator

import "strings"

// News is a news URL (§3.6), or snews with Secure. One of All, Group and MessageID is set.
type News struct {
	// HostPort is the server in an snews URL such as "snews://host/group". A news URL never has one.
	HostPort
	// All is set for "news:*", all available groups.
	All bool
	// Group is a newsgroup name.
	Group string
	// MessageID is a message-id without its angle brackets. It contains an "@".
	MessageID string
	// Secure is set for snews.
	Secure bool
}

// Scheme implements [Locator]: "news", or "snews" for a Secure one.
func (l *News) Scheme() string { return schemeName(l.Secure, "news", "snews") }

// String implements [Locator].
func (l *News) String() string {
	b := append(append(make([]byte, 0, usualLength), l.Scheme()...), ':')
	id := l.MessageID
	if l.HostPort != (HostPort{}) {
		b = append(l.HostPort.append(append(b, "//"...)), '/')
	} else if l.Secure && strings.HasPrefix(id, "//") {
		b, id = append(b, "%2F"...), id[1:] // so that it is not read as a server
	}
	switch {
	case l.All:
		b = append(b, '*')
	case id != "":
		b = appendMessageID(b, id)
	default:
		b = appendDecoded(b, l.Group, groupOctet)
	}
	return string(b)
}

// appendMessageID appends "unique@host", encoded. No host contains an "@", so the last one ends the
// unique part.
func appendMessageID(b []byte, id string) []byte {
	i := strings.LastIndexByte(id, '@')
	if i < 0 {
		return appendDecoded(b, id, article)
	}
	b = appendDecoded(b, id[:i], article)
	b = append(b, '@')
	return appendHost(b, strings.Trim(id[i+1:], "[]"))
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *News) Redacted() string { return l.String() }

// server returns the server of an snews URL that has one.
func (l *News) server() (Server, bool) { return Server{HostPort: l.HostPort}, l.Host != "" }

func (l *News) equal(b Locator) bool { return equalAs(l, b, identical) }

func (l *News) check(c *octetCheck) {
	c.component("group", l.Group, groupEnd)
	c.component("message-id", l.MessageID, wordEnd+"<>")
}

// news reads "'*' | group | article". An "@" means an article (§3.6). After the server of an snews URL
// the same may follow; or nothing, which means "*"; or a group and an article number, as in an nntps
// URL.
func (p *parser) news(secure bool) Locator {
	l := &News{Secure: secure}
	if secure && strings.HasPrefix(p.s[p.i:], "//") {
		p.i += 2
		p.hostportOnly(&l.HostPort, "3.6")
		if p.i == len(p.s) && p.bad.msg == "" && p.tolerate(AllGroups) {
			l.All = true
			return l
		}
		p.expect('/', "3.6", `"/" and a newsgroup or message-id must follow the host`)
		if l.All = p.i == len(p.s); l.All {
			return l
		}
	}
	switch rest := p.s[p.i:]; {
	case rest == "*":
		l.All = true
		return l
	case strings.IndexByte(rest, '@') >= 0:
		l.MessageID = p.messageID()
		return l
	}
	l.Group = p.group("3.6")
	if l.Host != "" && p.next('/') {
		n := &NNTP{HostPort: l.HostPort, Group: l.Group, Article: p.number("3.7", "an article number must follow"), Secure: true}
		p.end("3.7")
		return n
	}
	p.end("3.6")
	return l
}

// messageID reads "1*[ uchar | ';' | '/' | '?' | ':' | '&' | '=' ] '@' host" to
// the end of the text.
func (p *parser) messageID() string {
	start := p.i
	unique := p.text(article, 0)
	if p.i == start {
		p.unexpected("3.6", `a message-id has text before its "@"`)
	}
	raw := p.i - start
	p.expect('@', "3.6", `a message-id has one "@"; others must be encoded as %40`)
	p.host()
	p.end("3.6")
	if len(unique) == raw {
		return p.s[start:p.i] // nothing was decoded
	}
	p.buf.WriteString(p.s[start+raw : p.i])
	return p.buf.String()
}

// group reads "alpha *[ alpha | digit | '-' | '.' | '+' | '_' ]".
func (p *parser) group(section string) string {
	start := p.i
	if p.i == len(p.s) || !alpha.has(p.s[p.i]) {
		p.unexpected(section, "the name of a newsgroup starts with a letter")
		return ""
	}
	for p.i < len(p.s) && groupOctet.has(p.s[p.i]) {
		p.i++
	}
	return p.s[start:p.i]
}
