package mailto

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A client sends one message over one connection.
type client struct {
	f      *Fetcher
	loc    *locator.Mailto
	host   string
	limits fetch.Limits
	trace  *fetch.Trace
	conn   *wire.Conn
	talk   *talk
	smtp   *smtp.Client
}

// deliver goes through the whole conversation (RFC 5321 §3.3).
func (c *client) deliver(msg *message, to []string) error {
	if err := c.begin(c.conn, nil); err != nil {
		return c.fail(fetch.OpGreeting, err)
	}
	if err := c.hello(); err != nil {
		return c.fail(fetch.OpEHLO, err)
	}
	switch ok, _ := c.smtp.Extension("STARTTLS"); {
	case ok:
		if err := c.secure(); err != nil {
			return c.fail(fetch.OpSTARTTLS, err)
		}
		if err := c.hello(); err != nil {
			return c.fail(fetch.OpEHLO, err)
		}
	case c.f.RequireTLS:
		return c.fail(fetch.OpSTARTTLS, &fetch.Error{Kind: fetch.Unsupported, Err: errors.New("the server does not offer TLS, which is demanded")})
	}
	if err := c.smtp.Mail(msg.sender); err != nil {
		return c.fail(fetch.OpMAIL, err)
	}
	for _, a := range to {
		if err := c.smtp.Rcpt(a); err != nil {
			return c.fail(fetch.OpRCPT, err)
		}
	}
	if err := c.data(msg); err != nil {
		return err
	}
	c.talk.limits.Reply = quitTime
	_ = c.smtp.Quit() // the message has been accepted, come what may
	return nil
}

// begin starts to talk over conn, of which some octets may have been read.
func (c *client) begin(conn net.Conn, read []byte) (err error) {
	c.talk = &talk{Conn: conn, wire: c.conn, limits: c.limits, trace: c.trace, ahead: read}
	c.talk.reset()
	c.smtp, err = smtp.NewClient(c.talk, c.host)
	return err
}

// hello falls back to HELO by itself.
func (c *client) hello() error { return c.smtp.Hello("localhost") }

// secure goes on over TLS (RFC 3207). net/smtp would do it, but without showing
// the trace what is said from then on; so another client takes over, whose
// greeting we give it. Nothing that came before TLS is heard after it
// (CVE-2011-0411 and its like).
func (c *client) secure() error {
	id, err := c.smtp.Text.Cmd("STARTTLS")
	if err != nil {
		return err
	}
	c.smtp.Text.StartResponse(id)
	_, _, err = c.smtp.Text.ReadResponse(220)
	c.smtp.Text.EndResponse(id)
	if err != nil {
		return err
	}
	if n := c.smtp.Text.R.Buffered() + len(c.talk.ahead); n > 0 {
		return &fetch.Error{Kind: fetch.Protocol, Err: fmt.Errorf("%d octets in the clear behind the reply to STARTTLS", n)}
	}
	config := c.f.TLS.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	if config.ServerName == "" {
		config.ServerName = c.host
	}
	conn := tls.Client(c.conn, config)
	if err := conn.Handshake(); err != nil {
		return err
	}
	return c.begin(conn, []byte("220 TLS\r\n"))
}

// data sends the message. A reader that fails leaves it without an end: then the
// server must not deliver it.
func (c *client) data(msg *message) error {
	w, err := c.smtp.Data()
	if err != nil {
		return c.fail(fetch.OpDATA, err)
	}
	c.talk.body = true
	if _, err := io.Copy(w, msg); err != nil {
		if msg.err != nil {
			return c.fail(fetch.OpRead, &fetch.Error{Kind: fetch.LocalIO, Err: msg.err})
		}
		return c.fail(fetch.OpDATA, err)
	}
	// The end goes out with what is still in the writer's buffer.
	c.talk.reset()
	err = w.Close()
	c.talk.body = false
	if err != nil {
		return c.fail(fetch.OpDATA, err)
	}
	return nil
}

