package nntp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// quitTime bounds the leave-taking of a session.
const quitTime = 2 * time.Second

// readBuffer is how much is read at once. Articles come by the thousand.
const readBuffer = 64 << 10

// session is a conversation with a server. It belongs to one access at a time.
type session struct {
	conn     *wire.Conn
	raw      net.Conn // as it was dialled
	lines    *wire.LineReader
	key      key
	peer     netip.AddrPort // invalid when not known
	greeting string
	can      capabilities // nil when the server does not tell
	group    string       // selected; "" for none
	overview fetch.Op     // the command that gives overviews, once it is known
	loggedIn bool
	secret   string // the password that was sent
	since    int    // octets since acknowledgements were last asked for
	block    bool   // a block is under way, or answers to commands sent ahead
	err      error  // what made the session unusable

	// Of the access under way:
	ctx      context.Context
	access   *access
	limits   fetch.Limits
	trace    *fetch.Trace
	answered bool      // the server has answered something
	replyBy  time.Time // when the reply at hand is too late; zero: never
	waiting  bool      // for a reply; otherwise for the octets of a block
}

// dial connects and gets the server ready for readers.
func dial(ctx context.Context, a *access) (*session, error) {
	conn, err := a.env.Connect(ctx, a.target())
	if err != nil {
		return nil, a.fail(fetch.OpConnect, err)
	}
	s := &session{raw: conn, key: a.key, ctx: ctx, access: a, limits: a.limits, trace: a.trace}
	s.peer = fetch.AddrPort(conn.RemoteAddr())
	if err := s.open(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// open does what comes before the first command of an access.
func (s *session) open() error {
	s.attach(s.raw)
	if s.key.secure == implicit {
		if err := s.secure(); err != nil {
			return err
		}
	}
	r, err := s.receive()
	switch {
	case err != nil:
		return s.access.fail(fetch.OpConnect, err)
	case r.code != 200 && r.code != 201:
		return s.refuse(fetch.OpConnect, r)
	}
	s.greeting = r.text
	if s.key.secure == explicit || s.key.secure == tried {
		if err := s.startTLS(); err != nil {
			return err
		}
	}
	return s.readerMode()
}

// attach makes conn what is read and written.
func (s *session) attach(conn net.Conn) {
	if s.conn != nil { // conn is TLS over it
		s.conn.SetContext(context.Background())
	}
	s.conn = wire.NewConn(s.ctx, conn, s.limits.Reply)
	s.lines = wire.NewLineReader(bufio.NewReaderSize(readerFunc(s.readWire), readBuffer), s.limits.Line)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readWire reads within the time that is left for a reply as a whole, so that a
// server cannot stretch it by sending an octet now and then; or within the time
// between octets of a block.
func (s *session) readWire(p []byte) (int, error) {
	limit := s.limits.Idle
	if s.waiting {
		limit = 0
		if !s.replyBy.IsZero() {
			if limit = time.Until(s.replyBy); limit <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
		}
	}
	s.conn.SetTimeout(limit)
	n, err := s.conn.Read(p)
	// INN waits for the acknowledgement of each piece of a large article too.
	if s.since += n; s.since >= readBuffer/2 {
		s.since = 0
		wire.QuickAck(s.raw)
	}
	return n, err
}

// secure puts the connection under TLS.
func (s *session) secure() error {
	config := s.access.tls.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	if config.ServerName == "" {
		config.ServerName = s.key.host
	}
	ctx, cancel := wire.Within(s.ctx, s.limits.Connect)
	defer cancel()
	if err := s.raw.SetDeadline(time.Time{}); err != nil {
		return s.access.fail(fetch.OpTLS, s.fail(err))
	}
	conn := tls.Client(s.raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		if s.ctx.Err() != nil {
			err = s.ctx.Err()
		} else if ctx.Err() != nil {
			err = ctx.Err()
		}
		return s.access.fail(fetch.OpTLS, s.fail(err))
	}
	s.attach(conn)
	return nil
}

// startTLS is STARTTLS (RFC 4642). What was said before does not count after.
func (s *session) startTLS() error {
	_, err := s.expect("STARTTLS", 382)
	if s.key.secure == tried && s.err == nil && code(err) >= 400 {
		s.access.trace.Note("the server has no TLS; going on in the clear")
		return nil
	}
	if err != nil {
		return err
	}
	if s.lines.Buffered() > 0 {
		return s.access.fail(fetch.OpSTARTTLS, s.fail(violation("", "octets between STARTTLS and TLS")))
	}
	return s.secure()
}

// readerMode asks what the server can, and makes it one for readers if it is not.
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
		return s.askCapabilities() // they are others now
	case err == nil, s.err == nil && code(err) != 502:
		return nil // RFC 977 has no such command
	}
	return err
}

// capabilities are what a server says that it can, in capital letters.
type capabilities map[string][]string

func (c capabilities) has(name string) bool { _, ok := c[name]; return ok }

// maxCapabilities bounds the lines of the answer besides Limits.Header.
const maxCapabilities = 1000

// askCapabilities is CAPABILITIES; a server that does not know it says 500.
func (s *session) askCapabilities() error {
	s.can = nil
	r, err := s.command("CAPABILITIES")
	switch {
	case err != nil:
		return err
	case r.code != 101 && r.class() <= 3:
		return s.stray(fetch.OpCAPABILITIES, r)
	case r.code != 101:
		return nil
	}
	s.can = make(capabilities)
	octets := 0
	s.waiting = true
	for block := wire.NewDotReader(s.lines); ; {
		line, err := block.ReadLine()
		if len(line) > 0 {
			s.trace.Received(line)
		}
		octets += len(line)
		if fields := strings.Fields(strings.ToUpper(string(line))); len(fields) > 0 {
			s.can[fields[0]] = fields[1:]
		}
		switch {
		case err == io.EOF:
			s.trace.Received([]byte(".\r\n"))
			return nil
		case err != nil:
			return s.access.fail(fetch.OpCAPABILITIES, s.fail(replyFailure(err)))
		case len(s.can) > maxCapabilities, s.limits.Header > 0 && octets > s.limits.Header:
			return s.access.fail(fetch.OpCAPABILITIES, s.fail(violation("", "an endless list of capabilities")))
		}
	}
}

// fail makes the session unusable.
func (s *session) fail(err error) error {
	if s.err == nil {
		s.err = err
	}
	return err
}

// send sends command lines, in one piece.
func (s *session) send(lines ...string) error {
	if s.err != nil {
		return s.err
	}
	var octets, shown strings.Builder
	for _, line := range lines {
		// The components of locators are checked long before; this also stops what
		// a server or Env.Credentials might slip in.
		if i := strings.IndexAny(line, "\r\n\x00"); i >= 0 {
			return &fetch.Error{Kind: fetch.BadURL, Err: fmt.Errorf("octet %02X in an argument", line[i])}
		}
		if len(line)+len("\r\n") > maxCommand {
			return &fetch.Error{Kind: fetch.BadURL, Err: errLong}
		}
		octets.WriteString(line + "\r\n")
		if strings.HasPrefix(line, passCommand) {
			line = passCommand + "****"
		}
		shown.WriteString(line + "\r\n")
	}
	s.conn.SetTimeout(s.limits.Reply)
	if _, err := s.conn.Write([]byte(octets.String())); err != nil {
		return s.fail(err)
	}
	wire.QuickAck(s.raw)
	s.trace.Sent([]byte(shown.String()))
	return nil
}

// receive reads a reply. 400, by which a server leaves, and whatever is no reply
// make the session unusable.
func (s *session) receive() (reply, error) {
	if s.err != nil {
		return reply{}, s.err
	}
	s.waiting, s.replyBy = true, time.Time{}
	if s.limits.Reply > 0 {
		s.replyBy = time.Now().Add(s.limits.Reply)
	}
	r, err := readReply(s.lines, s.show)
	if err != nil {
		if e, ok := errors.AsType[*fetch.Error](err); ok && s.secret != "" {
			shown := *e
			shown.Reply = s.hide(e.Reply)
			err = &shown
		}
		return reply{}, s.fail(err)
	}
	if r.code == 400 {
		return r, s.fail(&fetch.Error{Kind: fetch.Busy, Code: r.code, Reply: s.hide(r.text)})
	}
	s.answered = true
	return r, nil
}

// show tells the trace of a line received.
func (s *session) show(line []byte) {
	if s.secret != "" {
		line = []byte(s.hide(string(line)))
	}
	s.trace.Received(line)
}

// hide masks the password, which a server may repeat.
func (s *session) hide(text string) string {
	if s.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, s.secret, "****")
}

