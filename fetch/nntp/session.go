package nntp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// quitTime is the timeout for QUIT.
const quitTime = 2 * time.Second

// readBuffer is the size of the read buffer. It is large because thousands of articles may come in
// a row.
const readBuffer = 64 << 10

// session is a conversation with a server. It belongs to one access at a time.
type session struct {
	*talk.Talk

	key      key
	peer     netip.AddrPort // invalid when not known
	greeting string
	can      capabilities // nil if the server does not support CAPABILITIES
	group    string       // the selected group; "" if no group is selected
	overview fetch.Op     // the supported command for overviews, once it is known
	loggedIn bool
	leaving  error // the 400 to CAPABILITIES, after which the server may close the connection
	block    bool  // a block, or replies to pipelined commands, are not fully read

	// Of the current access:
	ctx      context.Context
	access   *access
	answered bool // the server has sent a reply
}

// dial connects to the server and switches it to reader mode. Until the greeting has come,
// o.Context applies.
func dial(ctx context.Context, o sessions.Opening, a *access) (*session, error) {
	conn, err := a.env.Connect(o.Context, a.target())
	if err != nil {
		return nil, a.fail(fetch.OpConnect, err)
	}
	s := &session{Talk: talk.New(o.Context, conn, "NNTP", readBuffer, a.limits, a.trace), key: a.key, ctx: o.Context, access: a}
	s.peer = driver.AddrPort(conn.RemoteAddr())
	if err := s.open(ctx, o); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// open does everything before the first command of an access: greeting, TLS and reader mode.
func (s *session) open(ctx context.Context, o sessions.Opening) error {
	if s.key.secure == implicit {
		if err := s.secure(); err != nil {
			return err
		}
	}
	r, err := s.receive()
	switch {
	case err != nil:
		return s.wrapError(fetch.OpConnect, err)
	case r.Code != 200 && r.Code != 201:
		return s.replyError(fetch.OpConnect, r)
	}
	s.greeting = r.Text
	s.ctx = ctx
	s.Talk.Resume(ctx, s.access.limits, s.access.trace)
	o.Greeted()
	if s.key.secure == explicit || s.key.secure == tried {
		if err := s.startTLS(); err != nil {
			return err
		}
	}
	return s.readerMode()
}

// secure starts TLS on the connection.
func (s *session) secure() error {
	if err := s.StartTLS(s.ctx, s.access.env.TLSConfig, s.key.host); err != nil {
		return s.wrapError(fetch.OpTLS, err)
	}
	return nil
}

// startTLS sends STARTTLS (RFC 4642) and starts TLS. Capabilities from before TLS are not used
// afterwards.
func (s *session) startTLS() error {
	_, err := s.expect("STARTTLS", 382)
	if s.key.secure == tried && s.Err == nil && code(err) >= 400 {
		s.Trace.Note("the server refused STARTTLS; continuing without encryption")
		return nil
	}
	if err != nil {
		return err
	}
	return s.secure()
}

// readerMode requests the server's capabilities and sends MODE READER if the server requires it.
func (s *session) readerMode() error {
	if err := s.askCapabilities(); err != nil {
		return err
	}
	if s.can != nil && !s.can.has("MODE-READER") {
		return nil
	}
	_, err := s.expect("MODE READER", 200, 201)
	switch {
	case err == nil && s.can != nil:
		return s.askCapabilities() // MODE READER changes them
	case err == nil, s.Err == nil && code(err) != 502:
		return nil // RFC 977 has no such command
	}
	return err
}

// capabilities are the capabilities that a server lists, in upper case.
type capabilities map[string][]string

func (c capabilities) has(name string) bool { _, ok := c[name]; return ok }

// maxCapabilities limits the lines of the reply to CAPABILITIES. Limits.Header limits its size.
const maxCapabilities = 1000

// askCapabilities sends CAPABILITIES. A server that does not support it replies 500.
func (s *session) askCapabilities() error {
	s.can = nil
	r, err := s.command("CAPABILITIES")
	switch {
	case err != nil:
		return err
	case r.Code != 101 && r.Class() <= 3:
		return s.unexpected("CAPABILITIES", r)
	case r.Code != 101:
		return nil
	}
	s.can = make(capabilities)
	octets := 0
	for block := wire.NewDotReader(s.Lines).Listing(); ; { // within the time limit of the reply
		line, err := block.ReadLine()
		if len(line) > 0 {
			s.Show(line)
		}
		octets += len(line)
		if fields := strings.Fields(strings.ToUpper(string(line))); len(fields) > 0 {
			s.can[fields[0]] = fields[1:]
		}
		switch {
		case err == io.EOF:
			s.Trace.Received([]byte(".\r\n"))
			return nil
		case err != nil:
			return s.wrapError("CAPABILITIES", s.Fail(replyFailure(err)))
		case len(s.can) > maxCapabilities, s.Limits.Header > 0 && octets > s.Limits.Header:
			return s.wrapError("CAPABILITIES", s.Fail(talk.Violation("", "the list of capabilities is too long")))
		}
	}
}

// wrapError wraps the error of an operation and masks secrets in its reply. If the connection has failed
// after a 400, that is the reason.
func (s *session) wrapError(op fetch.Op, err error) error {
	if s.leaving != nil && s.Err != nil && fetch.KindOf(err) != fetch.ErrTimeout && s.ctx.Err() == nil {
		err = s.leaving
	}
	e := s.access.fail(op, err)
	e.Reply = s.Mask(e.Reply)
	return e
}

// openBlock returns a reader for the block after the reply just received.
func (s *session) openBlock() *wire.DotReader {
	s.block = true
	return s.Block()
}

// send sends command lines in one write.
func (s *session) send(lines ...string) error {
	for _, line := range lines {
		if len(line)+len("\r\n") > maxCommand {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: errLong}
		}
	}
	return s.Send(lines...)
}

