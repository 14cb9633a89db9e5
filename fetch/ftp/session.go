package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	client "github.com/jlaffaye/ftp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
)

// quitTime is how long a session waits for a farewell by default.
const quitTime = 2 * time.Second

// abortTime bounds it where a transfer is broken off, which some servers never
// answer to.
const abortTime = time.Second

// session is a login on a server. The conversation is the library's, this file
// being the only one that knows it; below it lies a control. A session belongs
// to one access at a time.
type session struct {
	ctl      *control
	conn     *client.ServerConn
	key      key
	entry    string         // working directory after the login; "" when not known
	peer     netip.AddrPort // of the control connection; invalid behind a proxy
	where    []string       // arguments of CWD since the login directory
	lost     bool           // where is not known
	typ      byte           // TYPE in force; 0 when not known
	feats    features       // nil before they are asked for
	raw      bool           // commands of the caller's own were sent
	farewell time.Duration  // to wait for it; negative: not at all
	config   *tls.Config    // nil as long as nothing is under TLS
	private  bool           // data connections are under TLS too
	noEPRT   bool           // was refused
	used     bool           // by an access before the one under way
	next     uint16         // port that the server has named for the next transfer; 0 is none

	// Of the access under way:
	ctx    context.Context
	access *access
	data   *dataConn
	port   net.Listener     // that the server is to connect to; nil in passive mode
	ready  bool             // data, or port, awaits a transfer
	last   *client.Response // the transfer; nil when none is under way
}

