package ftp

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// iac is the Telnet control byte, such as the letter я of CP1251. It is doubled on a control
// connection, because that is a Telnet connection (RFC 959 §3.3, RFC 854). But most servers do not
// implement Telnet and take a doubled one for two bytes. The others (ProFTPD, GNU inetutils) take a
// single one, and what follows it, out of the name, which may be that of another file then. So no
// form can be tried, and no greeting shows which one is right: the server is asked first.
const iac = "\xff"

// iacQuestion is IAC DONT ECHO and a command without effect. A server that implements Telnet takes
// the first out, and most reply to it, too. Others reply that they do not know the command, or
// nothing. IAC NOP does not do it: ProFTPD replies 500 to it.
const iacQuestion = iac + "\xfe\x01NOOP"

// doubleIAC doubles each byte 255 of a name, which the Telnet protocol reads as IAC.
func doubleIAC(name string) string { return strings.ReplaceAll(name, iac, iac+iac) }

// learnIAC asks the server whether it implements Telnet, if a line has an IAC byte and that is not
// known yet.
func (c *control) learnIAC(lines ...string) error {
	if c.knowsIAC || !strings.Contains(strings.Join(lines, ""), iac) {
		return nil
	}
	r, err := c.askIAC()
	if err != nil {
		return err
	}
	if !c.knowsIAC { // no Telnet command precedes the reply
		c.bareIAC, c.knowsIAC = r.Class() != 2, true
	}
	return nil
}

// askIAC sends iacQuestion and returns the reply, or the zero Reply if the server ignores it. Such a
// server replies to the probe.
func (c *control) askIAC() (r talk.Reply, err error) {
	if err := c.prepare("NOOP"); err != nil {
		return r, err
	}
	if err := c.Send(iacQuestion); err != nil || c.awaitReply() {
		return c.receive() // which fails if Send has failed
	}
	if err := c.Send(probe); err != nil {
		return r, err
	}
	first, err := c.receive()
	if err != nil || first.Code == systemType || first.Class() >= 4 && !c.awaitReply() {
		return r, err
	}
	_, err = c.receive() // the server is slow: this is the reply to the probe
	return first, err
}
