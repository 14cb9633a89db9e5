package ftp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
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

// A session is a login on a server. The client library talks to the server through a control. A
// session belongs to one access at a time.
type session struct {
	ctl            *control
	conn           *libraryConn
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
	port   net.Listener     // the port that the server connects to; nil in passive mode
	ready  bool             // data or port is open, and no transfer has used it yet
	early  bool             // data was opened before its transfer
	asked  bool             // its port was requested during the previous transfer; else it is left from a refused one
	later  uint16           // the port of data, to which the session connects once STOR has been sent; or 0
	absent bool             // SIZE has not found the file
	last   *libraryResponse // the current download; nil between downloads

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
	s.ctl.session, s.ctl.knowsIAC = s, a.exact // doubled, if no other command may be sent to find out
	if err := s.login(ctx, o); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// connect reads the greeting.
func (s *session) connect(dial func(network, address string) (net.Conn, error)) (err error) {
	s.conn, err = dialLibrary(dial)
	return s.failure(err)
}

// login sends USER and what the server requests in reply, with the commands for TLS before
// and after. No other command of the library is sent to the server.
func (s *session) login(ctx context.Context, o sessions.Opening) (err error) {
	if s.access.implicit() {
		if err := s.secure(); err != nil {
			return err
		}
	}
	if err := s.connect(s.dialFunc); err != nil {
		return err
	}
	s.ctx = ctx
	s.ctl.Resume(ctx, s.access.limits, s.access.trace)
	o.Greeted()
	s.program = programOf(s.ctl.greeting)
	s.program.single = s.program.single || s.ctl.noLogin // such servers are rare, and may handle one command of a packet
	s.ctl.withPASS = s.withPASS()
	s.planned = s.ctl.withPASS != nil
	if s.access.wantsTLS() {
		s.ctl.noLogin = false // a login in the clear does not count under TLS
		if err := s.startTLS(); err != nil {
			return err
		}
	}
	if login := s.access.login; login != nil { // nothing may be sent between USER and PASS
		if err := s.ctl.learnIAC(login.User, login.Password); err != nil {
			return s.failure(err)
		}
	}
	if err := s.conn.Login(s.access.user(), ""); err != nil {
		return s.failure(err)
	}
	s.ctl.phase = commanding
	if err := s.failure(s.ctl.sendPipelined(s.ctl.queue.withPASS)); err != nil { // if PASS was not sent
		return err
	}
	if s.config != nil {
		return s.protect()
	}
	return nil
}

// dialFunc returns the control connection to the library and later the data connections
// that openData has opened.
func (s *session) dialFunc(_, _ string) (net.Conn, error) {
	if s.conn == nil {
		return s.ctl, nil
	}
	return s.data, nil
}

// alternative returns the command in place of USER and PASS, or "".
func (s *session) alternative() string { return s.access.opt.AlternativeToUser }

// password returns the argument of PASS.
func (s *session) password(text string) (string, error) {
	login := s.access.login
	switch {
	case login == nil:
		return s.access.email, nil // by default anonymous@, not the user's address (RFC 1738 §3.2.1)
	case login.HasPassword:
		return login.Password, nil
	}
	got, err := s.access.env.Login(s.ctx, fetch.Challenge{Locator: s.access.loc, User: login.User, Text: text})
	return got.Password, err
}

// account returns the argument of ACCT.
func (s *session) account(text string) (string, error) {
	if account := s.access.opt.Account; account != "" {
		return account, nil
	}
	got, err := s.access.env.Login(s.ctx, fetch.Challenge{Locator: s.access.loc, User: s.access.user(), Account: true, Text: text})
	return got.Password, err
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
	return s.entry != "" && !s.tainted && s.last == nil && s.ctl.Err == nil && !s.ctl.pipeliningFailed && s.ctx.Err() == nil
}

// Rest detaches the session from its access.
func (s *session) Rest() {
	s.ctl.Rest()
	if !s.ready {
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
	case s.last != nil:
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
	if err := s.failure(s.conn.ChangeDir(s.entry)); err != nil {
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
	if err := s.trySpellings(dir, func() error { return s.failure(s.conn.ChangeDir(s.spelled(dir))) }); err != nil {
		return err
	}
	s.dirs = append(s.dirs, dir)
	if s.unseen = s.unseen || !listed || !looksFor(s.access) && s.mayChange(dir); !listed {
		return s.access.fail("CWD", notListed(dir))
	}
	return nil
}

func (s *session) mkd(dir string) error {
	s.ctl.began = true
	return s.trySpellings(dir, func() error { return s.failure(s.conn.MakeDir(s.spelled(dir))) })
}

func (s *session) setType(t byte) error {
	if s.typ == t {
		return nil
	}
	if err := s.conn.Type(libraryType(t)); err != nil {
		return s.failure(err)
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

func (s *session) statesSize() bool { return s.retrStatesSize }

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

// askAbout sends a command with a name, and returns the reply to it. The library would parse the
// reply again, which takes time with thousands of small files.
func (s *session) askAbout(verb, name string) (r talk.Reply, err error) {
	err = s.trySpellings(name, func() error {
		r, err = s.ctl.ask(verb + " " + s.spelled(name))
		return s.check(r, r.Class() == 2, err)
	})
	return r, err
}

// retrieve starts a download. The library sends RETR, which control replaces by the command.
func (s *session) retrieve(offset int64) error {
	err := s.transferName(func() (err error) {
		s.last, err = s.conn.RetrFrom("", uint64(offset))
		return err
	})
	if err != nil {
		s.retrStatesSize = false // so that SIZE is sent next, which shows whether the file is missing
	}
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Op == "RETR" && offset > 0 {
		s.tainted = true // the next transfer may begin at the offset, which nothing shows without SIZE
	}
	return err
}

// transferName performs the transfer of the access with do.
func (s *session) transferName(do func() error) error {
	a := s.access
	return s.trySpellings(a.name, func() error { return s.transfer(a.command(s.spelled(a.name)), do) })
}

// transfer calls do, in which the library performs a transfer. It opens a data connection unless
// one is open; from then on some servers answer nothing else. If there was one before the access, a
// refusal may mean that the server does not use it. Unless SIZE has not found the file either, the
// transfer is then tried with another one.
func (s *session) transfer(command string, do func() error) error {
	if err := s.ctl.learnIAC(command); err != nil {
		return s.failure(err)
	}
	if err := s.openData(command); err != nil {
		return err
	}
	early, asked := s.early, s.asked
	err := s.tryTransfer(command, do)
	if !early || s.data.begun() || !deniesPort(err) || s.isAbsent() { // data that was sent cannot be sent again
		return err
	}
	s.dropData()
	if err := s.openData(command); err != nil {
		return err
	}
	again := s.tryTransfer(command, do)
	if again == nil && asked {
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
func (s *session) tryTransfer(command string, do func() error) error {
	s.ready, s.early = false, false
	s.ctl.transfer, s.ctl.announced, s.ctl.rest = command, -1, -1
	s.ctl.queue.withTransfer = s.withTransfer()
	err := do()
	if s.refused = err != nil; !s.refused {
		return nil
	}
	err = s.data.explain(s.failure(err)) // before stop ends the handshake
	if s.later != 0 {                    // the server may have given the port up
		s.dropData()
		return err
	}
	if s.port == nil && s.data.pending == nil && s.data.Conn == nil && refusal(err) && len(s.ctl.queued) == 0 {
		s.ready, s.early, s.asked = true, true, false
		return err
	}
	s.closePort()
	s.data.stop()
	s.data.drop()
	if refusal(err) && s.data.localError() != nil {
		err = s.failure(s.data.localError())
	}
	return err
}

// finish ends a download: it closes the data connection and reads the final reply. Before, it
// requests the port of the next transfer if ask is set, and another one follows.
func (s *session) finish(ask bool) error {
	_ = s.data.Close() // some servers reply only then
	if ask && !s.data.over && len(s.ctl.queued) == 0 && s.wantsNextPort() {
		if err := s.ctl.sendPipelined([]string{s.passiveCommand()}); err != nil {
			return s.failure(err)
		}
	}
	err := s.last.Close()
	s.last = nil
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
	if s.last == nil { // it has ended
		return true
	}
	defer func(limit time.Duration) { s.ctl.Limits.Reply = limit }(s.ctl.Limits.Reply)
	s.ctl.Limits.Reply = min(cmp.Or(s.ctl.Limits.Reply, abortTime), abortTime)
	_ = s.last.Close()
	if s.ctl.Err != nil || s.ctl.phase != commanding {
		return false
	}
	s.last = nil
	s.dropData()
	return true
}

// store uploads body.
func (s *session) store(body io.Reader, offset int64) error {
	return s.transferName(func() error {
		s.data.end = s.endOfUpload
		if s.access.verb == "APPE" {
			return s.conn.Append("", body)
		}
		return s.conn.StorFrom("", body, uint64(offset))
	})
}

// endOfUpload is called when all data has been sent. It requests the port of the next upload.
func (s *session) endOfUpload() {
	if !s.data.over && len(s.ctl.queued) == 0 && s.wantsNextPort() {
		_ = s.ctl.sendPipelined([]string{s.passiveCommand()}) // if this fails, so does reading the reply
	}
}

// commandSent is called when the command of a transfer has been sent. If the port is still to be
// connected to, that takes as long as the reply to the command. If the reply has arrived already, it
// is read first: after a refusal, the server may give the port to another client.
func (s *session) commandSent() error {
	switch {
	case s.later == 0:
		s.startPending()
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
	conn, err := s.dialData(s.later)
	if err != nil {
		return err
	}
	s.later, s.data.raw = 0, conn
	s.startPending()
	return nil
}

// check returns the error of a command that was sent past the library: err, or that of a reply that
// is not the expected one. A reply that is no refusal either makes the connection unusable.
func (s *session) check(r talk.Reply, expected bool, err error) error {
	switch {
	case err != nil:
		return s.failure(err)
	case expected:
		return nil
	case r.Class() < 4:
		_ = s.ctl.Fail(s.unexpected(r))
	}
	return s.refusedBy(r)
}

// unexpected returns the error for a reply that does not fit the command.
func (s *session) unexpected(r talk.Reply) error {
	return &fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: errors.New(talk.Unexpected(s.ctl.verb))}
}

// refusedBy returns the error for an unexpected or negative reply to a command.
func (s *session) refusedBy(r talk.Reply) error {
	err := s.unexpected(r)
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