// receive reads a reply. The session is unusable after 400 (the server closes the connection) and
// after anything that is not a reply.
func (s *session) receive() (talk.Reply, error) {
	r, err := s.LineReply()
	r.Text = strings.TrimSpace(r.Text)
	switch {
	case err != nil:
		return r, err
	case r.Code == 400:
		return r, s.Fail(busy(r))
	}
	s.leaving, s.answered = nil, true
	return r, nil
}

// busy returns the error for the reply 400.
func busy(r talk.Reply) *fetch.Error {
	return &fetch.Error{Kind: fetch.ErrBusy, Code: r.Code, Reply: r.Text}
}

// command sends a command and reads its reply. If the server requires a login or MODE READER first,
// command does that and sends the command again, once.
func (s *session) command(line string) (talk.Reply, error) {
	verb := verbOf(line)
	for tries := 0; ; tries++ {
		if s.Err == nil && s.Lines.Buffered() > 0 {
			return talk.Reply{}, s.wrapError(verb, s.Fail(talk.Violation("", "the server sent a reply without a command")))
		}
		if err := s.send(line); err != nil {
			return talk.Reply{}, s.wrapError(verb, err)
		}
		r, err := s.receive()
		if err != nil && r.Code == 400 && verb == "CAPABILITIES" { // some servers say so of an unknown command, and stay
			s.leaving, s.Err = err, nil
			return r, nil
		}
		if err != nil {
			return r, s.wrapError(verb, err)
		}
		switch {
		case tries > 0 || verb == "AUTHINFO" || verb == "CAPABILITIES" || verb == "MODE":
			return r, nil
		case r.Code == 401:
			_, err = s.expect("MODE READER", 200, 201)
		case r.Code == 480 && !s.loggedIn:
			err = s.login(r.Text)
		default:
			return r, nil
		}
		if err != nil {
			return talk.Reply{}, err
		}
	}
}

// verbOf returns the first word of a command. It is the Op of the command's errors.
func verbOf(line string) fetch.Op {
	verb, _, _ := strings.Cut(line, " ")
	return fetch.Op(verb)
}

// expect is like command, but returns an error unless the reply has one of the given codes.
func (s *session) expect(line string, codes ...int) (talk.Reply, error) {
	verb := verbOf(line)
	r, err := s.command(line)
	if err != nil {
		return r, err
	}
	for _, code := range codes {
		if r.Code == code {
			return r, nil
		}
	}
	return r, s.replyError(verb, r)
}

// replyError returns the error for a reply with an unwanted code.
func (s *session) replyError(verb fetch.Op, r talk.Reply) error {
	if r.Class() <= 3 {
		return s.unexpected(verb, r)
	}
	return s.wrapError(verb, &fetch.Error{Kind: kindOf(verb, r), Code: r.Code, Reply: r.Text})
}

