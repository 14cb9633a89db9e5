package ftp

import (
	"errors"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// A queue holds pipelined commands: commands that were sent before the replies to earlier ones had
// been read (RFC 959 does not limit their number). When the access reaches such a command, it is
// not sent again, and the next reply is taken as the reply to it. A server without support for
// pipelining loses such commands, replies out of order or closes the connection. The replies show
// this, because the queue checks the code of each against its command.
type queue struct {
	queued           []pipelined
	isPipelined      bool        // the current command was pipelined
	early            *talk.Reply // the reply to it, if already read
	probed           bool        // the probe has been sent
	replied          bool        // the server has sent a reply in this access
	pipeliningFailed bool        // the server does not support pipelining
	unclear          bool        // a reply had no clear end (talk.Reply.First): nothing is pipelined any more
	lateCode         int         // the code with which that reply may still end; 0 once another one has come
}

// pipelined holds a pipelined command and the reply to it.
type pipelined struct {
	line  string
	reply *talk.Reply // nil until it has been read
}

// isNext reports whether line is the next pipelined command.
func (q *queue) isNext(line string) bool { return len(q.queued) > 0 && q.queued[0].line == line }

// dequeue makes the next pipelined command the current one.
func (c *control) dequeue() {
	c.isPipelined, c.early, c.verb = true, c.queued[0].reply, verbOf(c.queued[0].line)
	c.queued = slices.Delete(c.queued, 0, 1)
}

// sendAll sends lines in one write. ahead holds the last of them, which are pipelined.
func (c *control) sendAll(lines, ahead []string) error {
	for _, line := range ahead {
		c.queued = append(c.queued, pipelined{line: line})
	}
	if !c.bareIAC {
		for i, line := range lines {
			lines[i] = doubleIAC(line)
		}
	}
	return c.Send(lines...)
}

// sendPipelined sends pipelined commands. If none may be sent, they are sent when their turn comes.
func (c *control) sendPipelined(lines []string) error {
	if len(lines) == 0 || c.Err != nil || c.unclear {
		return c.Err
	}
	if err := c.learnIAC(lines...); err != nil {
		return err
	}
	return c.sendAll(lines, lines)
}

// pending reports whether replies to pipelined commands have not been read yet.
func (q *queue) pending() bool { return len(q.queued) > 0 && q.queued[len(q.queued)-1].reply == nil }

// drain reads the replies to all pipelined commands before another command is sent. It keeps the
// positive ones up to a refusal: the access may still reach their commands. Later ones may be about
// another directory than the access expects.
func (c *control) drain() error {
	verb, kept := c.verb, []pipelined(nil)
	for positive := true; len(c.queued) > 0; {
		next := c.queued[0]
		c.dequeue()
		r, err := c.receiveAny()
		if err != nil {
			return err
		}
		if r.Code == systemType && !c.isProbe() {
			return c.failPipelining(r)
		}
		if positive = positive && r.Class() == 2 && !c.isProbe(); positive {
			kept = append(kept, pipelined{next.line, &r})
		}
	}
	c.queued, c.verb, c.isPipelined, c.probed = append(c.queued, kept...), verb, false, false
	return nil
}

// reply returns the reply to the current command. If a reply had no clear end, what comes after it could
// be a part of it. So pipelining fails if other replies were awaited, and a reply with the code that
// the one before should have ended with is not taken for another one.
func (c *control) reply() (r talk.Reply, err error) {
	if c.early != nil {
		r, c.early = *c.early, nil
		return r, nil
	}
	if c.isPipelined || c.phase == transferring && c.pending() {
		c.awaitOrProbe()
	}
	late := c.lateCode
	if r, err = c.Reply(); err == nil {
		c.replied, c.lateCode, c.unclear = true, r.First, c.unclear || r.First != 0
		switch {
		case r.First != 0 && (c.isPipelined || c.pending()):
			return r, c.failPipelining(r)
		case late != 0 && r.Code == late:
			return r, c.Fail(talk.Violation(r.Text, "it is not clear whether this reply belongs to the command before"))
		}
		return r, nil
	}
	switch kind := fetch.KindOf(err); {
	case !c.replied: // the connection may have been dead before: pipelining is not the cause
	case kind == fetch.ErrTimeout:
		c.pipeliningFailed = c.isPipelined
	case kind != fetch.ErrCanceled && kind != fetch.ErrProtocol:
		c.pipeliningFailed = c.isPipelined || c.pending()
	}
	return r, err
}

// probeAfter is how long a reply may take before the probe is sent.
const probeAfter = 2 * time.Second

// The probe is SYST, because no other command has the same reply code.
const (
	probe      = "SYST"
	systemType = 215
)

// isProbe reports whether the probe is the current command.
func (c *control) isProbe() bool { return string(c.verb) == probe }

// replyTimeout returns how long the reply to a pipelined command may take before it is in doubt.
func (c *control) replyTimeout() time.Duration {
	if reply := c.Limits.Reply; reply > 0 {
		return min(probeAfter, reply/2)
	}
	return probeAfter
}

// awaitReply waits for a reply, and reports whether one has begun before it is in doubt.
func (c *control) awaitReply() bool { return c.Await(c.replyTimeout()) }

// transferSent reports whether a transfer may have begun whose preliminary reply has not been read.
func (c *control) transferSent() bool {
	return isTransfer(c.verb) && c.phase != transferring ||
		slices.ContainsFunc(c.queued, func(p pipelined) bool { return isTransfer(verbOf(p.line)) })
}

// awaitOrProbe waits for the reply to a pipelined command. If it is in doubt, it sends SYST. A
// server that has lost the command replies to SYST; a slow server replies to the command first. No
// probe is sent during a transfer.
func (c *control) awaitOrProbe() {
	if c.probed || c.transferSent() || c.awaitReply() {
		return
	}
	c.probed = true
	_ = c.sendPipelined([]string{probe}) // if this fails, so does reading the reply
}

// match returns the reply to the current command, given a reply r that came while
// pipelined commands were pending. If r does not match, it ends the connection, because
// replies can no longer be assigned to commands.
func (c *control) match(r talk.Reply) (talk.Reply, error) {
	switch wasPipelined := c.isPipelined; {
	case isTransfer(c.verb) && (isResult(r) || c.phase == transferring && c.pending() && r.Class() != 2):
		return r, c.failPipelining(r)
	case wasPipelined && !c.canBeReply(r):
		return r, c.failPipelining(r)
	case c.verb == "PASS" && r.Class() >= 4 && c.pending() && !c.refusesLogin(r):
		return r, c.failPipelining(r)
	}
	if isTransfer(c.verb) {
		c.isPipelined = false // that the server does not reply at once says nothing from now on
	}
	return r, nil
}

// refusesLogin reports whether the negative reply r to PASS refuses the login. A server may
// have taken the whole packet for one command that it does not know, or the other commands
// for a part of the password. Then there is no reply to them.
func (c *control) refusesLogin(r talk.Reply) bool {
	return (r.Code < 500 || r.Code > 502) && c.awaitReply()
}

// codes are the codes of replies with a result. They identify the command, but for 213 and 257,
// which several share.
var codes = map[fetch.Op]int{
	"PWD": 257, "EPSV": 229, "PASV": 227, "SIZE": 213, "MDTM": 213, "MFMT": 213, "FEAT": 211,
	"MKD": 257,
}

// isResult reports whether r is the reply to the probe or to a command of codes, and so not to a
// transfer.
func isResult(r talk.Reply) bool {
	for _, code := range codes {
		if r.Code == code {
			return true
		}
	}
	return r.Code == systemType
}

// canBeReply reports whether r can be the reply to the current command.
func (c *control) canBeReply(r talk.Reply) bool {
	want := codes[c.verb]
	switch class := r.Class(); {
	case c.isProbe() || r.Code == systemType:
		return c.isProbe()
	case class == 1:
		return isTransfer(c.verb)
	case class == 2 && want != 0:
		return r.Code == want
	case class == 3:
		return c.verb == "RNFR"
	case class == 2:
		return !isResult(r)
	case class >= 4 && c.probed:
		return r.Code < 500 || r.Code > 502 // of a server that does not support SYST
	}
	return r.Class() >= 4 && !(c.verb == "TYPE" && r.Code%100 == 50) // x50 is about a file
}

// failPipelining ends the connection to a server that does not support pipelining.
func (c *control) failPipelining(r talk.Reply) error {
	c.pipeliningFailed = true
	return c.Fail(&fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: errPipelining})
}

var errPipelining = errors.New("unexpected reply to a pipelined command")
