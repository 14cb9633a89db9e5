package ftp

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A control is the control connection. It sends commands and reads replies, within limits of length and
// time.
type control struct {
	queue
	greeting  string
	welcome   string // the reply 230 to the login
	message   string // the reply to the last CWD
	announced int64  // the size in the preliminary reply, or -1
	rest      int64  // what follows, by the same reply, within kbytesPrecision; or -1
	began     bool   // the access has changed something, or a transfer has started
	knowsIAC  bool   // bareIAC is known to be right
	requested bool   // a transfer has been requested on this connection
}

func newControl(ctx context.Context, raw net.Conn, limits fetch.Limits, trace *fetch.Trace) *control {
	c := &control{queue: queue{Talk: talk.New(ctx, raw, "FTP", 4<<10, limits, trace), verb: fetch.OpConnect}, announced: -1}
	c.Telnet, c.Lenient = func() { c.bareIAC, c.knowsIAC = false, true }, true
	return c
}

// send sends a command, unless it has been pipelined already. The commands in ahead are
// pipelined after it.
func (c *control) send(line string, ahead ...string) error {
	switch {
	case c.Err != nil:
		return c.Err
	case c.isNext(line):
		c.dequeue()
		return nil
	}
	if c.phase != loggingIn { // see login.perform
		if err := c.learnIAC(line); err != nil {
			return err
		}
	}
	if err := c.makeCurrent(line); err != nil {
		return err
	}
	if c.unclear {
		ahead = nil
	}
	return c.sendAll(append([]string{line}, ahead...), ahead)
}

// sendPipelined sends pipelined commands.
func (c *control) sendPipelined(lines []string) error {
	if c.Err == nil && !c.unclear {
		if err := c.learnIAC(lines...); err != nil {
			return err
		}
	}
	return c.enqueue(lines...)
}

// makeCurrent makes line the current command, which is not pipelined.
func (c *control) makeCurrent(line string) error {
	if err := c.drain(); err != nil {
		return err
	}
	if err := c.checkUnsolicited(); err != nil {
		return err
	}
	c.isPipelined, c.verb = false, verbOf(line)
	return nil
}

// checkUnsolicited fails if a reply has arrived before its command was sent (CVE-2021-22947). Only
// 421, which announces that the server closes the connection, may come without a command.
func (c *control) checkUnsolicited() error {
	if !c.Waiting() {
		return nil
	}
	r, err := c.receive()
	if err != nil {
		return err
	}
	return c.Fail(talk.Violation(r.Text, "unsolicited reply"))
}

// maxPreliminary is the maximum number of 1yz replies in a row.
const maxPreliminary = 16

// receiveFinal reads replies until one is not preliminary.
func (c *control) receiveFinal() (talk.Reply, error) {
	for range maxPreliminary {
		if r, err := c.receive(); err != nil || r.Class() != 1 {
			return r, err
		}
	}
	return talk.Reply{}, c.Fail(talk.Violation(c.last.Text, "too many preliminary replies"))
}

// exchange sends a command and returns the final reply.
func (c *control) exchange(line string) (talk.Reply, error) {
	if err := c.send(line); err != nil {
		return talk.Reply{}, err
	}
	return c.receiveFinal()
}

// ask is like exchange, for a command without preliminary replies. The commands in ahead are pipelined
// after it.
func (c *control) ask(line string, ahead ...string) (talk.Reply, error) {
	if err := c.send(line, ahead...); err != nil {
		return talk.Reply{}, err
	}
	return c.receive()
}

// errRefused stands for the latest reply, which is negative.
var errRefused = errors.New("the server has refused the command")

// expect returns the error of a reply that is not the expected one: err, or errRefused. A reply that is
// no refusal either makes the connection unusable.
func (c *control) expect(r talk.Reply, expected bool, err error) error {
	switch {
	case err != nil || expected:
		return err
	case r.Class() >= 4:
		return errRefused
	}
	return c.Fail(c.unexpected(r))
}

// unexpected returns the error for a reply that does not fit the command.
func (c *control) unexpected(r talk.Reply) error {
	return &fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: errors.New(talk.Unexpected(c.verb))}
}

// completes reports whether r is the positive reply to a command without a result. Servers use various
// codes, but not those for the results of other commands: such a reply came too late or too early. 257
// may as well name the directory of a CWD. 226 is the end of a transfer, once one was requested: a
// server may have performed it although it has refused it.
func (c *control) completes(r talk.Reply) bool {
	if r.Code == 226 && (c.requested || c.transferSent()) {
		return false
	}
	return r.Class() == 2 && (!isResult(r) || r.Code == 257)
}

// beginTransfer reads the first reply to the command of a transfer. For a small file, some servers send
// only the final reply. name is that of the file.
func (c *control) beginTransfer(name string) error {
	c.requested = true
	r, err := c.receive()
	if err := c.expect(r, r.Class() <= 2, err); err != nil {
		return err
	}
	c.began = true
	c.announced, c.rest = announcedSize(r.Text, name), announcedRest(r.Text)
	c.phase = transferring
	if r.Class() == 2 {
		c.phase = transferred
	}
	return nil
}

// endTransfer reads the final reply to the transfer that is under way.
func (c *control) endTransfer() error {
	if c.phase == transferred {
		c.phase = commanding
		return nil
	}
	r, err := c.receive()
	if err = c.expect(r, r.Class() == 2 && !isResult(r), err); c.Err == nil {
		c.phase = commanding
	}
	return err
}

// lookTime is how long isOver waits for a reply that may have arrived: under TLS, where package tls
// may have it, and on systems that cannot tell.
const lookTime = time.Millisecond

// The first digits of final replies.
const (
	negative = "345"
	anyFinal = "2345"
)

// isOver reports whether the final reply to the transfer that is under way has arrived and begins with
// one of digits, or the connection has ended. It reads no reply: with a positive one, data may still
// come, and the other one is read at the end of the data.
func (c *control) isOver(digits string) bool {
	quiet := c.TLS == nil && c.Lines.Buffered() == 0 && wire.Silent(c.Raw)
	if c.phase != transferring || quiet || !c.Await(lookTime) {
		return false
	}
	waiting := c.Lines.Waiting()
	return len(waiting) == 0 || strings.IndexByte(digits, waiting[0]) >= 0
}

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
	if err := c.makeCurrent("NOOP"); err != nil {
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
