package ftp

import (
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// A command is one of those of an access: what is sent, and what the reply to it does to the session.
// The commands of a list are sent in their order, and as many of them together as the server bears.
// Explain shows the same lists.
type command struct {
	line string // "" for what sends nothing
	when string // the condition under which it is sent, for Explain; or ""
	// alone is set if what is sent depends on the replies before, or what comes after it on its own.
	alone bool
	with  func() []string // the commands that go together with it; or nil
	// do sends the line, unless that is done already, and reads the reply. It is nil if the command
	// that follows does that.
	do      func() error
	explain func() []fetch.Step // in place of the line; or nil
}

// errEnough ends a list of commands without an error.
var errEnough = errors.New("the other commands are not needed")

// run performs a list of commands.
func (s *session) run(list []command) error {
	next := 0 // the first command that has not been tried to send together with others
	for i, c := range list {
		if i == next {
			n, err := s.sendTogether(list[i:])
			if err != nil {
				return err
			}
			next = i + max(n, 1)
		}
		if c.do == nil {
			continue
		}
		if err := c.do(); err == errEnough {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sendTogether sends the first commands of a list, if the server bears that, and there is more than one.
// It returns how many they are.
func (s *session) sendTogether(list []command) (int, error) {
	if !s.pipelines() || len(s.ctl.queued) > 0 { // queued: they were sent together with PASS
		return 0, nil
	}
	n, lines := together(list)
	return n, s.sendAhead(lines)
}

// sendAhead sends lines without waiting for replies, if the server bears that, and there is more than one.
func (s *session) sendAhead(lines []string) error {
	if len(lines) < 2 || !s.pipelines() {
		return nil
	}
	return s.failure(s.ctl.sendPipelined(lines))
}

// pipelines reports whether commands are sent without waiting for replies.
func (s *session) pipelines() bool { return s.proven && !s.access.sequential }

// together returns how many of the first commands of a list may be sent without waiting for a reply,
// and their lines.
func together(list []command) (n int, lines []string) {
	for _, c := range list {
		if c.alone {
			break
		}
		if n++; c.line != "" {
			lines = append(lines, c.line)
		}
		if c.with != nil {
			lines = append(lines, c.with()...)
		}
	}
	return n, lines
}

// commands are the commands of an access, as a session is to perform them.
type commands struct{ *session }

// sendsAsIs reports whether it is known how to send a name.
func (s commands) sendsAsIs(name string) bool {
	return !strings.HasPrefix(name, "~") && (!strings.Contains(name, iac) || s.ctl != nil && s.ctl.knowsIAC)
}

// named returns a command with a name.
func (s commands) named(verb, name string, do func() error) command {
	return command{line: verb + " " + name, alone: !s.sendsAsIs(name), do: do}
}

// quoted adds raw commands.
func (s commands) quoted(list []command, lines []string) []command {
	for _, line := range lines {
		line, mayFail := strings.CutPrefix(line, "*")
		list = append(list, command{line: line, alone: true, do: func() error {
			s.tainted, s.typ = true, 0
			r, err := s.ctl.exchange(line)
			switch {
			case err != nil:
				return s.access.fail("QUOTE", s.failure(err))
			case r.Class() >= 4 && !mayFail:
				return s.access.fail("QUOTE", &fetch.Error{Kind: fetch.ErrPermission, Code: r.Code, Reply: s.ctl.Mask(r.Text)})
			}
			return nil
		}})
	}
	return list
}

// prepare adds the commands that set the transfer type, and those of Options.PreTransfer. The data
// connection is opened last, in the order of RFC 1738: some servers answer nothing else once they have
// opened a port.
func (s commands) prepare(list []command) []command {
	a := s.access
	if a.prefersFacts() {
		list = append(list, command{do: func() error {
			facts, err := s.listsFacts()
			if err == nil {
				a.preferFacts(facts)
			}
			return err
		}})
	}
	return s.quoted(s.chooseType(list), a.opt.PreTransfer)
}

// chooseType adds the command that sets the transfer type.
func (s commands) chooseType(list []command) []command {
	a := s.access
	if a.typ == 0 {
		return list
	}
	set := command{do: func() error { return s.setType(a.typ) }}
	if s.typ != a.typ || len(a.opt.Quote) > 0 {
		set.line = "TYPE " + string(a.typ)
	}
	return append(list, set)
}

// unlessRefused returns err, unless that is a refusal.
func unlessRefused(err error) error {
	if refusal(err) {
		return nil
	}
	return err
}

// askPort adds the command that asks the server for a port, which the transfer performs.
func (s commands) askPort(list []command) []command {
	a := s.access
	if s.data.isReady() {
		return list
	}
	alone := a.active != nil || a.opt.PRET || s.pret || !s.sendsAsIs(a.name)
	return append(list, command{line: s.passiveCommand(), alone: alone, explain: a.portSteps})
}

// maxAhead is the maximum number of commands of edits that are sent at once. They have some 3 KB,
// which TCP sends at once.
const maxAhead = 64