// unexpected returns the error for a reply that does not fit the command. The session is unusable
// afterwards, because later replies may be out of step too.
func (s *session) unexpected(verb fetch.Op, r talk.Reply) error {
	return s.wrapError(verb, s.Fail(talk.Violation(fmt.Sprint(r.Code, " ", r.Text), talk.Unexpected(verb))))
}

// passCommand is the command whose argument is a password.
const passCommand = "AUTHINFO PASS "

// login sends AUTHINFO USER and AUTHINFO PASS (RFC 4643 §2.3). text is the text of the server's
// reply that requires the login.
func (s *session) login(text string) error {
	login, err := s.access.credentials(s.ctx, text)
	switch {
	case err != nil:
		e := *driver.Fail("AUTHINFO", s.access.loc, fetch.ErrUnauthenticated, err)
		if e.Kind == fetch.ErrUnauthenticated {
			e.Code, e.Reply = 480, text
		}
		return s.wrapError("AUTHINFO", &e)
	case login.User == "":
		return s.wrapError("AUTHINFO", &fetch.Error{Kind: fetch.ErrUnauthenticated, Code: 480, Reply: text})
	}
	r, err := s.command("AUTHINFO USER " + login.User)
	if err == nil && r.Code == 381 {
		s.Hide(login.Password)
		r, err = s.command(passCommand + login.Password)
	}
	switch {
	case err != nil:
		return err
	case r.Code != 281:
		return s.replyError("AUTHINFO", r)
	}
	s.loggedIn, s.can, s.group = true, nil, ""
	return nil
}

// ensureGroup selects a group unless it is already selected.
func (s *session) ensureGroup(group string) error {
	if s.group == group {
		return nil
	}
	_, err := s.selectGroup(group)
	return err
}

// selectGroup sends GROUP.
func (s *session) selectGroup(group string) (groupInfo, error) {
	r, err := s.expect("GROUP "+group, 211)
	if err != nil {
		return groupInfo{}, err
	}
	g, err := parseGroup(r.Text)
	if err != nil {
		return g, s.wrapError("GROUP", s.Fail(talk.Violation(r.Text, "the reply to GROUP has no article numbers")))
	}
	s.group = group
	return g, nil
}

// Permit asks the policy whether an access may use the session.
func (s *session) Permit(ctx context.Context, a *access) error {
	if ctx.Err() != nil {
		return a.fail(fetch.OpConnect, ctx.Err())
	}
	return talk.PermitReuse(ctx, a.env, a.target(), s.peer)
}

// Drop closes the session without QUIT.
func (s *session) Drop() { s.Talk.Close() }

// Stale reports whether the session was probably dead before the access began.
func (s *session) Stale() bool { return !s.answered && s.ctx.Err() == nil }

// Resume assigns an idle session to an access.
func (s *session) Resume(ctx context.Context, a *access) {
	s.ctx, s.access, s.answered = ctx, a, false
	s.Talk.Resume(ctx, a.limits, a.trace)
	a.trace.Reused(s.describe())
}

// describe returns the session's connection for the trace.
func (s *session) describe() fetch.Connection {
	c := fetch.Connection{Network: "tcp", Purpose: fetch.PurposeControl, Host: s.key.host, Remote: s.peer}
	if tcp, ok := s.Raw.LocalAddr().(*net.TCPAddr); ok {
		c.Local = tcp.AddrPort()
	}
	return c
}

// Reusable reports whether another access may use the session.
func (s *session) Reusable() bool {
	return s.Err == nil && !s.block && s.ctx.Err() == nil && s.Lines.Buffered() == 0
}

// Rest detaches the session from its access.
func (s *session) Rest() {
	s.ctx, s.access = context.Background(), nil
	s.Talk.Rest()
}

// Close sends QUIT, with a timeout, and closes the connection.
func (s *session) Close() error {
	if s.block {
		return s.Talk.Close()
	}
	return s.Quit(quitTime)
}

// End closes a session whose access may have failed or been canceled.
func (s *session) End() {
	if s.ctx.Err() != nil {
		s.Talk.Close()
		return
	}
	_ = s.Close()
}
