package ftptest

import (
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Ahead is what an FTP server does with commands that arrive before it has answered the previous
// one. Servers differ, because RFC 959 does not say.
type Ahead uint8

const (
	// AheadKept carries them out in order, as most servers do.
	AheadKept Ahead = iota
	// AheadLost discards them, like a server that empties its input before it answers.
	AheadLost
	// AheadOutOfTurn answers the next command before the current one, unless the next one is a
	// transfer. During a transfer it answers each command at once, as proftpd does: with "450 EPSV:
	// data transfer in progress" if the command would interfere.
	AheadOutOfTurn
	// AheadCloses closes the control connection, and the data connection of a transfer, instead of
	// answering.
	AheadCloses
)

// UnmarshalText reads the name of a constant, as in "AheadLost".
func (a *Ahead) UnmarshalText(name []byte) error {
	return core.Choose(a, name, "AheadKept", "AheadLost", "AheadOutOfTurn", "AheadCloses")
}

// aheadTime is how long a server waits before each answer for commands sent ahead, unless Ahead is
// AheadKept. Commands that follow in a packet of their own then count too. In a testing/synctest
// bubble every one is detected.
const aheadTime = 5 * time.Millisecond

// CameAhead returns the number of commands that arrived before the previous one was answered, on
// all connections so far. It is 0 with [AheadKept], which does not look for them. ABOR during a
// transfer does not count.
func (s *Server) CameAhead() int { return int(s.cameAhead.Load()) }

// checksAhead reports whether the server now treats commands that came ahead in a special way.
func (f *session) checksAhead() bool {
	return f.srv.Ahead != AheadKept && !f.now.outOfTurn && (f.moving || !f.srv.AheadInTransfers)
}

// checkAhead waits for commands that arrive too early, for the time of aheadTime.
func (f *session) checkAhead() error {
	wait := time.NewTimer(aheadTime)
	defer wait.Stop()
	for len(f.inputs.queue) == 0 {
		select {
		case <-wait.C:
			return nil
		case line, more := <-f.inputs.lines:
			if !more {
				return nil
			}
			if err := f.ahead(line); err != nil {
				return err
			}
			if f.srv.Ahead == AheadOutOfTurn && !f.moving {
				return nil // one in exchange for another
			}
		}
	}
	return nil
}

// ahead deals with a command that arrived before the answer to the current one. An error ends the
// session.
func (f *session) ahead(line input) error {
	c := f.srv.commands.of(line.text)
	if f.moving && c.verb == "ABOR" {
		f.inputs.queue = append(f.inputs.queue, line)
		return nil
	}
	f.srv.cameAhead.Add(1)
	if f.srv.Ahead == AheadOutOfTurn && !f.moving && c.has(download|upload|turnsTLS) {
		f.inputs.queue = append(f.inputs.queue, line)
		return nil
	}
	f.inputs.log(line)
	switch {
	case f.srv.Ahead == AheadLost:
		return nil
	case f.srv.Ahead == AheadCloses:
		f.HangUp()
		return core.ErrCut
	case f.moving && c.has(interferes):
		return f.Client.Answer(new(core.Faults), "450 "+c.verb+": data transfer in progress")
	}
	now := f.now
	defer func() { f.now = now }()
	return f.carryOut(line.text, true)
}
