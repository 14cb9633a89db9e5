package locator

import "strings"

// News is a news URL (§3.6): exactly one of its fields is set.
type News struct {
	// All is "news:*", all available groups.
	All bool
	// Group is a newsgroup name.
	Group string
	// MessageID is a message-id without its angle brackets; it holds an "@".
	MessageID string
}

func (*News) locator() {}

// Scheme implements [Locator].
func (*News) Scheme() string { return "news" }

// String implements [Locator].
func (l *News) String() string {
	b := append(make([]byte, 0, usualLength), "news:"...)
	switch {
	case l.All:
		b = append(b, '*')
	case l.MessageID != "":
		b = appendMessageID(b, l.MessageID)
	default:
		b = appendDecoded(b, l.Group, groupOctet)
	}
	return string(b)
}

// appendMessageID appends "unique@host", encoded. No host holds an "@", so the
// last one ends the unique part.
func appendMessageID(b []byte, id string) []byte {
	i := strings.LastIndexByte(id, '@')
	if i < 0 {
		return appendDecoded(b, id, article)
	}
	b = appendDecoded(b, id[:i], article)
	b = append(b, '@')
	return appendHost(b, strings.Trim(id[i+1:], "[]"))
}

// Redacted implements [Locator]; there is no password to hide.
func (l *News) Redacted() string { return l.String() }

// news reads "'*' | group | article"; an "@" tells an article (§3.6).
func (p *parser) news() Locator {
	switch rest := p.s[p.i:]; {
	case rest == "*":
		return &News{All: true}
	case strings.IndexByte(rest, '@') >= 0:
		return &News{MessageID: p.messageID()}
	}
	l := &News{Group: p.group("3.6")}
	p.end("3.6")
	return l
}

// messageID reads "1*[ uchar | ';' | '/' | '?' | ':' | '&' | '=' ] '@' host" to
// the end of the text.
func (p *parser) messageID() string {
	start := p.i
	unique := p.text(article, 0)
	if p.i == start {
		p.unexpected("3.6", `a message-id has something before its "@"`)
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
