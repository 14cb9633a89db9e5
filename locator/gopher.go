package locator

import "strings"

// Gopher is a gopher URL (§3.4), or gophers with Secure.
type Gopher struct {
	HostPort
	// Type is the gophertype; '1' if the URL has no gopher-path. If HasPath is false, 0 means '1'
	// too; otherwise 0 is the octet 00.
	Type byte
	// Selector, Search and Plus are the parts between the encoded tabs. Selector and Search cannot
	// contain a tab: in the URL of String it would end them.
	Selector, Search, Plus string
	// Fields is the number of "%09" in the path, 0 to 2. It distinguishes an empty search or Gopher+
	// string from an absent one.
	Fields uint8
	// HasPath is true for "gopher://h/" and false for "gopher://h".
	HasPath bool
	// Secure is set for gophers.
	Secure bool
}

// Scheme implements [Locator]: "gopher", or "gophers" for a Secure one.
func (l *Gopher) Scheme() string { return schemeName(l.Secure, "gopher", "gophers") }

// String implements [Locator].
func (l *Gopher) String() string {
	b := append(append(make([]byte, 0, usualLength), l.Scheme()...), "://"...)
	b = l.HostPort.append(b)
	fields := l.fields()
	if !l.HasPath && l.Selector == "" && fields == 0 && (l.Type == 0 || l.Type == '1') {
		return string(b)
	}
	b = append(b, '/')
	if l.Type == '1' && l.Selector == "" && fields == 0 {
		return string(b) // an empty gopher-path means the same
	}
	b = appendDecoded(b, string([]byte{l.Type}), xchar)
	b = appendDecoded(b, l.Selector, xchar)
	if fields >= 1 {
		b = append(b, tab...)
		b = appendDecoded(b, l.Search, search)
	}
	if fields >= 2 {
		b = append(b, tab...)
		b = appendDecoded(b, l.Plus, xchar)
	}
	return string(b)
}

// fields returns Fields, or more if Search or Plus is set.
func (l *Gopher) fields() uint8 {
	switch {
	case l.Plus != "":
		return 2
	case l.Search != "":
		return max(l.Fields, 1)
	}
	return l.Fields
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *Gopher) Redacted() string { return l.String() }

func (l *Gopher) equal(b Locator) bool { return equalAs(l, b, identical) }

func (l *Gopher) check(c *octetCheck) {
	c.component("type", string([]byte{l.Type}), fieldEnd)
	c.component("selector", l.Selector, fieldEnd)
	c.component("search", l.Search, fieldEnd)
	c.gopherPlus(l.Plus)
}

// tab separates the fields of a gopher-path. It is always encoded.
const tab = "%09"

// gopher reads "'//' hostport [ '/' [ gtype [ selector [ '%09' search [ '%09'
// gopher+_string ]]]]]". The path is split at its first two tabs before it is decoded. A
// gopher+_string may contain more tabs.
func (p *parser) gopher(secure bool) Locator {
	l := &Gopher{Type: '1', Secure: secure}
	p.slashes()
	p.hostportOnly(&l.HostPort, "3.4")
	if l.HasPath = p.next('/'); l.HasPath && p.i < len(p.s) {
		l.Type = p.gophertype()
		l.Selector = p.field()
		if p.nextTab() {
			l.Fields = 1
			l.Search = p.field()
		}
		if p.nextTab() {
			l.Fields = 2
			l.Plus = p.text(xchar, 0)
		}
	}
	p.end("3.4.1")
	return l
}

// gophertype reads one xchar.
func (p *parser) gophertype() byte {
	if xchar.has(p.s[p.i]) || p.more(0) {
		return p.octet()
	}
	p.unexpected("3.4.1", "")
	return 0
}

// field reads the gopher-path up to the next tab.
func (p *parser) field() string {
	all := p.s
	if i := strings.Index(p.s[p.i:], tab); i >= 0 {
		p.s = p.s[:p.i+i]
	}
	s := p.text(xchar, 0)
	p.end("3.4.1")
	p.s = all
	return s
}

// nextTab reports whether a tab comes next, and moves past it.
func (p *parser) nextTab() bool {
	if strings.HasPrefix(p.s[p.i:], tab) {
		p.i += len(tab)
		return true
	}
	return false
}
