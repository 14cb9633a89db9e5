package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// defaultQuitTime is the default timeout for the reply to QUIT.
const defaultQuitTime = 2 * time.Second

// abortTime is the timeout for the reply to QUIT after an aborted transfer, because some
// servers never reply then.
const abortTime = time.Second

// A session is a login on a server. It belongs to one access at a time.
type session struct {
	ctl      *control
	key      key
	peer     netip.AddrPort // of the control connection; invalid if connected through a proxy
	quitTime time.Duration  // timeout for the reply to QUIT; negative means not to wait
	abilities
	protection
	evidence
	place
	typ     byte // current TYPE; 0 if not known
	used    bool // by an access before the current one
	tainted bool // must not be reused: raw commands were sent, or an upload failed

	// Of the current access:
	ctx    context.Context
	access *access
	data   *dataConn
	absent bool // SIZE has not found the file
}

// A place is the working directory of a session.
type place struct {
	entry      string   // the one after the login; "" if not known
	dirs       []string // arguments of CWD since then
	dirUnknown bool     // dirs is not valid
	unseen     bool     // one of dirs may have another name on the server: it was not found in a listing, or not looked for
}

// protection is what TLS protects in a session.
type protection struct {
	config  *tls.Config // nil as long as the session is not under TLS
	private bool        // data connections are under TLS too
}

// isHome reports whether the session is in its login directory.
func (p *place) isHome() bool { return !p.dirUnknown && len(p.dirs) == 0 }

// Permit asks the policy whether access a may use the session.
func (s *session) Permit(ctx context.Context, a *access) error {
	return talk.PermitReuse(ctx, a.env, a.target(), s.peer)
}

// Waiting reports whether unsolicited data has arrived on an idle session.
func (s *session) Waiting() bool { return !s.ctl.pending() && s.ctl.Waiting() }

// Drop closes the connections without QUIT.
func (s *session) Drop() {
	s.dropData()
	s.ctl.Talk.Close()
}

// Resume assigns an idle session to another access.
func (s *session) Resume(ctx context.Context, a *access) {
	s.ctx, s.access = ctx, a
	s.ctl.Resume(ctx, a.limits, a.trace)
	s.used, s.absent, s.ctl.began, s.ctl.replied = true, false, false, false
	a.trace.Reused(s.describe())
}

// Stale reports whether a reused session failed before it did anything that must not be
// repeated. Most likely the connection had been dead for some time: some servers close it after each
// transfer. If the server has closed it and replied to nothing, it has not read the commands either.
func (s *session) Stale() bool {
	repeatable := !s.ctl.began || !s.ctl.replied && isClosed(s.ctl.Err)
	return s.used && !s.tainted && repeatable && s.ctl.Err != nil && s.ctx.Err() == nil
}

// describe returns the control connection for the Trace of the access.
func (s *session) describe() fetch.Connection {
	return fetch.Connection{
		Network: "tcp", Purpose: fetch.PurposeControl, Host: s.access.loc.Host,
		Local: driver.AddrPort(s.ctl.Raw.LocalAddr()), Remote: s.peer,
	}
}

// Reusable reports whether another access may use the session.
func (s *session) Reusable() bool {
	return s.entry != "" && !s.tainted && s.ctl.phase == commanding && s.ctl.Err == nil && !s.ctl.pipeliningFailed && s.ctx.Err() == nil
}

// Rest detaches the session from its access.
func (s *session) Rest() {
	s.ctl.Rest()
	if !s.data.isReady() {
		s.dropData()
	}
	s.ctx, s.access = context.Background(), nil
}

// Close sends QUIT, waits for the reply within a time limit, and closes the connection.
// After a refused login it only closes the connection, as curl does.
func (s *session) Close() error {
	s.dropData()
	if s.ctl.phase == loggingIn {
		return s.ctl.Close()
	}
	return s.ctl.Quit(s.quitTime)
}

// End is like Close, for a session whose access may have failed or been canceled. If pipelining has
// failed, or the server has said 421, another connection may follow: a server that serves one at a time
// must have closed this one.
func (s *session) End() {
	s.dropData()
	switch {
	case s.ctx.Err() != nil:
		s.ctl.Close()
	case s.ctl.pipeliningFailed, s.ctl.phase >= commanding && s.ctl.last.Code == 421:
		s.ctl.HangUp(closeTime)
	case s.ctl.phase > commanding:
		s.ctl.Quit(min(abortTime, s.quitTime))
	default:
		s.Close()
	}
}

// The commands of an access.

// perform sends a command whose reply has no result.
func (s *session) perform(line string) error {
	r, err := s.ctl.ask(line)
	return s.check(r, s.ctl.completes(r), err)
}

// changeDir sends CWD.
func (s *session) changeDir(dir string) error {
	err := s.perform("CWD " + dir)
	if err == nil {
		s.ctl.message = s.ctl.last.Text
	}
	return err
}

func (s *session) setType(t byte) error {
	if s.typ == t {
		return nil
	}
	if err := s.perform("TYPE " + string(t)); err != nil {
		return err
	}
	s.typ = t
	return nil
}

func (s *session) size(name string) (n int64, err error) {
	r, err := s.askAbout("SIZE", name)
	n = fileSize(r.Text)
	s.absent = refusal(err) && !errors.Is(err, fetch.ErrUnsupported) // some servers reply 450
	return n, err
}

