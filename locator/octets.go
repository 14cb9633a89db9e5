package locator

import (
	"fmt"
	"strings"
)

// EncodedControl is the error for a delimiter of the protocol, such as a line end, that is encoded in
// a component of a URL. If it were sent, it would end the command and start another one; RFC 1738 §6
// warns of that.
type EncodedControl struct {
	Scheme    string
	Component string
	Octet     byte
	Offset    int // in the canonical URL (Locator.String)
}

func (e *EncodedControl) Error() string {
	return fmt.Sprintf("encoded %s (%%%02X) in %s %s at offset %d", octetName(e.Octet), e.Octet, e.Scheme, e.Component, e.Offset)
}

var octetNames = [256]string{0: "NUL", '\t': "TAB", '\n': "LF", '\r': "CR", ' ': "space", 0xFF: "IAC"}

func octetName(c byte) string {
	if name := octetNames[c]; name != "" {
		return name
	}
	return fmt.Sprintf("%q", c)
}

// The octets that end a command, a field or a word in the line protocols.
const (
	lineEnds = "\x00\r\n"
	fieldEnd = lineEnds + "\t"
	wordEnd  = fieldEnd + " "
	groupEnd = wordEnd + `*?[]\,!`
)

// The octets that must not be raw in a host, or in the path and search of HTTP. A parsed Locator never
// has them; a literal may.
const (
	controls = "\x00\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f "
	hostEnd  = controls + `/\?#@`
)

// FindControl returns the first octet in l that its protocol cannot carry in that place, such as an
// encoded line end, or nil.
func FindControl(l Locator) *EncodedControl {
	c := octetCheck{l: l}
	if s, ok := l.server(); ok {
		c.component("host", s.Host, hostEnd)
	}
	l.check(&c)
	return c.found
}

// octetCheck keeps the first error that it finds.
type octetCheck struct {
	l     Locator
	found *EncodedControl
}

// login checks user and password for the octets in bad.
func (c *octetCheck) login(login *Login, bad string) {
	if login != nil {
		c.component("user", login.User, bad)
		c.component("password", login.Password, bad)
	}
}

// component checks a component for the octets in bad.
func (c *octetCheck) component(name, s, bad string) {
	for i := range len(s) {
		if strings.IndexByte(bad, s[i]) >= 0 {
			c.refuse(name, s[i])
			return
		}
	}
}

// refuse records the first octet that is refused, with its offset in the URL.
func (c *octetCheck) refuse(component string, octet byte) {
	if c.found != nil {
		return
	}
	url := c.l.String()
	offset := strings.Index(url, fmt.Sprintf("%%%02X", octet))
	if offset < 0 {
		offset = strings.IndexByte(url, octet)
	}
	c.found = &EncodedControl{Scheme: c.l.Scheme(), Component: component, Octet: octet, Offset: offset}
}

// gopherPlus accepts line ends only in a filled form, "+view TAB 1 CR LF +-1 CR LF values . CR LF"
// (§3.4.9), where they belong.
func (c *octetCheck) gopherPlus(plus string) {
	view, form, filled := strings.Cut(plus, "\t1\r\n+-1\r\n")
	if !filled {
		c.component("Gopher+ string", plus, fieldEnd)
		return
	}
	c.component("Gopher+ string", view, fieldEnd)
	values, ended := strings.CutSuffix("\r\n"+form, "\r\n.\r\n")
	if !ended {
		c.refuse("Gopher+ form without its final dot", '\r')
		return
	}
	for line := range strings.SplitSeq(values, "\r\n") {
		c.component("Gopher+ form", line, lineEnds)
		if line == "." {
			c.refuse("Gopher+ form after its final dot", '\r')
		}
	}
}
