package ftp

import (
	"github.com/fetch1738/fetch1738/internal/wire"
)

// What is sent without waiting for a reply:
//
//   - PWD and TYPE, in one packet. A session in which both were answered is proven; in others,
//     commands are sent one at a time.
//   - The commands of an access before its transfer. The last of them requests the port, because
//     some servers (Twisted) do nothing else until the client has connected to it. If the
//     session is in place and the data connection is open, they end in RETR.
//   - The request for the port of the next transfer, when the data of this one has ended, if
//     another transfer is sure to follow: inetutils, goftp and ftp-srv never close an unused port.
//
// Nothing is sent between the command of a transfer and the end of its data: pyftpdlib, ftp-srv and
// Pure-FTPd lose it, or end the transfer, which then looks complete. Servers that are recognized by
// their greeting also get commands together with PASS, and a few of them the request for the next
// port together with RETR (see serverPrograms).
//
// The command of a transfer waits for the replies to CWD and TYPE, because they decide what it
// would transfer. STOR waits for all replies, but not for the data connection; APPE and raw
// commands wait for all. The commands of Edit, which have no data, are sent together.

// startAccess starts an access on a session: it connects to the port that was requested with the
// previous transfer. If names may be beyond ASCII, the reply to FEAT decides what is sent before them;
// only the programs of serverPrograms are known to bear both.
func (s *session) startAccess() error {
	if s.used {
		if err := (connector{s}).readPending(); err != nil {
			return s.failure(err)
		}
	}
	if s.planned || !s.pipelines() {
		s.planned = false
		return nil
	}
	if s.access.utf8 && s.program.has == nil {
		_, err := s.features()
		return err
	}
	return nil
}

// readPending reads the replies that the previous access has not read. If that access requested a
// port, the session connects to it before anything else is sent.
func (c connector) readPending() error {
	if c.data != nil && c.data.state == dataOpen && wire.Readable(c.data.raw) { // closed by the server
		c.dropData()
	}
	c.openNextPort()
	for _, sent := range c.ctl.queued {
		switch verbOf(sent.line) {
		case "CWD":
			c.dirUnknown = true
		case "TYPE":
			c.typ = 0
		}
	}
	err := c.ctl.drain()
	c.ctl.queued = c.ctl.queued[:0]
	return err
}

// openNextPort reads the reply to the request for the next port, if there was one, and connects to
// the port. If that fails, the access requests another one.
func (c connector) openNextPort() {
	if !c.ctl.isNext(c.passiveCommand()) || len(c.ctl.queued) != 1 {
		return
	}
	c.ctl.replied = true // the connection was alive when the port was requested
	port, err := c.requestPort()
	if err != nil { // a broken connection is reported by the next command
		c.recordLoss()
		return
	}
	d := &dataConn{port: port, origin: requested, idle: c.access.limits.Idle}
	if stor := c.connectsLater(c.access.verb) && commands(c).isPrepared(); !stor && c.connectData(d) != nil {
		return
	}
	c.dropData()
	c.data = d
}
