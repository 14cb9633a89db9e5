package locator

import "strings"

// MaxLength is the length in bytes of the longest URL that a [Parser] accepts. RFC 1738 has no limit;
// this one bounds the cost of hostile texts.
const MaxLength = 64 << 10

// Parser parses URLs. The zero value is strict: it accepts exactly the URLs that RFC 1738 §5 allows.
// A Parser is safe for concurrent use.
type Parser struct {
	// Tolerate are the departures from RFC 1738 that the Parser accepts.
	Tolerate Tolerance
}

// Parse parses a URL and accepts the departures of p.Tolerate. The error is a *[SyntaxError]. Its time
// is linear in the length of s.
func (p Parser) Parse(s string) (Reference, error) {
	if len(s) > MaxLength {
		return Reference{}, tooLong(s)
	}
	r, bad := p.reference(s)
	if bad.msg != "" {
		return Reference{}, bad.error(s)
	}
	return r, nil
}

// parser reads the text of one URL. It keeps the first failure, which moves it to the end of the text,
// so that callers need not check every step.
type parser struct {
	s    string // the text, or the part of it that the current component may use
	size int    // the length of the whole text
	i    int    // the index of the next octet
	tol  Tolerance
	used Tolerance
	buf  strings.Builder // the decoded components of this URL, back to back
	bad  failure

	secret span // the password
}

// span is part of a text, from one offset up to another.
type span struct{ from, to int }

// url reads "scheme ':' schemepart" by the grammar of that scheme.
func (p *parser) url() Locator {
	// The usual case: a known scheme in lower case.
	if i := strings.IndexByte(p.s, ':'); i >= 0 {
		p.i = i + 1
		if l := p.known(p.s[:i]); l != nil {
			return l
		}
	}
	p.i = 0
	name := strings.ToLower(p.scheme())
	if p.bad.msg != "" {
		return nil
	}
	if l := p.known(name); l != nil {
		return l
	}
	return p.opaque(name)
}

// known parses the text after the scheme. It returns nil if there is no grammar for the scheme.
func (p *parser) known(scheme string) Locator {
	switch scheme {
	case "http":
		return p.http(false)
	case "https":
		return p.http(true)
	case "ftp":
		return p.ftp(false)
	case "ftps":
		return p.ftp(true)
	case "gopher":
		return p.gopher(false)
	case "gophers":
		return p.gopher(true)
	case "mailto":
		return p.mailto()
	case "news":
		return p.news(false)
	case "snews":
		return p.news(true)
	case "nntp":
		return p.nntp(false)
	case "nntps":
		return p.nntp(true)
	case "telnet":
		return p.telnet()
	case "wais":
		return p.wais()
	case "file":
		return p.file()
	case "prospero":
		return p.prospero()
	}
	return nil
}

// scheme reads "scheme ':'" and returns the scheme as written.
func (p *parser) scheme() string {
	for p.i < len(p.s) && schemeOctet.has(p.s[p.i]) {
		p.i++
	}
	name := p.s[:p.i]
	switch {
	case !p.next(':'):
		p.fail(p.i, "2.1", "a URL starts with a scheme and a colon")
	case name == "":
		p.fail(0, "2.1", "the scheme is missing")
	}
	return name
}

// text reads the longest run of escapes and octets of class c, and returns it decoded. If p tolerates
// [ReservedOctets], it also reads octets of class loose.
func (p *parser) text(c, loose class) string {
	start := p.i
	if p.plain(c) || !p.more(loose) {
		return p.s[start:p.i]
	}
	if p.buf.Cap() == 0 {
		// One buffer serves all components. The remaining text bounds its size.
		p.buf.Grow(p.size - start)
	}
	n := p.buf.Len()
	p.buf.WriteString(p.s[start:p.i])
	for p.more(loose) {
		p.buf.WriteByte(p.octet())
		from := p.i
		p.plain(c)
		p.buf.WriteString(p.s[from:p.i])
	}
	return p.buf.String()[n:]
}

