package ftp

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// iac is the Telnet control byte, such as the letter я of CP1251. It is doubled on a control
// connection, because that is a Telnet connection (RFC 959 §3.3, RFC 854). But most servers do not
// implement Telnet and take a doubled one for two bytes. The others take a single one, and what
// follows it, out of the name, which may be that of another file then. So no form can be tried: the
// server is asked before the first name with this byte is sent.
const iac = "\xff"

// iacQuestion is IAC DONT ECHO and a command without effect. A server that implements Telnet takes
// the first out, and most reply to it, too. Others reply that they do not know the command, or
// nothing.
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

// mustFind reports whether name has to be looked for after its creation: it has IAC bytes, and it is
// not known whether the server keeps them. Listings often leave out names with a leading dot.
func (s *session) mustFind(name string) bool {
	return strings.Contains(name, iac) && !strings.HasPrefix(path.Base(name), ".") && !s.keepsIAC && (s.ctl.bareIAC || !s.ctl.knowsIAC)
}

// checkCreated checks that a file or directory has been created under its name: servers that take
// names for UTF-8 replace IAC bytes. A directory that cannot be listed shows nothing.
func (s *session) checkCreated(name string) error {
	if !s.mustFind(name) {
		return nil
	}
	found, others, err := s.findName(name)
	s.keepsIAC = found
	switch {
	case err != nil && !refusal(err):
		return err
	case err != nil || found || !others:
		return nil
	}
	err = fmt.Errorf("the listing of the server does not have %q, which it has just created: it may replace the byte FF in names", name)
	return s.failure(&fetch.Error{Op: s.access.verb, Kind: fetch.ErrProtocol, Err: err})
}

// findName reports whether the current directory contains name, and whether it contains others.
func (s *session) findName(name string) (found, others bool, err error) {
	err = s.transfer("NLST", func() (err error) {
		s.last, err = s.conn.RetrFrom("", 0)
		return err
	})
	if err != nil {
		return false, false, err
	}
	base := path.Base(name)
	lines := wire.NewLineReader(s.data, s.access.limits.Line)
	for {
		line, err := lines.ReadLine()
		if err == io.EOF {
			return found, others, s.finish(false)
		}
		if err != nil {
			return false, false, s.failure(err)
		}
		line = wire.TrimEOL(line)
		if string(line[bytes.LastIndexByte(line, '/')+1:]) == base {
			found = true
		} else {
			others = true
		}
	}
}
