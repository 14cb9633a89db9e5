package testserver

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// SMTP is a mail server of RFC 5321 that keeps the messages it receives. It has the extensions
// SIZE, 8BITMIME and STARTTLS (RFC 3207), with a certificate that it creates itself. The transcript
// shows what goes over TLS decrypted.
type SMTP struct {
	Server

	// Greeting is the first reply, with its code, lines separated by "\n"; "" means "220 testserver
	// ready".
	Greeting string
	// Hide lists commands that are answered with 502 and extensions that are not offered, such as
	// "EHLO", "STARTTLS", "8BITMIME".
	Hide []string
	// TLSOnly means that mail before STARTTLS is refused.
	TLSOnly bool
	// Unknown lists recipients that are refused with 550.
	Unknown []string

	identity tls.Certificate
	roots    *x509.CertPool

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

// NewSMTP starts a mail server that ends with the test.
func NewSMTP(tb TB, configure ...func(*SMTP)) *SMTP {
	tb.Helper()
	s, err := StartSMTP(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartSMTP starts a mail server on addr, such as "127.0.0.1:2525"; "" means a free loopback port.
// The server ends with ctx or by Close.
func StartSMTP(ctx context.Context, addr string, configure ...func(*SMTP)) (*SMTP, error) {
	s := new(SMTP)
	s.faults.server, s.faults.known = "SMTP", streaming(fExtraReply)
	for _, f := range configure {
		f(s)
	}
	if s.Greeting == "" {
		s.Greeting = "220 testserver ready"
	}
	var err error
	if s.identity, s.roots, err = newIdentity(); err != nil {
		return nil, err
	}
	if err := s.start(ctx, "smtp", 25, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// Mail returns the messages accepted so far.
func (s *SMTP) Mail() []Mail {
	s.mailMu.Lock()
	defer s.mailMu.Unlock()
	return slices.Clone(s.mail)
}

// Roots returns the certificates that verify the server's own, as 127.0.0.1 and localhost.
func (s *SMTP) Roots() *x509.CertPool { return s.roots }

// smtpSession is one connection.
type smtpSession struct {
	*conn
	srv  *SMTP
	r    *bufio.Reader
	plan *plan // faults armed for the current command
	tls  bool
	quit bool

	greeted bool
	mail    *Mail // set by MAIL
}

// maxSMTPLine is the maximum length of a command, maxRecipients the maximum number of recipients of
// a message.
const (
	maxSMTPLine   = 4 << 10
	maxRecipients = 1000
)

func (s *SMTP) serve(c *conn) {
	m := &smtpSession{conn: c, srv: s, r: bufio.NewReaderSize(c, maxSMTPLine)}
	m.plan = s.faults.at("GREETING")
	err := m.preempt(m.plan)
	if err == nil {
		err = m.reply(s.Greeting)
	}
	for err == nil && !m.quit {
		var line string
		if line, err = m.line(); err == nil {
			err = m.command(line)
		}
	}
	if errors.Is(err, errSilent) {
		m.wait()
		return
	}
	m.received.end()
}

// line reads a command. A line that is too long counts as an unknown command.
func (m *smtpSession) line() (string, error) {
	line, err := m.r.ReadSlice('\n')
	_, _ = m.received.Write(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		return "\x00", skipLine(m.r)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), err
}

func (m *smtpSession) command(line string) error {
	verb, arg, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	m.plan = m.srv.faults.at(verb, verb+" "+arg)
	if err := m.preempt(m.plan); err != nil {
		return err
	}
	if m.plan.reply != nil && refuses(*m.plan.reply) {
		return m.reply("")
	}
	do, known := smtpCommands[verb]
	switch {
	case !known:
		return m.reply("500 Unknown command.")
	case hidden(m.srv.Hide, verb):
		return m.reply("502 Command not implemented.")
	}
	return do(m, arg)
}

// reply sends the reply to a command, or the armed one if there is one.
func (m *smtpSession) reply(text string) error {
	if m.plan.reply != nil {
		text = *m.plan.reply
	}
	return m.answer(m.plan, text)
}

var smtpCommands = map[string]func(*smtpSession, string) error{
	"HELO":     (*smtpSession).helo,
	"EHLO":     (*smtpSession).ehlo,
	"STARTTLS": (*smtpSession).startTLS,
	"MAIL":     (*smtpSession).mailFrom,
	"RCPT":     (*smtpSession).recipient,
	"DATA":     (*smtpSession).data,
	"RSET":     (*smtpSession).reset,
	"NOOP":     func(m *smtpSession, _ string) error { return m.reply("250 Ok.") },
	"QUIT":     (*smtpSession).leave,
}

func (m *smtpSession) helo(string) error {
	m.greeted, m.mail = true, nil
	return m.reply("250 testserver")
}

func (m *smtpSession) ehlo(string) error {
	m.greeted, m.mail = true, nil
	text := "250-testserver"
	for _, ext := range []string{"8BITMIME", "STARTTLS"} {
		if !hidden(m.srv.Hide, ext) && !(ext == "STARTTLS" && m.tls) {
			text += "\n250-" + ext
		}
	}
	return m.reply(text + "\n250 SIZE " + strconv.FormatInt(m.srv.MaxUpload, 10))
}

// startTLS starts TLS. Commands that the client sent before that are discarded, not carried out
// (CVE-2011-0411).
func (m *smtpSession) startTLS(string) error {
	if m.tls {
		return m.reply("503 TLS is on already.")
	}
	if err := m.reply("220 Go ahead."); err != nil {
		return err
	}
	secure := tls.Server(m.Conn, &tls.Config{Certificates: []tls.Certificate{m.srv.identity}, MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(m.srv.ctx); err != nil {
		return err
	}
	m.conn = newConn(&m.srv.Server, secure, m.received.conn, new(plan))
	m.r = bufio.NewReaderSize(m.conn, maxSMTPLine)
	m.tls, m.greeted, m.mail = true, false, nil
	return nil
}

func (m *smtpSession) mailFrom(arg string) error {
	path, params, ok := smtpPath(arg, "FROM:")
	switch {
	case m.srv.TLSOnly && !m.tls:
		return m.reply("530 Must issue a STARTTLS command first.")
	case !m.greeted || m.mail != nil:
		return m.reply("503 Bad sequence of commands.")
	case !ok:
		return m.reply("501 Syntax: MAIL FROM:<address>")
	}
	for param := range strings.FieldsSeq(params) {
		name, value, _ := strings.Cut(strings.ToUpper(param), "=")
		size, err := strconv.ParseInt(value, 10, 64)
		switch {
		case name == "BODY" && !hidden(m.srv.Hide, "8BITMIME"):
		case name == "SIZE" && err == nil && size <= m.srv.MaxUpload:
		case name == "SIZE" && err == nil:
			return m.reply("552 Message size exceeds the limit.")
		default:
			return m.reply("555 Parameter not recognized.")
		}
	}
	m.mail = &Mail{From: path, TLS: m.tls}
	return m.reply("250 Ok.")
}

func (m *smtpSession) recipient(arg string) error {
	path, params, ok := smtpPath(arg, "TO:")
	switch {
	case m.mail == nil:
		return m.reply("503 Bad sequence of commands.")
	case !ok || path == "" || params != "":
		return m.reply("501 Syntax: RCPT TO:<address>")
	case slices.Contains(m.srv.Unknown, path):
		return m.reply("550 No such user here.")
	case len(m.mail.To) >= maxRecipients:
		return m.reply("452 Too many recipients.")
	}
	m.mail.To = append(m.mail.To, path)
	return m.reply("250 Ok.")
}

// smtpPath reads "FROM:<path> parameters".
func smtpPath(arg, word string) (path, params string, ok bool) {
	if len(arg) < len(word) || !strings.EqualFold(arg[:len(word)], word) {
		return "", "", false
	}
	path, ok = strings.CutPrefix(strings.TrimSpace(arg[len(word):]), "<")
	if end := strings.LastIndexByte(path, '>'); ok && end >= 0 {
		return path[:end], strings.TrimSpace(path[end+1:]), true
	}
	return "", "", false
}

func (m *smtpSession) data(string) error {
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
	m.plan = m.srv.faults.at("END")
	if err := m.preempt(m.plan); err != nil {
		return err
	}
	switch {
	case int64(len(text)) > m.srv.MaxUpload:
		return m.reply("552 Message size exceeds the limit.")
	case m.plan.reply != nil && refuses(*m.plan.reply):
		return m.reply("")
	}
	done.Data = text
	m.srv.mailMu.Lock()
	m.srv.mail = append(m.srv.mail, *done)
	m.srv.mailMu.Unlock()
	return m.reply("250 Accepted.")
}

// message reads lines up to the final dot. Of a message larger than MaxUpload it keeps just enough
// to show that it is too large.
func (m *smtpSession) message() (string, error) {
	var text bytes.Buffer
	for first := true; ; {
		part, err := m.r.ReadSlice('\n')
		_, _ = m.received.Write(part)
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

func (m *smtpSession) reset(string) error {
	m.mail = nil
	return m.reply("250 Ok.")
}

func (m *smtpSession) leave(string) error {
	m.quit = true
	return m.reply("221 Goodbye.")
}