// encoded is like text, for components that stay encoded. It encodes tolerated octets, except those of
// class loose.
func (p *parser) encoded(c, loose class) string {
	start, clean := p.i, true
	for !p.plain(c) && p.more(loose) {
		clean = clean && (isEscape(p.s[p.i:]) || loose.has(p.s[p.i]))
		p.octet()
	}
	if clean {
		return p.s[start:p.i]
	}
	return string(appendEncoded(nil, p.s[start:p.i], c|loose))
}

// plain moves past octets of class c. It reports whether the component must end there, because neither
// an escape nor a tolerated octet can follow.
func (p *parser) plain(c class) bool {
	s, i := p.s, p.i
	for i < len(s) && c.has(s[i]) {
		i++
	}
	p.i = i
	return i == len(s) || p.tol == 0 && s[i] != '%'
}

// more reports whether an escape or a tolerated octet comes next.
func (p *parser) more(loose class) bool {
	return p.i < len(p.s) && (isEscape(p.s[p.i:]) || p.toleratesOctet(p.s[p.i], loose))
}

// octet moves past an escape or an octet, and returns the decoded octet.
func (p *parser) octet() byte {
	if isEscape(p.s[p.i:]) {
		p.i += 3
		return unhex(p.s[p.i-2])<<4 | unhex(p.s[p.i-1])
	}
	p.i++
	return p.s[p.i-1]
}

// toleratesOctet reports whether an octet that the grammar refuses is tolerated, and records the departure.
func (p *parser) toleratesOctet(octet byte, loose class) bool {
	var t Tolerance
	switch {
	case p.tol == 0:
		return false
	case octet == '%':
		t = StrayPercent
	case unsafe.has(octet):
		t = UnsafeOctets
	case loose.has(octet):
		t = ReservedOctets
	}
	return p.tolerate(t)
}

// tolerate reports whether p accepts departure t, and records that it was needed.
func (p *parser) tolerate(t Tolerance) bool {
	t &= p.tol
	p.used |= t
	return t != 0
}

// next reports whether octet c comes next, and moves past it.
func (p *parser) next(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

// expect moves past octet c, which must come next.
func (p *parser) expect(c byte, section, missing string) {
	if !p.next(c) {
		p.unexpected(section, missing)
	}
}

// end fails if the text does not end here.
func (p *parser) end(section string) {
	if p.i < len(p.s) {
		p.unexpected(section, "")
	}
}

// unexpected fails because of the next octet. If the text ends here, missing is the message.
func (p *parser) unexpected(section, missing string) {
	if p.i >= len(p.s) {
		p.fail(p.i, section, missing)
		return
	}
	switch c := p.s[p.i]; {
	case isEscape(p.s[p.i:]):
		p.fail(p.i, section, "an escape is not allowed here")
	case c == '%':
		p.fail(p.i, "2.2", `"%" must be followed by two hexadecimal digits`)
	case c == '#':
		p.fail(p.i, "2.2", `"#" is not part of a URL, or must be encoded as %23`)
	case c <= ' ' || c == '"' || c >= 0x7F:
		p.fail(p.i, "2.2", "byte "+hex(c)+" must be encoded as %"+hex(c))
	case xchar.has(c) && missing != "":
		p.fail(p.i, section, missing)
	case reserved.has(c):
		p.fail(p.i, section, `"`+string(rune(c))+`" is reserved; here it must be encoded as %`+hex(c)+` or left out`)
	case xchar.has(c):
		p.fail(p.i, section, `"`+string(rune(c))+`" is not allowed here`)
	default:
		p.fail(p.i, "2.2", `"`+string(rune(c))+`" must be encoded as %`+hex(c))
	}
}

// fail records the first failure, and ends the parsing.
func (p *parser) fail(offset int, section, msg string) {
	if p.bad.msg == "" {
		p.bad = failure{offset, section, msg}
	}
	p.i = len(p.s)
}

func hex(octet byte) string { return string(appendEscape(nil, octet)[1:]) }
