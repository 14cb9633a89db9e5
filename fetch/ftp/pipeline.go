package ftp

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
)

// Two groups of commands are pipelined. All commands of an access before its transfer are
// sent together with PASS or, on a used session, when the access starts. The command that
// requests the port of the next transfer is sent together with the command of a transfer.
// The command of a transfer itself waits for the replies to CWD and TYPE, because they decide
// what it would transfer. If the session needs neither and the data connection is open, RETR is
// sent together with SIZE and MDTM. Uploads and raw commands wait for all replies.

// A planner records the commands that an access sends. It stops with errNotPlannable
// at a command that depends on a reply or must not be sent early.
type planner struct {
	*session
	lines []string
}

var errNotPlannable = errors.New("the next command depends on a reply")

// plan returns the commands that the current access sends without waiting for a reply.
func (s *session) plan() []string {
	if s.access.sequential {
		return nil
	}
	a := *s.access
	p := &planner{session: s, lines: make([]string, 0, 4)}
	if a.opt.Wanted == nil {
		_, _ = a.begin(p)
	} else if a.enter(p) == nil && a.opt.ModTime { // Wanted needs the reply to MDTM
		_, _ = p.modTime(a.name)
	}
	return p.lines
}

func (p *planner) add(line string) error {
	if strings.Contains(line, iac) { // see session.tryBareIAC
		return errNotPlannable
	}
	p.lines = append(p.lines, line)
	return nil
}

func (p *planner) quote(string) (talk.Reply, error) { return talk.Reply{}, errNotPlannable }

func (p *planner) home() error {
	if p.isHome() {
		return nil
	}
	return p.add(command("CWD", p.entry))
}

func (p *planner) cwd(dir string) error {
	if p.access.opt.CreateDirs {
		return errNotPlannable
	}
	return p.add("CWD " + dir)
}

func (p *planner) mkd(string) error { return errNotPlannable }

func (p *planner) setType(t byte) error {
	if p.typ == t {
		return nil
	}
	return p.add("TYPE " + string(t))
}

// size returns a size for which every offset is valid.
func (p *planner) size(name string) (int64, error) { return math.MaxInt64, p.add("SIZE " + name) }

func (p *planner) modTime(name string) (time.Time, error) {
	return time.Time{}, p.add("MDTM " + name)
}

func (p *planner) listsFacts() (bool, error) {
	if p.feats != nil {
		return p.session.listsFacts()
	}
	return true, p.add("FEAT")
}

func (p *planner) openData(string) error {
	switch {
	case p.ready, p.nextPort != 0:
		return nil
	case p.access.active != nil, p.access.opt.PRET:
		return errNotPlannable
	}
	return p.add(p.passiveCommand())
}

func (p *planner) retrieve(command string, offset int64) error {
	if offset != 0 || p.access.verb != fetch.OpRETR || !p.ready || !p.inPlace() {
		return errNotPlannable
	}
	if err := p.add(command); err != nil {
		return err
	}
	p.lines = append(p.lines, p.withTransfer()...)
	return nil
}

// withPASS returns the commands that are sent together with PASS.
func (s *session) withPASS() []string {
	var lines []string
	if s.access.opt.Account != "" || s.access.opt.AlternativeToUser != "" {
		return nil // ACCT or the alternative may follow PASS
	}
	switch secured := s.access.implicit() || s.access.wantsTLS(); {
	case s.access.sequential, secured && s.access.safety.clear != KeepTLS:
		return nil
	case secured && s.access.safety.Security == TryTLS && !s.access.implicit():
		return nil // the server may refuse TLS
	case secured:
		lines = []string{"PBSZ 0", "PROT " + s.access.protection()}
	}
	if s.access.reuses {
		lines = append(lines, "PWD")
	}
	return append(lines, s.plan()...)
}

// withTransfer returns the commands that are sent together with the command of a transfer.
// The second listing in a session suggests a walk through a tree, so another access is
// expected after it.
func (s *session) withTransfer() []string {
	a := s.access
	if a.sequential || !(a.opt.More || s.used && a.listing()) || !a.reuses || a.active != nil || a.opt.PRET || len(a.opt.PostQuote) > 0 || a.req.Length > 0 {
		return nil
	}
	return []string{s.passiveCommand()}
}

// inPlace reports whether the session is in the directory of the access and has its type.
func (s *session) inPlace() bool {
	rest, ok := s.remaining(s.access.dirs)
	return ok && len(rest) == 0 && s.typ == s.access.typ
}

// startAccess starts an access on a session: it sends the planned commands and connects to the
// port that was requested together with the previous transfer. If the planned commands may
// include the transfer, it connects first.
func (s *session) startAccess() error {
	if s.used {
		s.readNextPort()
		if s.inPlace() {
			s.openNextPort()
		}
		for _, sent := range s.ctl.queued {
			switch verbOf(sent.line) {
			case fetch.OpCWD:
				s.dirUnknown = true
			case fetch.OpTYPE:
				s.typ = 0
			}
		}
		err := s.ctl.drain()
		if s.ctl.queued = s.ctl.queued[:0]; err == nil {
			err = s.ctl.sendPipelined(s.plan())
		}
		if err != nil {
			return s.failure(err)
		}
	}
	s.openNextPort()
	return nil
}

// openNextPort connects to the port that was requested together with the previous transfer, if
// any. If that fails, the access requests another one.
func (s *session) openNextPort() {
	port := s.nextPort
	if s.nextPort = 0; port == 0 || s.access.active != nil {
		return
	}
	conn, err := s.dialData(port)
	if err != nil {
		return
	}
	s.dropData()
	s.data, s.ready = &dataConn{raw: conn, idle: s.access.limits.Idle}, true
}

// readNextPort reads the reply to the command of withTransfer.
func (s *session) readNextPort() {
	command, request := s.passiveCommand(), s.extendedPort
	if command == "PASV" {
		request = s.plainPort
	}
	if !s.ctl.isNext(command) || len(s.ctl.queued) != 1 {
		return
	}
	s.ctl.replied = true // the connection was alive when the port was requested
	var err error
	if s.nextPort, err = request(); err != nil { // a broken connection is reported by the next command
		s.access.noPipelining.add(s.access.server())
	}
}

// checkPipelining remembers a server that has turned out not to support pipelining.
func (s *session) checkPipelining() {
	if s.ctl.pipeliningFailed && !s.access.fellBack {
		s.access.fellBack, s.access.sequential = true, true
		s.access.noPipelining.add(s.access.server())
		s.ctl.Trace.Note("the server does not support pipelining; sending one command at a time")
	}
}
