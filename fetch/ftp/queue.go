package ftp

import (
	"errors"
	"slices"
	"strings"
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
	*talk.Talk
	verb             fetch.Op   // of the current command: the operation of an error
	last             talk.Reply // the latest reply
	phase            phase
	bareIAC          bool // the server takes IAC for an octet like any other
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

// A phase is what the next reply belongs to.
type phase uint8

const (
	loggingIn    phase = iota // the greeting, or a command of the login
	commanding                // a command
	transferring              // the end of a transfer
	transferred               // nothing: the final reply came instead of the preliminary one
)

// isNext reports whether line is the next pipelined command.
func (q *queue) isNext(line string) bool { return len(q.queued) > 0 && q.queued[0].line == line }

// dequeue makes the next pipelined command the current one.
func (q *queue) dequeue() {
	q.isPipelined, q.early, q.verb = true, q.queued[0].reply, verbOf(q.queued[0].line)
	q.queued = slices.Delete(q.queued, 0, 1)
}

// sendAll sends lines in one write. ahead holds the last of them, which are pipelined.
func (q *queue) sendAll(lines, ahead []string) error {
	for _, line := range ahead {
		q.queued = append(q.queued, pipelined{line: line})
	}
	if !q.bareIAC {
		for i, line := range lines {
			lines[i] = doubleIAC(line)
		}
	}
	return q.Send(lines...)
}

// enqueue sends pipelined commands. If none may be sent, they are sent when their turn comes.
func (q *queue) enqueue(lines ...string) error {
	if len(lines) == 0 || q.Err != nil || q.unclear {
		return q.Err
	}
	return q.sendAll(lines, lines)
}

// pending reports whether replies to pipelined commands have not been read yet.
func (q *queue) pending() bool { return len(q.queued) > 0 && q.queued[len(q.queued)-1].reply == nil }

// drain reads the replies to all pipelined commands before another command is sent. It keeps the
// positive ones up to a refusal: the access may still reach their commands. Later ones may be about
// another directory than the access expects.
func (q *queue) drain() error {
	verb, kept := q.verb, []pipelined(nil)
	for positive := true; len(q.queued) > 0; {
		next := q.queued[0]
		q.dequeue()
		r, err := q.receiveAny()
		if err != nil {
			return err
		}
		if r.Code == systemType && !q.isProbe() {
			return q.failPipelining(r)
		}
		if positive = positive && r.Class() == 2 && !q.isProbe(); positive {
			kept = append(kept, pipelined{next.line, &r})
		}
	}
	q.queued, q.verb, q.isPipelined, q.probed = append(q.queued, kept...), verb, false, false
	return nil
}

// receive reads a reply. 421, or text that is not a reply, makes the connection unusable.
func (q *queue) receive() (talk.Reply, error) {
	r, err := q.receiveAny()
	if err != nil || len(q.queued) == 0 && !q.isPipelined {
		return r, err
	}
	return q.match(r)
}

// receiveAny reads a reply without matching it to the current command.
func (q *queue) receiveAny() (talk.Reply, error) {
	r, err := q.reply()
	if err != nil {
		return r, err
	}
	q.last = r
	if r.Code == 421 {
		return r, q.Fail(&fetch.Error{Op: q.verb, Kind: fetch.ErrBusy, Code: r.Code, Reply: r.Text})
	}
	return r, nil
}

// reply returns the reply to the current command. If a reply had no clear end, what comes after it could
// be a part of it. So pipelining fails if other replies were awaited, and a reply with the code that
// the one before should have ended with is not taken for another one.
func (q *queue) reply() (r talk.Reply, err error) {
	if q.early != nil {
		r, q.early = *q.early, nil
		return r, nil
	}
	if q.isPipelined || q.phase == transferring && q.pending() {
		q.awaitOrProbe()
	}
	late := q.lateCode
	if r, err = q.Reply(); err == nil {
		q.replied, q.lateCode, q.unclear = true, r.First, q.unclear || r.First != 0
		switch {
		case r.First != 0 && (q.isPipelined || q.pending()):
			return r, q.failPipelining(r)
		case late != 0 && r.Code == late:
			return r, q.Fail(talk.Violation(r.Text, "it is not clear whether this reply belongs to the command before"))
		}
		return r, nil
	}
	switch kind := fetch.KindOf(err); {
	case !q.replied: // the connection may have been dead before: pipelining is not the cause
	case kind == fetch.ErrTimeout:
		q.pipeliningFailed = q.isPipelined
	case kind != fetch.ErrCanceled && kind != fetch.ErrProtocol:
		q.pipeliningFailed = q.isPipelined || q.pending()
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
func (q *queue) isProbe() bool { return string(q.verb) == probe }

// replyTimeout returns how long the reply to a pipelined command may take before it is in doubt.
func (q *queue) replyTimeout() time.Duration {
	if reply := q.Limits.Reply; reply > 0 {
		return min(probeAfter, reply/2)
	}
	return probeAfter
}

// awaitReply waits for a reply, and reports whether one has begun before it is in doubt.
func (q *queue) awaitReply() bool { return q.Await(q.replyTimeout()) }

// transferSent reports whether a transfer may have begun whose preliminary reply has not been read.
func (q *queue) transferSent() bool {
	return isTransfer(q.verb) && q.phase != transferring ||
		slices.ContainsFunc(q.queued, func(p pipelined) bool { return isTransfer(verbOf(p.line)) })
}

// awaitOrProbe waits for the reply to a pipelined command. If it is in doubt, it sends SYST. A
// server that has lost the command replies to SYST; a slow server replies to the command first. No
// probe is sent during a transfer.
func (q *queue) awaitOrProbe() {
	if q.probed || q.transferSent() || q.awaitReply() {
		return
	}
	q.probed = true
	_ = q.enqueue(probe) // if this fails, so does reading the reply
}

// match returns the reply to the current command, given a reply r that came while
// pipelined commands were pending. If r does not match, it ends the connection, because
// replies can no longer be assigned to commands.
func (q *queue) match(r talk.Reply) (talk.Reply, error) {
	switch wasPipelined := q.isPipelined; {
	case isTransfer(q.verb) && (isResult(r) || q.phase == transferring && q.pending() && r.Class() != 2):
		return r, q.failPipelining(r)
	case wasPipelined && !q.canBeReply(r):
		return r, q.failPipelining(r)
	case q.verb == "PASS" && r.Class() >= 4 && q.pending() && !q.refusesLogin(r):
		return r, q.failPipelining(r)
	}
	if isTransfer(q.verb) {
		q.isPipelined = false // that the server does not reply at once says nothing from now on
	}
	return r, nil
}

// refusesLogin reports whether the negative reply r to PASS refuses the login. A server may
// have taken the whole packet for one command that it does not know, or the other commands
// for a part of the password. Then there is no reply to them.
func (q *queue) refusesLogin(r talk.Reply) bool {
	return (r.Code < 500 || r.Code > 502) && q.awaitReply()
}

// codes are the codes of replies with a result. They identify the command, but for 213 and 257,
// which several share.
var codes = map[fetch.Op]int{
	"PWD": 257, "EPSV": 229, "PASV": 227, "SIZE": 213, "MDTM": 213, "MFMT": 213, "FEAT": 211,
	"MKD": 257,
}

// verbOf returns the verb of a command line as an Op.
func verbOf(line string) fetch.Op {
	verb, _, _ := strings.Cut(line, " ")
	return fetch.Op(strings.ToUpper(verb))
}

func isTransfer(verb fetch.Op) bool {
	switch verb {
	case "RETR", "STOR", "APPE", "LIST", "NLST", "MLSD":
		return true
	}
	return false
}

func isUpload(verb fetch.Op) bool { return verb == "STOR" || verb == "APPE" }

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
func (q *queue) canBeReply(r talk.Reply) bool {
	want := codes[q.verb]
	switch class := r.Class(); {
	case q.isProbe() || r.Code == systemType:
		return q.isProbe()
	case class == 1:
		return isTransfer(q.verb)
	case class == 2 && want != 0:
		return r.Code == want
	case class == 3:
		return q.verb == "RNFR"
	case class == 2:
		return !isResult(r)
	case class >= 4 && q.probed:
		return r.Code < 500 || r.Code > 502 // of a server that does not support SYST
	}
	return r.Class() >= 4 && !(q.verb == "TYPE" && r.Code%100 == 50) // x50 is about a file
}

// failPipelining ends the connection to a server that does not support pipelining.
func (q *queue) failPipelining(r talk.Reply) error {
	q.pipeliningFailed = true
	return q.Fail(&fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: errPipelining})
}

var errPipelining = errors.New("unexpected reply to a pipelined command")