// command sends a command and reads its reply. Where the server wants a login
// first, or MODE READER, it gets that, once.
func (s *session) command(line string) (reply, error) {
	verb := verbOf(line)
	for tries := 0; ; tries++ {
		if s.err == nil && s.lines.Buffered() > 0 {
			return reply{}, s.access.fail(verb, s.fail(violation("", "a reply that nothing asked for")))
		}
		if err := s.send(line); err != nil {
			return reply{}, s.access.fail(verb, err)
		}
		r, err := s.receive()
		if err != nil {
			return r, s.access.fail(verb, err)
		}
		switch {
		case tries > 0 || verb == fetch.OpAUTHINFO || verb == fetch.OpCAPABILITIES || verb == fetch.OpMODE:
			return r, nil
		case r.code == 401:
			_, err = s.expect("MODE READER", 200, 201)
		case r.code == 480 && !s.loggedIn:
			err = s.login(r.text)
		default:
			return r, nil
		}
		if err != nil {
			return reply{}, err
		}
	}
}

// verbOf is the first word of a command, by which its failure is called.
func verbOf(line string) fetch.Op {
	verb, _, _ := strings.Cut(line, " ")
	return fetch.Op(verb)
}

// expect is command for one of some positive replies.
func (s *session) expect(line string, codes ...int) (reply, error) {
	verb := verbOf(line)
	r, err := s.command(line)
	if err != nil {
		return r, err
	}
	for _, code := range codes {
		if r.code == code {
			return r, nil
		}
	}
	return r, s.refuse(verb, r)
}

