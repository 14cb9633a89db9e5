// Package smtptest has a mail server for tests. Package testserver has what all servers have in
// common.
package smtptest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Server is a mail server of RFC 5321 that keeps the messages it receives. It has the extensions
// SIZE, 8BITMIME, SMTPUTF8 (RFC 6531) and STARTTLS (RFC 3207), with a certificate that it creates
// itself. The transcript shows what goes over TLS decrypted.
type Server struct {
	testserver.Server `json:"-"`

	// Greeting is the first reply, with its code, lines separated by "\n"; "" means "220 testserver
	// ready".
	Greeting string
	// Hide lists commands that are answered with 502 and extensions that are not offered, such as
	// "EHLO", "STARTTLS", "8BITMIME", "SMTPUTF8". Addresses beyond ASCII require SMTPUTF8.
	Hide []string
	// TLSOnly means that mail before STARTTLS is refused.
	TLSOnly bool
	// Unknown lists recipients that are refused with 550.
	Unknown []string
	// RefuseBareLF means that a message with an LF that has no CR before it is refused with 550.
	RefuseBareLF bool

	m *core.Machine

	mailMu sync.Mutex
	mail   []Mail
}

// Mail is a message as it was accepted.
type Mail struct {
	From string   // the reverse-path, without angle brackets
	To   []string // the recipients that were accepted
	Data string   // the message, dots unstuffed, without the final dot
	TLS  bool
}

// New starts a mail server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a mail server on addr, such as "127.0.0.1:2525"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m, s.Greeting = m, cmp.Or(s.Greeting, "220 testserver ready")
		if s.TLS == nil {
			s.TLS = testserver.NewTLS()
		}
		return build.Service{
			Scheme: "smtp", Port: 25, SecureScheme: "smtps", SecurePort: 465, Addr: addr, Serve: s.serve, Fresh: s.fresh,
		}, nil
	})
}

// Fault is a fault that a mail server has.
type Fault interface {
	testserver.Fault
	OfSMTP()
}

// table has the faults of the server.
var table = core.Table{
	Server: "SMTP",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "GREETING"}, {Name: "END"}, {Name: "*", Arg: true}},
	Rows:   append(core.StreamRows(), core.Rows([]string{"CONNECT"}, core.ExtraReply, core.Octets, core.Hangup)...),
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all connections;
// 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// Mail returns the messages accepted so far.
func (s *Server) Mail() []Mail {
	s.mailMu.Lock()
	defer s.mailMu.Unlock()
	return slices.Clone(s.mail)
}

// fresh forgets the messages.
func (s *Server) fresh() error {
	s.mailMu.Lock()
	defer s.mailMu.Unlock()
	s.mail = nil
	return nil
}

// session is one connection.
type session struct {
	*core.Client
	srv    *Server
	r      *bufio.Reader
	faults *core.Faults // faults armed for the current command
	tls    bool
	quit   bool

	greeted bool
	mail    *Mail // set by MAIL
	utf8    bool  // the MAIL command had SMTPUTF8
}

// maxLine is the maximum length of a command, maxRecipients the maximum number of recipients of
// a message.
const (
	maxLine       = 4 << 10
	maxRecipients = 1000
)

// serve serves one connection.
func (s *Server) serve(c *core.Client) {
	m := &session{Client: c, srv: s, r: bufio.NewReaderSize(c, maxLine), tls: s.ImplicitTLS}
	m.faults = m.At("GREETING")
	err := m.Preempt(m.faults)
	if err == nil {
		err = m.reply(s.Greeting)
	}
	for err == nil && !m.quit {
		var line string
		if line, err = m.line(); err == nil {
			err = m.command(line)
		}
	}
	if errors.Is(err, core.ErrSilent) {
		m.Wait()
		return
	}
	m.Received.End()
}

// line reads a command. A line that is too long counts as an unknown command.
func (m *session) line() (string, error) {
	line, err := m.r.ReadSlice('\n')
	_, _ = m.Received.Write(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		return "\x00", core.SkipLine(m.r)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), err
}

// command carries out one line.
func (m *session) command(line string) error {
	verb, arg, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	m.faults = m.At(verb, verb+" "+arg)
	if err := m.Preempt(m.faults); err != nil {
		return err
	}
	if reply, armed := m.faults.Peek(core.Reply); armed && refuses(reply.Text) {
		return m.reply("")
	}
	do, known := commands[verb]
	switch {
	case !known:
		return m.reply("500 Unknown command.")
	case core.ContainsFold(m.srv.Hide, verb):
		return m.reply("502 Command not implemented.")
	}
	return do(m, arg)
}

// reply sends the reply to a command, or the armed one if there is one.
func (m *session) reply(text string) error {
	text = m.faults.Text(core.Reply, text)
	return m.Answer(m.faults, text)
}

var commands = map[string]func(*session, string) error{
	"HELO":     (*session).helo,
	"EHLO":     (*session).ehlo,
	"STARTTLS": (*session).startTLS,
	"MAIL":     (*session).mailFrom,
	"RCPT":     (*session).recipient,
	"DATA":     (*session).data,
	"RSET":     (*session).reset,
	"NOOP":     func(m *session, _ string) error { return m.reply("250 Ok.") },
	"QUIT":     (*session).leave,
}

func (m *session) helo(string) error {
	m.greeted, m.mail = true, nil
	return m.reply("250 testserver")
}

func (m *session) ehlo(string) error {
	m.greeted, m.mail = true, nil
	text := "250-testserver"
	for _, ext := range []string{"8BITMIME", "SMTPUTF8", "STARTTLS"} {
		if !core.ContainsFold(m.srv.Hide, ext) && !(ext == "STARTTLS" && m.tls) {
			text += "\n250-" + ext
		}
	}
	return m.reply(text + "\n250 SIZE " + strconv.FormatInt(m.srv.MaxUpload, 10))
}

