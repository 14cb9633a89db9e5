package fetch

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// EncodedControl is a delimiter of the protocol hidden in a component of a
// locator. Sent as it is it would end the command and begin another: RFC 1738
// §6 warns of that.
type EncodedControl struct {
	Scheme    string
	Component string
	Octet     byte
	Offset    int // in the canonical URL
}

func (e *EncodedControl) Error() string {
	return fmt.Sprintf("encoded %s (%%%02X) in %s %s at offset %d", octetName(e.Octet), e.Octet, e.Scheme, e.Component, e.Offset)
}

func octetName(c byte) string {
	switch c {
	case 0:
		return "NUL"
	case '\t':
		return "TAB"
	case '\n':
		return "LF"
	case '\r':
		return "CR"
	case ' ':
		return "space"
	case 0xFF:
		return "IAC"
	}
	return fmt.Sprintf("%q", c)
}

// The octets that end a command, a field or a word in the line protocols.
const (
	lineEnds = "\x00\r\n"
	fieldEnd = lineEnds + "\t"
	wordEnd  = fieldEnd + " "
)

// The octets that cannot stand raw in a host or in what HTTP sends encoded. A
// parsed Locator has none of them; one made by hand may.
const (
	unsafe  = "\x00\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f "
	hostEnd = unsafe + `/\?#@`
)

// CheckOctets refuses a Locator with an octet that its protocol cannot carry in
// that place. Every Fetcher calls it before anything else; nothing is looked up
// or dialled for a locator that fails. The error is an *[Error] of kind
// [BadURL] around an *[EncodedControl].
func CheckOctets(l locator.Locator) error {
	c := octetCheck{l: l}
	if s, ok := locator.ServerOf(l); ok {
		c.component("host", s.Host, hostEnd)
	}
	switch l := l.(type) {
	case *locator.FTP:
		c.login(l.Login, lineEnds)
		for _, dir := range l.CWD {
			c.component("path", dir, lineEnds)
		}
		c.component("path", l.Name, lineEnds)
	case *locator.Telnet:
		c.login(l.Login, lineEnds+"\xff")
	case *locator.HTTP:
		c.login(l.Login, lineEnds)
		c.component("path", l.Path, unsafe)
		c.component("search", l.Search, unsafe)
	case *locator.Gopher:
		c.component("type", string([]byte{l.Type}), fieldEnd)
		c.component("selector", l.Selector, fieldEnd)
		c.component("search", l.Search, fieldEnd)
		c.gopherPlus(l.Plus)
	case *locator.News:
		c.component("group", l.Group, wordEnd+`*?[]\,!`)
		c.component("message-id", l.MessageID, wordEnd+"<>")
	case *locator.NNTP:
		c.component("group", l.Group, wordEnd+`*?[]\,!`)
		c.component("article", l.Article, wordEnd)
	case *locator.WAIS:
		c.component("database", l.Database, lineEnds)
	case *locator.Prospero:
		c.component("hsoname", l.HSOName, lineEnds)
		for _, f := range l.Fields {
			c.component("field", f.Name, lineEnds)
			c.component("field", f.Value, lineEnds)
		}
	case *locator.Mailto:
		c.component("address", l.Address, lineEnds)
		for _, f := range l.Headers {
			c.component("header", f.Name, lineEnds)
			if strings.EqualFold(f.Name, "body") {
				c.component("body", f.Value, "\x00") // lines are what it consists of
			} else {
				c.component("header", f.Value, lineEnds)
			}
		}
	case *locator.File:
		for _, s := range l.Segments {
			c.component("path", s, "\x00/")
		}
	}
	return c.err
}

// octetCheck collects the first finding.
type octetCheck struct {
	l   locator.Locator
	err error
}

func (c *octetCheck) login(login *locator.Login, bad string) {
	if login != nil {
		c.component("user", login.User, bad)
		c.component("password", login.Password, bad)
	}
}

func (c *octetCheck) component(name, s, bad string) {
	for i := range len(s) {
		if strings.IndexByte(bad, s[i]) >= 0 {
			c.refuse(name, s[i])
			return
		}
	}
}

func (c *octetCheck) refuse(component string, octet byte) {
	if c.err != nil {
		return
	}
	url := c.l.String()
	offset := strings.Index(url, fmt.Sprintf("%%%02X", octet))
	if offset < 0 {
		offset = strings.IndexByte(url, octet)
	}
	c.err = &Error{Op: OpCheck, URL: c.l.Redacted(), Kind: BadURL, Section: "6", Err: &EncodedControl{
		Scheme: c.l.Scheme(), Component: component, Octet: octet, Offset: offset,
	}}
}

// gopherPlus lets line ends through only in a filled form, "+view TAB 1 CR LF
// +-1 CR LF values . CR LF" (§3.4.9), where they are what is meant.
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
