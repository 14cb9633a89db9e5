package ftp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

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

// enter returns the commands that must precede names, those of Options.Quote, and those that change to
// the directory.
func (s commands) enter() []command {
	a := s.access
	list := make([]command, 0, 8)
	if a.utf8 && !s.utf8 {
		list = s.askUTF8(list)
	}
	if len(a.opt.Quote) > 0 {
		list = s.goHome(list)
	}
	return s.changeTo(s.raw(list, a.opt.Quote))
}

// askUTF8 adds OPTS UTF8 ON, and FEAT before it. The reply to FEAT is not awaited only from programs
// that have been measured; they take the command in any case (see session.startAccess).
func (s commands) askUTF8(list []command) []command {
	if s.feats == nil {
		list = append(list, command{line: "FEAT", do: func() error {
			_, err := s.features()
			return err
		}})
	}
	opts := command{line: utf8On, when: "when the reply to FEAT lists UTF8", alone: s.renamesHome(), do: s.useUTF8}
	if _, listed := s.feats["UTF8"]; s.feats != nil && !listed {
		opts.line = ""
	}
	return append(list, opts)
}

// goHome adds the command that returns to the login directory.
func (s commands) goHome(list []command) []command {
	home := command{do: s.home}
	if !s.isHome() {
		home.line, home.alone = lineOf("CWD", s.entry), !s.sendsAsIs(s.entry)
	}
	return append(list, home)
}

// raw adds raw commands.
func (s commands) raw(list []command, lines []string) []command {
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

// changeTo adds the commands that change to the directory, starting from the login directory: because
// "there is no common hierarchical model", a different path cannot be reached in any other way (RFC 1738
// §3.2.5).
func (s commands) changeTo(list []command) []command {
	a := s.access
	rest, ok := s.remaining(a.dirs)
	switch {
	case len(a.opt.Quote) > 0: // from where they have led
		rest = a.dirs
	case a.utf8 && !s.utf8 && s.renamesHome():
		rest, list = a.dirs, append(list, command{alone: true, do: s.home})
	case !ok:
		list = s.goHome(list)
	}
	for _, dir := range rest {
		cwd := s.named("CWD", dir, func() error { return a.cwd(s.session, dir) })
		cwd.alone = cwd.alone || a.opt.CreateDirs || looksFor(a) && s.mayChange(dir)
		list = append(list, cwd)
	}
	return list
}

// cwd changes to a directory. If Options.CreateDirs is set, it creates one that does not exist.
func (a *access) cwd(s *session, dir string) error {
	err := s.cwd(dir)
	if !a.opt.CreateDirs || !refusal(err) {
		return err
	}
	s.ctl.began = true
	made := s.trySpellings(dir, func() error { return s.perform("MKD " + s.spelled(dir)) })
	if err = made; err == nil || refusal(err) { // another client may have created it first
		err = s.cwd(dir)
	}
	if refusal(err) {
		err = cmp.Or(made, err) // why it does not exist
	}
	return err
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
	return s.raw(s.chooseType(list), a.opt.PreTransfer)
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

// enterOnly returns the commands of an access without a transfer. Some servers state a size only in
// type I.
func (s commands) enterOnly() []command { return s.chooseType(s.enter()) }

// A download is what is known of a download that has been started.
type download struct {
	size     int64 // of the whole file; -1 if not known
	asked    bool  // SIZE was sent
	byReply  bool  // only the reply to RETR has told the size
	modTime  time.Time
	offset   int64
	nothing  bool  // there is no data to fetch, so no transfer was started
	unwanted bool  // Options.Wanted returned false
	missing  error // from SIZE; the reply to RETR decides
}

// download returns the commands that start a download, which b then describes.
func (s commands) download(b *download) []command {
	a := s.access
	b.size = -1
	list := s.enter()
	if a.verb == "RETR" && a.opt.ModTime {
		list = append(list, s.named("MDTM", a.name, func() (err error) {
			b.modTime, err = s.modTime(a.name)
			return unlessRefused(err)
		}))
	}
	if a.verb == "RETR" && a.opt.Wanted != nil {
		list = append(list, command{alone: true, do: func() error {
			if !a.opt.Wanted(fetch.Attributes{Size: -1, ModTime: b.modTime}) {
				b.nothing, b.unwanted = true, true
				return errEnough
			}
			return nil
		}})
	}
	list = s.prepare(list)
	if b.asked = a.wantsSize(s.session); b.asked {
		list = append(list, s.named("SIZE", a.name, func() (err error) {
			b.size, err = a.sizeOf(s.session, b)
			return unlessRefused(err)
		}))
	}
	sized := a.req.Offset != 0 && a.req.Length == 0 || a.limits.Body > 0 // whether there is a transfer depends on the size
	list = append(list, command{alone: sized, do: func() error { return a.locateIn(b) }})
	list = s.askPort(list)
	start := command{
		line: a.transferLine(a.name), alone: true, with: s.transfers().withTransfer, explain: a.transferSteps,
		do: func() error { return a.retrieve(s.session, b) },
	}
	if s.data.isReady() && a.req.Offset == 0 && a.verb == "RETR" && s.isPrepared() {
		start.alone = !s.sendsAsIs(a.name)
	}
	return append(list, start)
}

// unlessRefused returns err, unless that is a refusal.
func unlessRefused(err error) error {
	if refusal(err) {
		return nil
	}
	return err
}

// sizeOf asks for the size before a download. If the server says that there is no such file, the reply
// to RETR decides.
func (a *access) sizeOf(s *session, b *download) (int64, error) {
	n, err := s.size(a.name)
	if err != nil {
		n = -1
	}
	if a.typ == 'I' && refusal(err) && errors.Is(err, fetch.ErrNotFound) {
		b.missing = err
	}
	return n, err
}

// locateIn finds out which part of a file of that size is to be sent.
func (a *access) locateIn(b *download) error {
	if b.missing != nil && a.req.Offset < 0 {
		return b.missing
	}
	if whole := a.req.Offset == 0 && a.req.Length == 0; whole && a.limits.Body > 0 && b.size > a.limits.Body {
		return a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the file has %d bytes; the limit is %d", b.size, a.limits.Body)})
	}
	if err := a.seek(b); err != nil {
		return a.fail(fetch.OpSeek, err)
	}
	if b.nothing {
		return errEnough
	}
	return nil
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

// retrieve starts the transfer of a download.
func (a *access) retrieve(s *session, b *download) error {
	err := a.transfer(s, b.offset)
	// Servers refuse a missing file with codes of other meanings, too, which SIZE tells apart.
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Op == "RETR" && e.Code/100 == 5 && e.Kind != fetch.ErrNotFound {
		if !b.asked && a.wantsSize(s) {
			_, b.missing = s.size(a.name)
		}
		if errors.Is(b.missing, fetch.ErrNotFound) {
			e.Kind = fetch.ErrNotFound
		}
	}
	if a.listing() && a.name == "" && noFiles(err) {
		b.nothing, err = true, nil
	}
	return err
}

// compareSize compares the size in the reply to RETR, if any, with that of SIZE. If SIZE was not sent,
// it sets the size of b.
func (b *download) compareSize(s *session) {
	stated := s.ctl.announced
	if b.size >= 0 {
		s.retrStatesSize = stated == b.size
		return
	}
	b.size, b.byReply, s.retrStatesSize = stated, true, s.retrStatesSize && stated >= 0
}
