package nntp

import (
	"context"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

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

	// Of the current access:
	ctx    context.Context
	access *access
	state  state
}

// state is how far the replies to an access are read.
type state uint8

const (
	unanswered state = iota // there is no reply yet; the connection may be dead
	ready                   // all are read, with their blocks
	receiving               // a block, or replies to pipelined commands, are not
)

// dial connects to the server and switches it to reader mode. Until the greeting has come,
// o.Context applies.
func dial(ctx context.Context, o sessions.Opening, a *access) (*session, error) {
	conn, err := a.env.Connect(o.Context, a.target())
	if err != nil {
		return nil, a.fail(fetch.OpConnect, err)
	}
	s := &session{Talk: talk.New(o.Context, conn, "NNTP", readBuffer, a.env.Limits, a.trace), key: a.key, ctx: o.Context, access: a}
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
	s.Talk.Resume(ctx, s.access.env.Limits, s.access.trace)
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
	if s.can != nil && !s.can["MODE-READER"] {
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

// capabilities are the capabilities that a server lists, in upper case, without their arguments.
type capabilities map[string]bool

// said returns what the server of s has said of itself, as fields of an Attributes.Header.
func said(s *session) []fetch.Field {
	list := []fetch.Field{{Name: "Greeting", Value: s.greeting}}
	if len(s.can) > 0 {
		list = append(list, fetch.Field{Name: "Capabilities", Value: strings.Join(slices.Sorted(maps.Keys(s.can)), " ")})
	}
	return list
}

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
			s.can[fields[0]] = true
		}
		switch {
		case err == io.EOF:
			s.Trace.Received([]byte(".\r\n"))
			return nil
		case err == io.ErrUnexpectedEOF:
			return s.wrapError("CAPABILITIES", s.Fail(talk.ErrClosed))
		case err == wire.ErrLineTooLong:
			return s.wrapError("CAPABILITIES", s.Fail(&fetch.Error{Kind: fetch.ErrProtocol, Err: err}))
		case err != nil:
			return s.wrapError("CAPABILITIES", s.Fail(err))
		case len(s.can) > maxCapabilities, s.Limits.Header > 0 && octets > s.Limits.Header:
			return s.violation("CAPABILITIES", "", "the list of capabilities is too long")
		}
	}
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
		return g, s.violation("GROUP", r.Text, "the reply to GROUP has no article numbers")
	}
	s.group = group
	return g, nil
}

// expect is like command, but returns an error unless the reply has one of the given codes.
func (s *session) expect(line string, codes ...int) (talk.Reply, error) {
	verb := verbOf(line)
	r, err := s.command(line)
	if err != nil {
		return r, err
	}
	if !slices.Contains(codes, r.Code) {
		err = s.replyError(verb, r)
	}
	return r, err
}

// command sends a command and reads its reply. If the server requires a login or MODE READER first,
// command does that and sends the command again, once.
func (s *session) command(line string) (talk.Reply, error) {
	verb := verbOf(line)
	for tries := 0; ; tries++ {
		if s.Err == nil && s.Lines.Buffered() > 0 {
			return talk.Reply{}, s.violation(verb, "", "the server sent a reply without a command")
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
		return r, s.Fail(&fetch.Error{Kind: fetch.ErrBusy, Code: r.Code, Reply: r.Text})
	}
	s.leaving, s.state = nil, max(s.state, ready)
	return r, nil
}

// verbOf returns the first word of a command. It is the Op of the command's errors.
func verbOf(line string) fetch.Op {
	verb, _, _ := strings.Cut(line, " ")
	return fetch.Op(verb)
}

// passCommand is the command whose argument is a password.
const passCommand = "AUTHINFO PASS "

// login sends AUTHINFO USER and AUTHINFO PASS (RFC 4643 §2.3). text is the text of the server's
// reply that requires the login.
func (s *session) login(text string) error {
	login, err := s.access.credentials(s.ctx, text)
	switch {
	case err != nil:
		e := *driver.Fail("AUTHINFO", s.access.req.Locator, fetch.ErrUnauthenticated, err)
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

// credentials returns Options.Login, or the login from Env.Credentials, which may prompt the user.
// It calls Env.Credentials only once, although an access may use a second session. text is the text
// of the server's reply that requires the login.
func (a *access) credentials(ctx context.Context, text string) (locator.Login, error) {
	if a.opt.Login != nil {
		return *a.opt.Login, nil
	}
	login, err := a.env.Login(ctx, fetch.Challenge{Locator: a.req.Locator, Text: text})
	if err == nil {
		a.opt.Login = &login
	}
	return login, err
}