// dial connects and logs in.
func dial(ctx context.Context, a *access) (*session, error) {
	s := &session{key: a.key, ctx: ctx, access: a, farewell: a.farewell}
	conn, err := a.env.Connect(ctx, a.target())
	if err != nil {
		return nil, err
	}
	// Behind a proxy the peer is the proxy, which shows in its port.
	if peer := fetch.AddrPort(conn.RemoteAddr()); peer.Port() == a.target().Port {
		s.peer = peer
	}
	s.ctl = newControl(ctx, conn, a.limits, a.trace)
	s.ctl.answers = s
	s.ctl.behindPass = s.afterLogin()
	if err := s.login(); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// connect reads the greeting.
func (s *session) connect(dial func(network, address string) (net.Conn, error)) (err error) {
	s.conn, err = client.Dial("",
		client.DialWithDialFunc(dial),
		client.DialWithDisabledUTF8(true),
		client.DialWithDisabledMLSD(true))
	return s.failure(err)
}

// login does USER and what the server asks for then, before and after that what
// TLS needs. The library sends nothing else during it that reaches the wire.
func (s *session) login() (err error) {
	if s.access.implicit() {
		if err := s.secure(); err != nil {
			return err
		}
	}
	if err := s.connect(s.dialFunc); err != nil {
		return err
	}
	if s.access.wantsTLS() {
		s.ctl.welcome = false // who logs in in the clear is nobody under TLS
		if err := s.startTLS(); err != nil {
			return err
		}
	}
	if err := s.conn.Login(s.access.user(), ""); err != nil {
		return s.failure(err)
	}
	s.ctl.phase = commanding
	if err := s.failure(s.ctl.sendAhead(s.ctl.behindPass)); err != nil { // no password was asked for
		return err
	}
	if s.config != nil {
		return s.protect()
	}
	return nil
}

// dialFunc hands the library its control connection, and later the data
// connections that openData has made.
func (s *session) dialFunc(_, _ string) (net.Conn, error) {
	if s.conn == nil {
		return s.ctl, nil
	}
	return s.data, nil
}

// alternative answers a refusal of USER.
func (s *session) alternative() string { return s.access.opt.AlternativeToUser }

// password answers PASS.
func (s *session) password(text string) (string, error) {
	login := s.access.login
	switch {
	case login == nil:
		return s.access.email, nil
	case login.HasPassword:
		return login.Password, nil
	}
	got, err := s.access.env.Login(s.ctx, fetch.Challenge{Locator: s.access.loc, User: login.User, Text: text})
	return got.Password, err
}

// account answers ACCT.
func (s *session) account(text string) (string, error) {
	if account := s.access.opt.Account; account != "" {
		return account, nil
	}
	got, err := s.access.env.Login(s.ctx, fetch.Challenge{Locator: s.access.loc, User: s.access.user(), Account: true, Text: text})
	return got.Password, err
}

// remember asks for the login directory, so that the session can be used again.
func (s *session) remember() error {
	r, err := s.ctl.exchange("PWD")
	if err != nil {
		return s.failure(err)
	}
	if r.Code == 257 {
		s.entry, _ = quotedPath(r.Text)
	}
	return nil
}

// Permit asks the policy about an access that is to have the session.
func (s *session) Permit(ctx context.Context, a *access) error {
	return talk.PermitReuse(ctx, a.env, a.target(), s.peer)
}

// Waiting reports whether something has come on an idle session that nobody has
// asked for.
func (s *session) Waiting() bool { return !s.ctl.pending() && s.ctl.Waiting() }

// Drop closes the session without a word.
func (s *session) Drop() { s.ctl.Talk.Close() }

// Resume puts an idle session under another access.
func (s *session) Resume(ctx context.Context, a *access) {
	s.ctx, s.access = ctx, a
	s.ctl.Resume(ctx, a.limits, a.trace)
	s.used, s.ctl.began, s.ctl.heard = true, false, false
	a.trace.Reused(s.describe())
}

// Stale tells whether a used session broke before it could do anything that must
// not be done again: it had been dead for some time, most likely.
func (s *session) Stale() bool {
	return s.used && !s.raw && !s.ctl.began && s.ctl.Err != nil && s.ctx.Err() == nil
}

// describe is the session's control connection as its access sees it.
func (s *session) describe() fetch.Connection {
	return fetch.Connection{
		Network: "tcp", Purpose: fetch.PurposeControl, Host: s.access.loc.Host,
		Local: fetch.AddrPort(s.ctl.Raw.LocalAddr()), Remote: s.peer,
	}
}

// Reusable tells whether another access may have the session.
func (s *session) Reusable() bool {
	return s.entry != "" && !s.raw && s.last == nil && s.ctl.Err == nil && !s.ctl.outrun && s.ctx.Err() == nil
}

// Rest takes the session out of its access.
func (s *session) Rest() {
	s.ctl.Rest()
	s.dropData()
	s.ctx, s.access = context.Background(), nil
}

// Close takes leave of the server, in bounded time, and closes the connection.
// After a refused login it only closes, as curl does: nobody waits for a farewell.
func (s *session) Close() error {
	if s.ctl.phase == loggingIn {
		return s.ctl.Close()
	}
	return s.ctl.Quit(s.farewell)
}

// End is Close for a session whose access may have failed or been cut off.
func (s *session) End() {
	s.dropData()
	switch {
	case s.ctx.Err() != nil:
		s.ctl.Close()
	case s.last != nil:
		s.ctl.Quit(min(abortTime, s.farewell))
	default:
		s.Close()
	}
}

// named does something by name. Most servers know nothing of Telnet and take a
// doubled IAC for two octets (the letter я of CP1251 is one): where the name is
// not to be found so, it is sent undoubled once, and from then on if that helps.
func (s *session) named(name string, do func() error) error {
	err := do()
	var e *fetch.Error
	if s.ctl.bareIAC || !strings.Contains(name, iac) || !errors.As(err, &e) || e.Code != 550 {
		return err
	}
	s.ctl.bareIAC = true
	again := do()
	if refusal(again) {
		s.ctl.bareIAC = false
		return err
	}
	return again
}

// The commands of an access.

func (s *session) quote(line string) (talk.Reply, error) {
	s.raw, s.typ = true, 0
	r, err := s.ctl.exchange(line)
	r.Text = s.ctl.Mask(r.Text)
	return r, s.failure(err)
}

func (s *session) left(dirs []string) ([]string, bool) {
	if n := len(s.where); !s.lost && n <= len(dirs) && slices.Equal(s.where, dirs[:n]) {
		return dirs[n:], true
	}
	return dirs, false
}

func (s *session) isHome() bool { return !s.lost && len(s.where) == 0 }

func (s *session) home() error {
	if s.isHome() {
		return nil
	}
	if err := s.named(s.entry, func() error { return s.failure(s.conn.ChangeDir(s.entry)) }); err != nil {
		// There is no way from here to anywhere.
		return s.ctl.Fail(err)
	}
	s.where, s.lost = nil, false
	return nil
}

func (s *session) cwd(dir string) error {
	if err := s.named(dir, func() error { return s.failure(s.conn.ChangeDir(dir)) }); err != nil {
		return err
	}
	s.where = append(s.where, dir)
	return nil
}

func (s *session) mkd(dir string) error {
	s.ctl.began = true
	return s.failure(s.conn.MakeDir(dir))
}

func (s *session) setType(t byte) error {
	if s.typ == t {
		return nil
	}
	if err := s.conn.Type(client.TransferType(t)); err != nil {
		return s.failure(err)
	}
	s.typ = t
	return nil
}

func (s *session) size(name string) (n int64, err error) {
	err = s.named(name, func() error {
		n, err = s.conn.FileSize(name)
		return s.failure(err)
	})
	return n, err
}

func (s *session) modTime(name string) (t time.Time, err error) {
	err = s.named(name, func() error {
		t, err = s.conn.GetTime(name)
		return s.failure(err)
	})
	return t, err
}

// retrieve starts a transfer to us. The library knows it as RETR; command is
// what is sent.
func (s *session) retrieve(command string, offset int64) error {
	return s.named(command, func() error {
		return s.transfer(command, func() (err error) {
			s.last, err = s.conn.RetrFrom("", uint64(offset))
			return err
		})
	})
}

// transfer lets the library do a transfer over the data connection that has been
// opened for it, or one that is opened now.
func (s *session) transfer(command string, do func() error) error {
	if err := s.openData(command); err != nil {
		return err
	}
	s.ready = false
	s.ctl.transfer, s.ctl.announced = command, -1
	s.ctl.behind = s.afterTransfer()
	s.expect()
	err := do()
	if err == nil {
		return nil
	}
	err = s.data.refused(s.failure(err)) // as long as the handshake can still come to its end
	s.closePort()
	s.data.stop()
	if refusal(err) && s.data.complaint() != nil {
		err = s.failure(s.data.complaint())
	}
	return err
}

// finish ends a transfer to us: it closes the data connection and reads the last
// reply.
func (s *session) finish() error {
	err := s.last.Close()
	s.last = nil
	s.judge()
	if r := s.ctl.last; err == nil && saysTruncated(r.Text, s.access.name) {
		err = &fetch.Error{Kind: fetch.ErrTruncated, Code: r.Code, Reply: r.Text}
	}
	return s.failure(err)
}

// store does a transfer to the server as a whole.
func (s *session) store(command string, body io.Reader, offset int64) error {
	return s.transfer(command, func() error {
		if s.access.verb == fetch.OpAPPE {
			return s.conn.Append("", body)
		}
		return s.conn.StorFrom("", body, uint64(offset))
	})
}

// refused is the error of a command whose reply is not the one that it needs.
func (s *session) refused(r talk.Reply) error {
	err := error(&fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: fmt.Errorf("unexpected reply to %s", s.ctl.verb)})
	if r.Class() >= 4 {
		err = &fetch.Error{Kind: kindOf(s.ctl.verb, r), Code: r.Code, Reply: r.Text}
	}
	return s.failure(err)
}

// failure makes the error of a failed command: what broke the connection, else
// what our own side of it said, else the server's reply.
func (s *session) failure(err error) error {
	if err == nil {
		return nil
	}
	s.judge()
	var ours *fetch.Error
	switch r := s.ctl.last; {
	case s.ctl.Err != nil:
		err = s.ctl.Err
	case errors.As(err, &ours):
		err = ours
	case r.Class() >= 4:
		refusal := &fetch.Error{Kind: kindOf(s.ctl.verb, r), Code: r.Code, Reply: r.Text}
		if broken, ok := errors.AsType[*net.OpError](err); ok { // the data connection, and the server says so
			refusal.Err = broken
		}
		err = refusal
	}
	e := s.access.fail(s.ctl.verb, err)
	e.Reply = s.ctl.Mask(e.Reply)
	return e
}
