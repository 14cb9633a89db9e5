package ftp

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
)

// What is sent ahead of its turn: behind PASS, or at the beginning of an access, all
// that the access asks before its transfer; behind the transfer the port for the next
// one. The command of a transfer waits for the replies to those before it, for these
// say what it would transfer. Uploads and raw commands wait too.

// foresight is a session that takes down what an access sends. It stops, by
// errUnforeseen, at what depends on replies or must not be done before its time.
type foresight struct {
	*session
	lines []string
}

var errUnforeseen = errors.New("what comes next depends on the server")

// foresee is what the access under way will send before its transfer.
func (s *session) foresee() []string {
	if s.access.inTurn {
		return nil
	}
	a := *s.access
	f := &foresight{session: s}
	if a.opt.Wanted == nil {
		_, _ = a.begin(f)
	} else if a.enter(f) == nil && a.opt.ModTime { // it is asked about what MDTM tells
		_, _ = f.modTime(a.name)
	}
	return f.lines
}

func (f *foresight) note(line string) error {
	if strings.Contains(line, iac) { // see session.named
		return errUnforeseen
	}
	f.lines = append(f.lines, line)
	return nil
}

func (f *foresight) quote(string) (talk.Reply, error) { return talk.Reply{}, errUnforeseen }

func (f *foresight) home() error {
	if f.isHome() {
		return nil
	}
	return f.note(command("CWD", f.entry))
}

func (f *foresight) cwd(dir string) error {
	if f.access.opt.CreateDirs {
		return errUnforeseen
	}
	return f.note("CWD " + dir)
}

func (f *foresight) mkd(string) error { return errUnforeseen }

func (f *foresight) setType(t byte) error {
	if f.typ == t {
		return nil
	}
	return f.note("TYPE " + string(t))
}

// size tells of a file in which every offset is to be found.
func (f *foresight) size(name string) (int64, error) { return math.MaxInt64, f.note("SIZE " + name) }

func (f *foresight) modTime(name string) (time.Time, error) {
	return time.Time{}, f.note("MDTM " + name)
}

func (f *foresight) listsFacts() (bool, error) {
	if f.feats != nil {
		return f.session.listsFacts()
	}
	return true, f.note("FEAT")
}

func (f *foresight) openData(string) error {
	switch {
	case f.ready, f.next != 0:
		return nil
	case f.access.active != nil, f.access.opt.PRET:
		return errUnforeseen
	}
	return f.note(f.passiveCommand())
}

func (f *foresight) retrieve(string, int64) error { return errUnforeseen }

// afterLogin is what is sent together with PASS.
func (s *session) afterLogin() []string {
	var lines []string
	if s.access.opt.Account != "" || s.access.opt.AlternativeToUser != "" {
		return nil // PASS may not be the last word
	}
	switch secured := s.access.implicit() || s.access.wantsTLS(); {
	case s.access.inTurn, secured && s.access.safety.clear != KeepTLS:
		return nil
	case secured && s.access.safety.Security == TryTLS && !s.access.implicit():
		return nil // there may be no TLS to protect the data by
	case secured:
		lines = []string{"PBSZ 0", "PROT " + s.access.protection()}
	}
	if s.access.reuses {
		lines = append(lines, "PWD")
	}
	return append(lines, s.foresee()...)
}

// afterTransfer is what is sent together with the command of a transfer. Who has a
// session list a second folder is walking a tree, and will go on.
func (s *session) afterTransfer() []string {
	a := s.access
	if a.inTurn || !(a.opt.More || s.used && a.listing()) || !a.reuses || a.active != nil || a.opt.PRET || len(a.opt.PostQuote) > 0 || a.req.Length > 0 {
		return nil
	}
	return []string{s.passiveCommand()}
}

// lookAhead begins an access: what it will send is sent, and the port that was asked
// for with the last transfer is connected to meanwhile.
func (s *session) lookAhead() error {
	if s.used {
		s.takeNext()
		for _, sent := range s.ctl.ahead {
			switch verbOf(sent.line) {
			case fetch.OpCWD:
				s.lost = true
			case fetch.OpTYPE:
				s.typ = 0
			}
		}
		err := s.ctl.catchUp()
		if s.ctl.ahead = nil; err == nil {
			err = s.ctl.sendAhead(s.foresee())
		}
		if err != nil {
			return s.failure(err)
		}
	}
	port := s.next
	if s.next = 0; port == 0 || s.access.active != nil {
		return nil
	}
	conn, err := s.dialData(port)
	if err != nil { // the access asks for another
		return nil
	}
	s.dropData()
	s.data, s.ready = &dataConn{raw: conn, idle: s.access.limits.Idle}, true
	return nil
}

// takeNext reads the reply to what afterTransfer has added.
func (s *session) takeNext() {
	command, ask := s.passiveCommand(), s.extendedPort
	if command == "PASV" {
		ask = s.plainPort
	}
	if !s.ctl.isNext(command) || len(s.ctl.ahead) != 1 {
		return
	}
	s.ctl.heard = true // it was there when the port was asked for
	var err error
	if s.next, err = ask(); err != nil { // what ended the connection the next command meets
		s.access.outrun.add(s.access.server())
	}
}

// judge remembers a server that does not cope with commands sent ahead.
func (s *session) judge() {
	if s.ctl.outrun && !s.access.outran {
		s.access.outran, s.access.inTurn = true, true
		s.access.outrun.add(s.access.server())
		s.ctl.Trace.Note("the server does not cope with commands sent ahead; going on with one at a time")
	}
}