// refuse is the error of a reply that is not the one hoped for.
func (s *session) refuse(verb fetch.Op, r reply) error {
	if r.class() <= 3 {
		return s.stray(verb, r)
	}
	return s.access.fail(verb, &fetch.Error{Kind: kindOf(verb, r), Code: r.code, Reply: s.hide(r.text)})
}

// stray is the error of a reply to some other command. Nobody knows what comes
// next.
func (s *session) stray(verb fetch.Op, r reply) error {
	return s.access.fail(verb, s.fail(violation(fmt.Sprint(r.code, " ", s.hide(r.text)), "unexpected reply to "+string(verb))))
}

// passCommand is the one with a secret in it.
const passCommand = "AUTHINFO PASS "

// login is AUTHINFO USER and PASS (RFC 4643 §2.3). text is how the server asked.
func (s *session) login(text string) error {
	login, err := s.access.credentials(s.ctx, text)
	switch {
	case err != nil:
		e := *fetch.Fail(fetch.OpAUTHINFO, s.access.loc, fetch.Unauthenticated, err)
		if e.Kind == fetch.Unauthenticated {
			e.Code, e.Reply = 480, text
		}
		return s.access.fail(fetch.OpAUTHINFO, &e)
	case login.User == "":
		return s.access.fail(fetch.OpAUTHINFO, &fetch.Error{Kind: fetch.Unauthenticated, Code: 480, Reply: text})
	}
	r, err := s.command("AUTHINFO USER " + login.User)
	if err == nil && r.code == 381 {
		s.secret = login.Password
		r, err = s.command(passCommand + login.Password)
	}
	switch {
	case err != nil:
		return err
	case r.code != 281:
		return s.refuse(fetch.OpAUTHINFO, r)
	}
	s.loggedIn, s.can, s.group = true, nil, ""
	return nil
}

// enter makes a group the current one, unless it is that already.
func (s *session) enter(group string) error {
	if s.group == group {
		return nil
	}
	_, err := s.lookInto(group)
	return err
}

// lookInto is GROUP.
func (s *session) lookInto(group string) (groupInfo, error) {
	r, err := s.expect("GROUP "+group, 211)
	if err != nil {
		return groupInfo{}, err
	}
	g, err := parseGroup(r.text)
	if err != nil {
		return g, s.access.fail(fetch.OpGROUP, s.fail(violation(s.hide(r.text), "a group without its numbers")))
	}
	s.group = group
	return g, nil
}

// resume puts an idle session under another access.
func (s *session) resume(ctx context.Context, a *access) {
	s.ctx, s.access, s.limits, s.trace = ctx, a, a.limits, a.trace
	s.answered = false
	s.conn.SetContext(ctx)
}

// describe is the session's connection as its access sees it.
func (s *session) describe() fetch.Connection {
	c := fetch.Connection{Network: "tcp", Purpose: fetch.Control, Host: s.key.host, Remote: s.peer}
	if tcp, ok := s.raw.LocalAddr().(*net.TCPAddr); ok {
		c.Local = tcp.AddrPort()
	}
	return c
}

// reusable tells whether another access may have the session.
func (s *session) reusable() bool {
	return s.err == nil && !s.block && s.ctx.Err() == nil && s.lines.Buffered() == 0
}

// rest takes the session out of its access.
func (s *session) rest() {
	s.ctx = context.Background()
	s.conn.SetContext(s.ctx)
	s.trace = fetch.ContextTrace(s.ctx)
	s.access = nil
}

// Close takes leave of the server, in bounded time, and closes the connection.
func (s *session) Close() error {
	defer s.conn.Close()
	if s.err != nil || s.block {
		return nil
	}
	s.conn.SetContext(context.Background())
	s.limits.Reply = quitTime
	if s.send("QUIT") == nil {
		_, _ = s.receive()
	}
	return nil
}

// end is Close for a session whose access may have failed or been cut off.
func (s *session) end() {
	if s.ctx.Err() != nil || s.conn == nil {
		s.raw.Close()
		if s.conn != nil {
			s.conn.Close()
		}
		return
	}
	_ = s.Close()
}
