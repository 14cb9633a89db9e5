package testserver

import (
	"strings"
	"time"
)

// Ahead is what an FTP server does about commands that come before it has answered
// the one at hand. Servers differ, because RFC 959 does not say.
type Ahead uint8

const (
	// AheadKept carries them out in turn, as most servers do.
	AheadKept Ahead = iota
	// AheadLost throws them away, as a server does that empties its input before it answers.
	AheadLost
	// AheadOutOfTurn answers the next command before the one at hand, unless it is a
	// transfer. During a transfer it answers each command at once, as proftpd does: with
	// "450 EPSV: data transfer in progress" if it would interfere.
	AheadOutOfTurn
	// AheadCloses closes the control connection, and the data connection of a transfer,
	// instead of answering.
	AheadCloses
)

// aheadTime is how long a server that minds commands sent ahead waits for them before
// each answer, so that those that follow in a packet of their own are ahead too. In a
// testing/synctest bubble none is missed.
const aheadTime = 5 * time.Millisecond

// CameAhead is how many commands have come before the one at hand was answered, on all
// connections so far. It is 0 with [AheadKept], which does not look, and ABOR during a
// transfer is not counted.
func (s *FTP) CameAhead() int { return int(s.cameAhead.Load()) }

// minds tells whether the server does not cope with what comes ahead now.
func (f *ftpSession) minds() bool {
	return f.srv.Ahead != AheadKept && !f.outOfTurn && (f.moving || !f.srv.AheadInTransfers)
}

// answer sends the last reply to a command, after what the server does about commands
// that are there already.
func (f *ftpSession) answer(p *plan, reply string) error {
	if f.minds() {
		if err := f.mindAhead(); err != nil {
			return err
		}
	}
	return f.conn.answer(p, reply)
}

func (f *ftpSession) mindAhead() error {
	wait := time.NewTimer(aheadTime)
	defer wait.Stop()
	for len(f.queue) == 0 {
		select {
		case <-wait.C:
			return nil
		case line, more := <-f.lines:
			if !more {
				return nil
			}
			if err := f.ahead(line); err != nil {
				return err
			}
			if f.srv.Ahead == AheadOutOfTurn && !f.moving {
				return nil // one in place of another
			}
		}
	}
	return nil
}

// ahead does what the server does about a command that came before the answer to the
// one at hand. An error ends the session.
func (f *ftpSession) ahead(line ftpLine) error {
	verb, _, _ := strings.Cut(strings.ToUpper(line.text), " ")
	if f.moving && verb == "ABOR" {
		f.queue = append(f.queue, line)
		return nil
	}
	f.srv.cameAhead.Add(1)
	if f.srv.Ahead == AheadOutOfTurn && !f.moving && (isTransfer(verb) || turnsTLS(line.text)) {
		f.queue = append(f.queue, line)
		return nil
	}
	f.hear(line)
	switch {
	case f.srv.Ahead == AheadLost:
		return nil
	case f.srv.Ahead == AheadCloses:
		endConn(f.Conn, false)
		return errCut
	case f.moving && interferes(verb):
		return f.conn.answer(new(plan), "450 "+verb+": data transfer in progress")
	}
	at := f.plan
	f.outOfTurn = true
	defer func() { f.plan, f.outOfTurn = at, false }()
	return f.carryOut(line.text)
}

// interferes tells whether a command would disturb a transfer that is under way.
func interferes(verb string) bool {
	switch verb {
	case "PASV", "EPSV", "PORT", "EPRT", "RNFR", "RNTO", "REIN", "AUTH", "CCC", "PROT":
		return true
	}
	return isTransfer(verb)
}
