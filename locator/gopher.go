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
	// Words are the search words after the "?" of the Selector, if an encoded "+" is in them, and
	// empty otherwise. See [Gopher.SearchWords].
	Words string
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
	if before, words, ok := l.SearchWords(); ok {
		b = append(appendDecoded(b, before, xchar), '?')
		b = appendWords(b, l.Selector[len(before)+1:], words)
	} else {
		b = appendDecoded(b, l.Selector, xchar)
	}
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

// SearchWords returns the selector and the search words of a URL whose words follow a "?", as people
// write them: "gopher://h/7/find?two+words". An unencoded "+" means a space. RFC 1738 does not have
// this: for it, all of this is the Selector. ok is false if the Selector has no "?", the URL has a
// "%09", or Type is neither '7' nor '2'.
func (l *Gopher) SearchWords() (selector, words string, ok bool) {
	if l.Type != '7' && l.Type != '2' || l.fields() > 0 {
		return "", "", false
	}
	selector, words, ok = strings.Cut(l.Selector, "?")
	if words = strings.ReplaceAll(words, "+", " "); words == strings.ReplaceAll(l.Words, "+", " ") { // else they are not those of the Selector
		words = l.Words
	}
	return selector, words, ok
}

// appendWords appends the words after a "?". octets are those of the selector, in which every "+" of
// the words and every space written as "+" is a "+".
func appendWords(b []byte, octets, words string) []byte {
	for i := range len(octets) {
		if octets[i] == '+' && words[i] == '+' {
			b = appendEscape(b, '+')
		} else {
			b = appendDecoded(b, octets[i:i+1], xchar)
		}
	}
	return b
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
		from := p.i
		l.Selector = p.field()
		written := p.s[from:p.i]
		if p.nextTab() {
			l.Fields = 1
			l.Search = p.field()
		}
		if p.nextTab() {
			l.Fields = 2
			l.Plus = p.text(xchar, 0)
		}
		if before, _, ok := l.SearchWords(); ok && p.bad.msg == "" && strings.Contains(written, "%2") {
			if words := decodeWords(written)[len(before)+1:]; strings.Contains(words, "+") {
				l.Words = words
			}
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
