package mailto

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// A client sends one message over one connection.
type client struct {
	*talk.Talk
	ctx        context.Context
	f          *Fetcher
	loc        *locator.Mailto
	host       string
	extensions map[string]bool // that the server supports
}

// deliver performs the whole dialogue (RFC 5321 §3.3).
func (c *client) deliver(msg *message, to []string) error {
	if _, err := c.reply("greeting", 220); err != nil {
		return err
	}
	if err := c.hello(); err != nil {
		return err
	}
	switch {
	case c.extensions["STARTTLS"]:
		if err := c.secure(); err != nil {
			return err
		}
	case c.f.RequireTLS:
		return c.fail("STARTTLS", &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("the server does not offer STARTTLS, which is required")})
	}
	mail := "MAIL FROM:<" + msg.sender + ">"
	if c.extensions["8BITMIME"] {
		mail += " BODY=8BITMIME"
	}
	addresses := append([]string{msg.sender}, to...)
	i := slices.IndexFunc(addresses, func(a string) bool { return !idn.IsASCII(a) })
	switch {
	case c.extensions["SMTPUTF8"] && (i >= 0 || msg.utf8): // otherwise older servers behind this one would refuse it
		mail += " SMTPUTF8"
	case i >= 0:
		return c.fail("MAIL", &fetch.Error{Kind: fetch.ErrUnsupported,
			Err: fmt.Errorf("the server does not offer SMTPUTF8, which the address %+q requires", addresses[i])})
	}
	if _, err := c.command("MAIL", mail, 250); err != nil {
		return err
	}
	for _, a := range to {
		if _, err := c.command("RCPT", "RCPT TO:<"+a+">", 250, 251, 252); err != nil {
			return err
		}
	}
	if err := c.data(msg); err != nil {
		return err
	}
	return c.Quit(quitTime) // the message has been accepted, even if QUIT fails
}

// ownName is the name that servers get. Many refuse "localhost". An address is permitted in place of a
// name (RFC 5321 §4.1.3), and this one tells nothing about the user's network.
const ownName = "[127.0.0.1]"

// hello sends EHLO, or HELO if the server does not support that, and HELO with the name that is right
// nowhere if the server takes no address.
func (c *client) hello() error {
	r, err := c.command("EHLO", "EHLO "+ownName, 250)
	for _, line := range []string{"HELO " + ownName, "HELO localhost"} {
		if e, ok := errors.AsType[*fetch.Error](err); !ok || c.Err != nil || e.Code == 421 {
			break
		}
		_, err = c.command("EHLO", line, 250)
	}
	c.extensions = map[string]bool{}
	for line := range strings.Lines(r.Text) {
		name, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " ")
		c.extensions[name] = true
	}
	return err
}

// secure starts TLS (RFC 3207).
func (c *client) secure() error {
	if _, err := c.command("STARTTLS", "STARTTLS", 220); err != nil {
		return err
	}
	if err := c.StartTLS(c.ctx, driver.NewEnv(c.f.Env).TLSConfig, c.host); err != nil {
		return c.fail("STARTTLS", err)
	}
	return c.hello()
}

// data sends the message. If reading it fails, its end is not marked, so that the server does not
// deliver it.
func (c *client) data(msg *message) error {
	if _, err := c.command("DATA", "DATA", 354); err != nil {
		return err
	}
	w := textproto.NewWriter(bufio.NewWriter(body{c.Talk})).DotWriter()
	if _, err := io.Copy(w, msg); err != nil {
		if msg.err != nil {
			return c.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrLocalIO, Err: msg.err})
		}
		return c.fail("DATA", err)
	}
	if err := w.Close(); err != nil {
		return c.fail("DATA", err)
	}
	_, err := c.reply("DATA", 250)
	return err
}

// body sends the message and reports it to the Trace.
type body struct{ *talk.Talk }

func (b body) Write(p []byte) (int, error) {
	n, err := b.WriteBody(p)
	b.Trace.Body(int64(n))
	return n, err
}

// command sends a command and expects one of the given reply codes.
func (c *client) command(op fetch.Op, line string, want ...int) (talk.Reply, error) {
	if err := c.Send(line); err != nil {
		return talk.Reply{}, c.fail(op, err)
	}
	return c.reply(op, want...)
}

// reply expects one of the given reply codes. Any other reply is an error.
func (c *client) reply(op fetch.Op, want ...int) (talk.Reply, error) {
	r, err := c.Reply()
	switch {
	case err != nil:
		return talk.Reply{}, c.fail(op, err)
	case !slices.Contains(want, r.Code):
		return talk.Reply{}, c.fail(op, &fetch.Error{Kind: kindOf(op, r.Code), Code: r.Code, Reply: strings.ReplaceAll(r.Text, "\n", " ")})
	}
	return r, nil
}

// fail wraps err as the error of a command.
func (c *client) fail(op fetch.Op, err error) error {
	e := driver.Fail(op, c.loc, fetch.ErrOther, err)
	if e.Kind == fetch.ErrOther || e.Kind == fetch.ErrTruncated {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

// kindOf classifies a negative reply (RFC 5321 §4.2.3).
func kindOf(op fetch.Op, code int) fetch.ErrorKind {
	switch {
	case code == 530 || code == 534 || code == 535 || code == 538:
		return fetch.ErrUnauthenticated
	case code == 552:
		return fetch.ErrTooLarge
	case code == 554 && op == "greeting":
		return fetch.ErrBusy
	case op == "RCPT" && (code == 550 || code == 551 || code == 553):
		return fetch.ErrNotFound
	case code == 555, code >= 500 && code <= 504:
		return fetch.ErrUnsupported
	case code >= 400 && code < 500:
		return fetch.ErrBusy // "Transient Negative": try again later
	case code >= 500 && code < 600:
		return fetch.ErrPermission
	}
	return fetch.ErrProtocol
}
