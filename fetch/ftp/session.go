package ftp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// defaultQuitTime is the default timeout for the reply to QUIT.
const defaultQuitTime = 2 * time.Second

// abortTime is the timeout for the reply to QUIT after an aborted transfer, because some
// servers never reply then.
const abortTime = time.Second

// A session is a login on a server. It belongs to one access at a time.
type session struct {
	ctl            *control
	key            key
	entry          string         // working directory after the login; "" if not known
	peer           netip.AddrPort // of the control connection; invalid if connected through a proxy
	dirs           []string       // arguments of CWD since the login directory
	dirUnknown     bool           // dirs is not valid
	unseen         bool           // one of dirs may have another name on the server: it was not found in a listing, or not looked for
	typ            byte           // current TYPE; 0 if not known
	feats          features       // nil until FEAT has been sent
	utf8           bool           // OPTS UTF8 ON was sent, or the server does not have it
	tainted        bool           // must not be reused: raw commands were sent, or an upload failed
	quitTime       time.Duration  // timeout for the reply to QUIT; negative means not to wait
	config         *tls.Config    // nil as long as the session is not under TLS
	private        bool           // data connections are under TLS too
	noEPRT         bool           // the server has refused EPRT
	pret           bool           // the server requires PRET
	noTime         bool           // the server has refused to set a modification time
	dotted         bool           // names that begin with ~ are sent with ./ before them
	connects       bool           // the port of a reply to the passive command could be connected to
	used           bool           // by an access before the current one
	retrStatesSize bool           // the replies to RETR state the size, which SIZE has confirmed
	program        serverProgram  // the server, if its greeting shows it
	proven         bool           // the server has answered two commands that arrived together
	refused        bool           // the latest transfer, before its first byte
	restarts       bool           // a transfer has shown that the server obeys REST

	// Of the current access:
	ctx    context.Context
	access *access
	data   *dataConn
	absent bool // SIZE has not found the file

	planned bool // the commands of the access were sent together with PASS
}

