package locator

import (
	"slices"
	"strings"
)

// Mailto is a mailto URL (§3.5).
type Mailto struct {
	// Address is the decoded RFC 822 addr-spec. String encodes a "?" in it if the text after it could
	// be read as Headers.
	Address string
	// Headers are the header fields of a message, and its "body", after a "?" (RFC 6068). They are
	// not part of §3.5: they are read if [MailHeaders] is tolerated. Address may then be empty.
	Headers []Field
}

// Scheme implements [Locator].
func (*Mailto) Scheme() string { return "mailto" }

// The parts of a mailto URL with headers. Reading accepts more unencoded octets than String writes.
const (
	mailAddress = xchar &^ question
	mailName    = mailAddress &^ (ampersand | equals)
	mailValue   = xchar &^ ampersand
	mailField   = unreserved | semicolon | colon | at
)

// String implements [Locator].
func (l *Mailto) String() string {
	b := append(make([]byte, 0, usualLength), "mailto:"...)
	address := xchar
	if _, rest, ok := strings.Cut(l.Address, "?"); ok && (len(l.Headers) > 0 || areMailFields(rest)) {
		address = mailAddress
	}
	b = appendDecoded(b, l.Address, address)
	sep := byte('?')
	for _, f := range l.Headers {
		b = append(b, sep)
		b = appendDecoded(b, f.Name, mailField)
		b = append(b, '=')
		b = appendDecoded(b, f.Value, mailField)
		sep = '&'
	}
	return string(b)
}

// Redacted implements [Locator]. It is String, because the URL has no password.
func (l *Mailto) Redacted() string { return l.String() }

func (*Mailto) server() (s Server, ok bool) { return }

func (*Mailto) withLogin(*Login) Locator { return nil }

func (l *Mailto) equal(b Locator) bool {
	return equalAs(l, b, func(a, b *Mailto) bool { return a.Address == b.Address && slices.Equal(a.Headers, b.Headers) })
}

func (l *Mailto) check(c *octetCheck) {
	c.component("address", l.Address, lineEnds)
	for _, f := range l.Headers {
		c.component("header", f.Name, lineEnds)
		if strings.EqualFold(f.Name, "body") {
			c.component("body", f.Value, "\x00") // it may have several lines
		} else {
			c.component("header", f.Value, lineEnds)
		}
	}
}

// mailto reads "encoded822addr". It does not check the grammar of RFC 822, because §5 allows every
// text that is not empty.
func (p *parser) mailto() Locator {
	start := p.i
	l := new(Mailto)
	if q := strings.IndexByte(p.s[start:], '?'); q >= 0 && areMailFields(p.s[start+q+1:]) && p.tolerate(MailHeaders) {
		l.Address = p.text(mailAddress, 0)
		p.expect('?', "3.5", "")
		l.Headers = p.mailFields()
	} else if l.Address = p.text(xchar, 0); p.i == start {
		p.unexpected("3.5", "the mail address is missing")
	}
	p.end("3.5")
	return l
}

// mailFields reads "name '=' value *[ '&' name '=' value ]".
func (p *parser) mailFields() (fields []Field) {
	for p.i < len(p.s) {
		if p.next('&') {
			continue
		}
		f := Field{Name: p.text(mailName, 0)}
		p.expect('=', "3.5", `"=" and a value must follow the name of a field`)
		f.Value = p.text(mailValue, 0)
		fields = append(fields, f)
		if p.i < len(p.s) && p.s[p.i] != '&' {
			break
		}
	}
	return fields
}

// areMailFields reports whether s, the text after a "?", is fields of RFC 6068 and not part of an
// address.
func areMailFields(s string) bool {
	some := false
	for field := range strings.SplitSeq(s, "&") {
		equals := strings.IndexByte(field, '=') >= 0
		if field != "" && !equals {
			return false
		}
		some = some || equals
	}
	return some
}