// fail makes err the error of a command.
func (c *client) fail(op fetch.Op, err error) error {
	var reply *textproto.Error
	var syntax textproto.ProtocolError
	if c.talk != nil && c.talk.err != nil && c.talk.err != io.EOF {
		err = c.talk.err // net/smtp may have made something else of it
	}
	switch {
	case errors.As(err, &reply):
		return &fetch.Error{Op: op, URL: c.loc.Redacted(), Kind: kindOf(op, reply.Code), Code: reply.Code, Reply: strings.ReplaceAll(reply.Msg, "\n", " ")}
	case errors.As(err, &syntax):
		return fetch.Fail(op, c.loc, fetch.Protocol, err)
	case errors.Is(err, wire.ErrLineTooLong):
		return fetch.Fail(op, c.loc, fetch.TooLarge, err)
	}
	e := fetch.Fail(op, c.loc, fetch.Other, err)
	if e.Kind == fetch.Other || e.Kind == fetch.Truncated {
		e.Kind = fetch.ConnectionFailed
	}
	return e
}

// kindOf classifies a negative reply (RFC 5321 §4.2.3).
func kindOf(op fetch.Op, code int) fetch.ErrorKind {
	switch {
	case code == 530 || code == 534 || code == 535 || code == 538:
		return fetch.Unauthenticated
	case code == 552:
		return fetch.TooLarge
	case code == 554 && op == fetch.OpGreeting:
		return fetch.Busy
	case op == fetch.OpRCPT && (code == 550 || code == 551 || code == 553):
		return fetch.NotFound
	case code == 555, code >= 500 && code <= 504:
		return fetch.Unsupported
	case code >= 400 && code < 500:
		return fetch.Busy // "Transient Negative": again later
	case code >= 500 && code < 600:
		return fetch.Permission
	}
	return fetch.Protocol
}

// talk bounds what a server may say in reply, shows the conversation to the
// trace, and fails for good once it has failed.
type talk struct {
	net.Conn
	wire   *wire.Conn // below Conn: has the time limit
	limits fetch.Limits
	trace  *fetch.Trace
	ahead  []byte    // to be read before what the connection gives
	body   bool      // what is sent is the message
	line   int       // octets of the line being read
	reply  int       // octets read since something was sent
	due    time.Time // of the reply, if there is a limit
	err    error
}

// Read gives whole lines only: net/smtp takes the beginning of a line, cut off by
// the connection's end, for a reply.
func (t *talk) Read(p []byte) (int, error) {
	for !bytes.Contains(t.ahead, []byte{'\n'}) {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.ahead[:bytes.LastIndexByte(t.ahead, '\n')+1])
	t.ahead = t.ahead[n:]
	return n, nil
}

// fill receives more, as far as a reply may be long and take time.
func (t *talk) fill() {
	if t.limits.Reply > 0 { // for the whole of it, however slowly it comes
		t.wire.SetTimeout(max(time.Until(t.due), 1))
	}
	buf := make([]byte, 4<<10)
	n, err := t.Conn.Read(buf)
	if n > 0 {
		t.trace.Received(buf[:n])
	}
	for _, c := range buf[:n] {
		if t.line++; c == '\n' {
			t.line = 0
		}
		t.reply++
		if t.limits.Line > 0 && t.line > t.limits.Line || t.limits.Header > 0 && t.reply > t.limits.Header {
			err = wire.ErrLineTooLong
		}
	}
	t.ahead = append(t.ahead, buf[:n]...)
	if err == io.EOF && t.line > 0 {
		err = io.ErrUnexpectedEOF
	}
	t.err = err
}

func (t *talk) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	t.wire.SetTimeout(t.limits.Reply)
	n, err := t.Conn.Write(p)
	t.err = err
	if t.body {
		t.trace.Body(int64(n))
		return n, err
	}
	t.reset()
	if n > 0 {
		t.trace.Sent(p[:n])
	}
	return n, err
}

// reset starts the account of another reply.
func (t *talk) reset() { t.line, t.reply, t.due = 0, 0, time.Now().Add(t.limits.Reply) }