// dial connects and logs in. Until the greeting has come, o.Context applies.
func dial(ctx context.Context, o sessions.Opening, a *access) (*session, error) {
	s := &session{key: a.key, ctx: o.Context, access: a, quitTime: a.quitTime}
	conn, err := a.env.Connect(o.Context, a.target())
	if err != nil {
		return nil, err
	}
	// Through a proxy, the remote address is that of the proxy, which has another port.
	if peer := driver.AddrPort(conn.RemoteAddr()); peer.Port() == a.target().Port {
		s.peer = peer
	}
	s.ctl = newControl(o.Context, conn, a.limits, a.trace)
	s.ctl.knowsIAC = a.exact // doubled, if no other command may be sent to find out
	if err := (&login{s, a.opt.AlternativeToUser}).perform(ctx, o); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

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

func (s *session) quote(line string) (talk.Reply, error) {
	s.tainted, s.typ = true, 0
	r, err := s.ctl.exchange(line)
	r.Text = s.ctl.Mask(r.Text)
	return r, s.failure(err)
}

func (s *session) remaining(dirs []string) ([]string, bool) {
	if n := len(s.dirs); !s.dirUnknown && !(s.unseen && looksFor(s.access)) && n <= len(dirs) && slices.Equal(s.dirs, dirs[:n]) {
		return dirs[n:], true
	}
	return dirs, false
}

// isHome reports whether the session is in its login directory.
func (s *session) isHome() bool { return !s.dirUnknown && len(s.dirs) == 0 }

func (s *session) home() error {
	if s.isHome() {
		return nil
	}
	if err := s.changeDir(s.entry); err != nil {
		// No directory can be reached any more.
		return s.ctl.Fail(err)
	}
	s.dirs, s.dirUnknown, s.unseen = nil, false, false
	return nil
}

func (s *session) cwd(dir string) error {
	listed, err := s.lists(dir) // else it is stored in another directory
	if err != nil {
		return err
	}
	if err := s.trySpellings(dir, func() error { return s.changeDir(s.spelled(dir)) }); err != nil {
		return err
	}
	s.dirs = append(s.dirs, dir)
	if s.unseen = s.unseen || !listed || !looksFor(s.access) && s.mayChange(dir); !listed {
		return s.access.fail("CWD", notListed(dir))
	}
	return nil
}

// perform sends a command whose reply has no result.
func (s *session) perform(line string) error {
	r, err := s.ctl.ask(line)
	return s.check(r, completes(r), err)
}

// changeDir sends CWD.
func (s *session) changeDir(dir string) error {
	err := s.perform("CWD " + dir)
	if err == nil {
		s.ctl.message = s.ctl.last.Text
	}
	return err
}

func (s *session) mkd(dir string) error {
	s.ctl.began = true
	return s.trySpellings(dir, func() error { return s.perform("MKD " + s.spelled(dir)) })
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

// compareSize compares the size in the reply to RETR, if any, with that of SIZE. If SIZE was not
// sent, it sets the size of b.
func (s *session) compareSize(b *download) {
	stated := s.ctl.announced
	if b.size >= 0 {
		s.retrStatesSize = stated == b.size
		return
	}
	b.size, b.byReply, s.retrStatesSize = stated, true, s.retrStatesSize && stated >= 0
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

// retrieve starts a download.
func (s *session) retrieve(offset int64) error {
	err := s.transferName(func(command string) error { return s.start(command, offset) })
	if err != nil {
		s.retrStatesSize = false // so that SIZE is sent next, which shows whether the file is missing
	}
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Op == "RETR" && offset > 0 {
		s.tainted = true // the next transfer may begin at the offset, which nothing shows without SIZE
	}
	return err
}

// transferName performs the transfer of the access with do.
func (s *session) transferName(do func(command string) error) error {
	a := s.access
	return s.trySpellings(a.name, func() error { return s.transfer(a.transferLine(s.spelled(a.name)), do) })
}

// transfer calls do, which performs the transfer that command starts. It opens a data connection unless
// one is open; from then on some servers answer nothing else. If there was one before the access, a
// refusal may mean that the server does not use it. Unless SIZE has not found the file either, the
// transfer is then tried with another one.
func (s *session) transfer(command string, do func(command string) error) error {
	if err := s.ctl.learnIAC(command); err != nil {
		return s.failure(err)
	}
	if err := s.openData(command); err != nil {
		return err
	}
	origin := s.data.origin
	err := s.tryTransfer(command, do)
	if origin == forTransfer || s.data.begun() || !deniesPort(err) || s.isAbsent() { // data that was sent cannot be sent again
		return err
	}
	s.dropData()
	if err := s.openData(command); err != nil {
		return err
	}
	again := s.tryTransfer(command, do)
	if again == nil && origin == requested {
		s.recordLoss()
	}
	return again
}

// deniesPort reports whether err may be the reply of a server that has no data connection. All but
// 425 and 426 have other meanings, too.
func deniesPort(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && slices.Contains([]int{425, 426, 451, 503, 550, 551}, e.Code) && e.Kind != fetch.ErrPermission && !noFiles(err)
}

// isAbsent reports whether SIZE does not find the file of a download.
func (s *session) isAbsent() bool {
	if a := s.access; !s.absent && a.verb == "RETR" && a.typ == 'I' && !a.exact {
		_, _ = s.size(a.name)
	}
	return s.absent
}

// tryTransfer is transfer with an open data connection. If the server refuses the transfer, the
// connection is kept for the next one, unless another port has been requested already: some servers
// never close a port that no transfer has used.
func (s *session) tryTransfer(command string, do func(command string) error) error {
	s.data.ctx, s.data.ctl = s.ctx, s.ctl
	s.ctl.announced, s.ctl.rest = -1, -1
	err := do(command)
	if s.refused = err != nil; !s.refused {
		return nil
	}
	d := s.data
	err = d.explain(s.failure(err)) // before drop ends the handshake
	if d.state == dataOpen && d.setup == nil && refusal(err) && len(s.ctl.queued) == 0 {
		d.origin = leftOver
		return err
	}
	d.drop()
	if refusal(err) && d.localError() != nil {
		err = s.failure(d.localError())
	}
	return err
}

// finish ends a download: it closes the data connection and reads the final reply. Before, it
// requests the port of the next transfer if ask is set, and another one follows.
func (s *session) finish(ask bool) error {
	_ = s.data.Close() // some servers reply only then
	if ask {
		_ = s.requestNextPort() // if this fails, so does reading the reply
	}
	err := s.ctl.endTransfer()
	s.checkPipelining()
	if r := s.ctl.last; err == nil {
		a := s.access
		if kind, short := shortfall(r.Text, a.listing(), append(slices.Clip(a.dirs), a.name)...); short {
			err = &fetch.Error{Kind: kind, Code: r.Code, Reply: r.Text}
		}
	}
	return s.failure(err)
}

// abandon ends a download whose rest is not needed: it closes the data connection and reads the
// final reply, which is negative if the server has not sent everything. If no reply comes within
// abortTime, the session cannot be used any more. It reports whether it can. Without the wait, each
// read of a ReaderAt would need a login.
func (s *session) abandon() bool {
	if s.ctl.pending() || s.ctl.Err != nil || s.ctx.Err() != nil {
		return false
	}
	if s.ctl.phase == commanding { // it has ended
		return true
	}
	defer func(limit time.Duration) { s.ctl.Limits.Reply = limit }(s.ctl.Limits.Reply)
	s.ctl.Limits.Reply = min(cmp.Or(s.ctl.Limits.Reply, abortTime), abortTime)
	_ = s.data.Close()
	if _ = s.ctl.endTransfer(); s.ctl.Err != nil {
		return false
	}
	s.dropData()
	return true
}

// start sends the command of a transfer, and REST before it. It returns when the data connection can be
// used. What it returns is for failure.
func (s *session) start(command string, offset int64) error {
	ahead := s.withTransfer()
	if offset > 0 {
		r, err := s.ctl.ask(fmt.Sprint("REST ", offset))
		if err := s.ctl.expect(r, r.Code == 350, err); err != nil {
			return err
		}
	}
	if err := s.ctl.send(command, ahead...); err != nil {
		return err
	}
	if !isTransfer(s.ctl.verb) {
		s.ctl.verb = "LIST" // Options.ListCommand replaces LIST
	}
	if err := s.commandSent(); err != nil {
		return err
	}
	if err := s.ctl.beginTransfer(s.access.name); err != nil {
		return err
	}
	return s.begin()
}

// store uploads body. If the data cannot be sent, the final reply may say why.
func (s *session) store(body io.Reader, offset int64) error {
	return s.transferName(func(command string) error {
		if err := s.start(command, offset); err != nil {
			return err
		}
		_, err := s.data.ReadFrom(body)
		_ = s.data.Close()
		if s.data.sent {
			_ = s.requestNextPort()
		}
		return errors.Join(err, s.ctl.endTransfer())
	})
}

// requestNextPort requests the port of the next transfer, when the data of this one has ended.
func (s *session) requestNextPort() error {
	if s.data.over || len(s.ctl.queued) > 0 || !s.wantsNextPort() {
		return nil
	}
	return s.ctl.sendPipelined([]string{s.passiveCommand()})
}

// commandSent is called when the command of a transfer has been sent. If the port is still to be
// connected to, that takes as long as the reply to the command. If the reply has arrived already, it
// is read first: after a refusal, the server may give the port to another client.
func (s *session) commandSent() error {
	switch {
	case s.data.port == 0:
		s.startSetup()
		return nil
	case s.ctl.Waiting():
		return nil
	}
	if err := s.connectLater(); err != nil && fetch.KindOf(err) != fetch.ErrUnreachable {
		return s.ctl.Fail(err)
	} // else the server may have closed the port, because it refuses the command: its reply comes first
	return nil
}

// connectLater connects to the port of an upload whose command has been sent.
func (s *session) connectLater() error {
	err := s.connectData(s.data)
	if err == nil {
		s.startSetup()
	}
	return err
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