// startTLS starts TLS. Commands that the client sent before that are discarded, not carried out
// (CVE-2011-0411).
func (m *session) startTLS(string) error {
	if m.tls {
		return m.reply("503 TLS is on already.")
	}
	if err := m.reply("220 Go ahead."); err != nil {
		return err
	}
	if err := m.Secure(); err != nil {
		return err
	}
	m.r.Reset(m.Client) // discard what was sent before TLS
	m.tls, m.greeted, m.mail = true, false, nil
	return nil
}

func (m *session) mailFrom(arg string) error {
	path, params, ok := pathOf(arg, "FROM:")
	switch {
	case m.srv.TLSOnly && !m.tls:
		return m.reply("530 Must issue a STARTTLS command first.")
	case !m.greeted || m.mail != nil:
		return m.reply("503 Bad sequence of commands.")
	case !ok:
		return m.reply("501 Syntax: MAIL FROM:<address>")
	}
	m.utf8 = false
	for param := range strings.FieldsSeq(params) {
		name, value, _ := strings.Cut(strings.ToUpper(param), "=")
		size, err := strconv.ParseInt(value, 10, 64)
		switch {
		case name == "BODY" && !core.ContainsFold(m.srv.Hide, "8BITMIME"):
		case name == "SMTPUTF8" && value == "" && !core.ContainsFold(m.srv.Hide, name):
			m.utf8 = true
		case name == "SIZE" && err == nil && size <= m.srv.MaxUpload:
		case name == "SIZE" && err == nil:
			return m.reply("552 Message size exceeds the limit.")
		default:
			return m.reply("555 Parameter not recognized.")
		}
	}
	if m.requiresUTF8(path) {
		return m.reply(needsUTF8)
	}
	m.mail = &Mail{From: path, TLS: m.tls}
	return m.reply("250 Ok.")
}

func (m *session) recipient(arg string) error {
	path, params, ok := pathOf(arg, "TO:")
	switch {
	case m.mail == nil:
		return m.reply("503 Bad sequence of commands.")
	case !ok || path == "" || params != "":
		return m.reply("501 Syntax: RCPT TO:<address>")
	case m.requiresUTF8(path):
		return m.reply(needsUTF8)
	case slices.Contains(m.srv.Unknown, path):
		return m.reply("550 No such user here.")
	case len(m.mail.To) >= maxRecipients:
		return m.reply("452 Too many recipients.")
	}
	m.mail.To = append(m.mail.To, path)
	return m.reply("250 Ok.")
}

const needsUTF8 = "553 An address beyond ASCII requires SMTPUTF8."

// requiresUTF8 reports whether a path is refused without SMTPUTF8 (RFC 6531 §3.5).
func (m *session) requiresUTF8(path string) bool {
	return !m.utf8 && strings.ContainsFunc(path, func(r rune) bool { return r > '\x7f' })
}

// pathOf reads "FROM:<path> parameters".
func pathOf(arg, word string) (path, params string, ok bool) {
	if len(arg) < len(word) || !strings.EqualFold(arg[:len(word)], word) {
		return "", "", false
	}
	path, ok = strings.CutPrefix(strings.TrimSpace(arg[len(word):]), "<")
	if end := strings.LastIndexByte(path, '>'); ok && end >= 0 {
		return path[:end], strings.TrimSpace(path[end+1:]), true
	}
	return "", "", false
}

func (m *session) data(string) error {
	if m.mail == nil || len(m.mail.To) == 0 {
		return m.reply("503 Bad sequence of commands.")
	}
	if err := m.reply("354 End with a line of one dot."); err != nil {
		return err
	}
	text, err := m.message()
	if err != nil {
		return err
	}
	done := m.mail
	m.mail = nil
	m.faults = m.At("END")
	if err := m.Preempt(m.faults); err != nil {
		return err
	}
	switch reply, armed := m.faults.Peek(core.Reply); {
	case int64(len(text)) > m.srv.MaxUpload:
		return m.reply("552 Message size exceeds the limit.")
	case armed && refuses(reply.Text):
		return m.reply("")
	case m.srv.RefuseBareLF && strings.Count(text, "\n") > strings.Count(text, "\r\n"):
		return m.reply("550 5.6.11 The message has a bare LF.")
	}
	done.Data = text
	m.srv.mailMu.Lock()
	m.srv.mail = append(m.srv.mail, *done)
	m.srv.mailMu.Unlock()
	return m.reply("250 Accepted.")
}

// message reads lines up to the final dot. Of a message larger than MaxUpload it keeps just enough
// to show that it is too large.
func (m *session) message() (string, error) {
	var text bytes.Buffer
	for first := true; ; {
		part, err := m.r.ReadSlice('\n')
		_, _ = m.Received.Write(part)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
		if first && string(part) == ".\r\n" {
			return text.String(), nil
		}
		if first {
			part = bytes.TrimPrefix(part, []byte("."))
		}
		if int64(text.Len()) <= m.srv.MaxUpload {
			text.Write(part)
		}
		first = err == nil
	}
}

func (m *session) reset(string) error {
	m.mail = nil
	return m.reply("250 Ok.")
}

func (m *session) leave(string) error {
	m.quit = true
	return m.reply("221 Goodbye.")
}

// refuses reports whether an armed reply means that the command is not carried out.
func refuses(reply string) bool { return reply == "" || reply[0] < '1' || reply[0] > '3' }