func (s *session) modTime(name string) (t time.Time, err error) {
	r, err := s.askAbout("MDTM", name)
	return fileTime(r.Text), err
}

// askAbout sends a command with a name, and returns the reply to it.
func (s *session) askAbout(verb, name string) (r talk.Reply, err error) {
	err = s.trySpellings(name, func() error {
		r, err = s.ctl.ask(verb + " " + s.spelled(name))
		return s.check(r, r.Class() == 2, err)
	})
	return r, err
}

// check returns the error of a command whose reply is not the expected one, as control.expect does.
func (s *session) check(r talk.Reply, expected bool, err error) error {
	return s.failure(s.ctl.expect(r, expected, err))
}

// refusedBy returns the error for an unexpected or negative reply to a command.
func (s *session) refusedBy(r talk.Reply) error {
	err := s.ctl.unexpected(r)
	if r.Class() >= 4 {
		err = &fetch.Error{Kind: kindOf(s.ctl.verb, r), Code: r.Code, Reply: r.Text}
	}
	return s.failure(err)
}

// failure returns the error of a failed command. The cause is what broke the connection,
// otherwise an error of the client, otherwise the server's reply.
func (s *session) failure(err error) error {
	if err == nil {
		return nil
	}
	s.checkPipelining()
	var ours *fetch.Error
	switch r := s.ctl.last; {
	case s.ctl.Err != nil:
		err = s.ctl.Err
	case errors.As(err, &ours):
		err = ours
	case r.Class() >= 4:
		refusal := &fetch.Error{Kind: kindOf(s.ctl.verb, r), Code: r.Code, Reply: r.Text}
		if broken, ok := errors.AsType[*net.OpError](err); ok && !errors.Is(err, net.ErrClosed) { // of the data connection, which the server reports too
			refusal.Err = broken
		}
		err = refusal
	}
	e := s.access.fail(s.ctl.verb, err)
	e.Reply = s.ctl.Mask(e.Reply)
	return e
}

// features sends FEAT, once per session. The result is empty if the server refuses it.
func (s *session) features() (features, error) {
	if s.feats != nil {
		return s.feats, nil
	}
	r, err := s.ctl.exchange("FEAT")
	if err != nil {
		return nil, s.failure(err)
	}
	s.feats = features{}
	if r.Code == 211 {
		s.feats = parseFeatures(r.Text)
	}
	return s.feats, nil
}

// renamesHome reports whether OPTS UTF8 ON may change the name of the login directory. The programs
// of serverPrograms have no code page.
func (s *session) renamesHome() bool {
	return s.program.has == nil && strings.ContainsFunc(s.entry, func(r rune) bool { return r > unicode.MaxASCII })
}

// listsFacts reports whether MLSD lists the type of each entry (RFC 3659 §7.8: "*" marks
// the facts that the server lists).
func (s *session) listsFacts() (bool, error) {
	f, err := s.features()
	if err != nil {
		return false, err
	}
	for fact := range strings.SplitSeq(f["MLST"], ";") {
		if strings.EqualFold(strings.TrimSpace(fact), "type*") {
			return true, nil
		}
	}
	return false, nil
}

// dropData closes the data connection or its port.
func (s *session) dropData() {
	if s.data != nil {
		s.data.drop()
	}
	s.data = nil
}

// trySpellings calls do, which sends a name as spelled. If the server refuses a name that begins with ~,
// do is called once more, for the other spelling. The session keeps the one that succeeds.
//
// Some servers, such as ProFTPD, take ~name for the home directory of a user. A file of that name is
// ./~name there, which other servers refuse. ~name goes first, because a URL may well mean the home
// directory; where ~ has no meaning, both are the same file.
func (s *session) trySpellings(name string, do func() error) error {
	tried := s.dotted
	err := do() // which may send SIZE, too, and so find the other spelling
	if e, ok := errors.AsType[*fetch.Error](err); !ok || !slices.Contains([]int{530, 550, 553}, e.Code) {
		return err
	}
	if stored := isTransfer(s.ctl.verb) && s.data.begun(); stored || s.access.exact || !strings.HasPrefix(name, "~") {
		return err // data that was sent cannot be sent again
	}
	s.dotted = !tried
	again := do()
	if refusal(again) {
		s.dotted = tried
		return err
	}
	return again
}

// evidence is what a session knows of commands that arrive together.
type evidence struct {
	proven  bool // the server has answered two of them
	planned bool // those of the access were sent together with PASS
	refused bool // the latest transfer, before its first byte
}

// checkPipelining checks whether the current access has failed because the server does not support
// pipelining. Then it is to be done again, one command at a time.
func (s *session) checkPipelining() {
	if s.ctl.pipeliningFailed && !s.access.fellBack {
		s.access.fellBack = true
		s.recordLoss()
	}
}

// recordLoss remembers that the server loses commands that arrive early, or ports that are
// requested early.
func (s *session) recordLoss() {
	if s.proven, s.access.sequential = false, true; !s.access.memory.noPipelining.add(s.access.server()) {
		s.ctl.Trace.Note("the server does not support pipelining; sending one command at a time")
	}
}
