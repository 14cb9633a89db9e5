package mailto

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// Update implements [driver.Updater]. It sends a message, whose size is the Size of the returned
// Attributes.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	l, info, err := f.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	target, err := f.server(l, req.From)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]string{info.To, info.Cc, info.Bcc} {
		if err := mailboxes(l, list); err != nil {
			return nil, err
		}
	}
	env := driver.NewEnv(f.Env)
	sender := ""
	if f.Env != nil {
		sender = f.Env.Email
	}
	msg, err := compose(l, body, info, sender, env.Limits)
	if err != nil {
		return nil, driver.Fail(fetch.OpRead, l, fetch.ErrBadURL, err)
	}
	conn, err := env.Connect(ctx, target)
	if err != nil {
		return nil, err
	}
	c := &client{Talk: talk.New(ctx, conn, "SMTP", 4<<10, env.Limits, driver.ContextTrace(ctx)), ctx: ctx, f: f, loc: l, host: target.Host}
	defer c.Close()
	if err := c.deliver(msg, info.recipients()); err != nil {
		return nil, err
	}
	return &fetch.Attributes{Size: msg.n}, nil
}

// server returns the mail server. The user has chosen it, as with a proxy.
func (f *Fetcher) server(l *locator.Mailto, from fetch.Provenance) (fetch.Target, error) {
	if f.SMTP == "" {
		return fetch.Target{}, driver.Fail(fetch.OpSend, l, fetch.ErrUnsupported, errNoServer)
	}
	host, service, err := net.SplitHostPort(f.SMTP)
	if err != nil {
		host, service, err = net.SplitHostPort(net.JoinHostPort(f.SMTP, "25"))
	}
	port, portErr := strconv.ParseUint(service, 10, 16)
	host, hostErr := idn.ASCII(host)
	if err != nil || portErr != nil || hostErr != nil || host == "" || port == 0 {
		return fetch.Target{}, driver.Fail(fetch.OpSend, l, fetch.ErrBadURL, fmt.Errorf("%q is not a mail server's HOST:PORT", f.SMTP))
	}
	return fetch.Target{Locator: l, From: from, Purpose: fetch.PurposeProxy, Network: "tcp", Host: host, Port: uint16(port)}, nil
}

// maxPath is the maximum length of an address (RFC 5321 §4.5.3.1.3).
const maxPath = 254

// mailboxes replaces addresses by those that are sent, with domains in ASCII (RFC 6531 §3.7.1). It
// requires each to be an addr-spec of RFC 822 without a display name before it or any text after it,
// which could become a parameter of a command.
func mailboxes(l *locator.Mailto, list []string) error {
	for i, s := range list {
		at := strings.LastIndexByte(s, '@') + 1
		domain, idnErr := idn.ASCII(s[at:])
		list[i] = s[:at] + domain
		a, err := mail.ParseAddress("<" + s + ">")
		if err == nil {
			err = idnErr
		}
		if err == nil && (a.Name != "" || len(list[i]) > maxPath) {
			err = fmt.Errorf("it has a display name, or more than %d bytes", maxPath)
		}
		for i := range len(s) {
			if s[i] < ' ' || s[i] == 0x7F {
				err = fmt.Errorf("it contains byte %02X", s[i])
			}
		}
		if err != nil {
			return &fetch.Error{Op: fetch.OpSend, URL: l.Redacted(), Kind: fetch.ErrBadURL, Section: "3.5",
				Err: fmt.Errorf("%q is not an RFC 822 addr-spec: %w", s, err)}
		}
	}
	return nil
}

// quitTime is the timeout for QUIT after the server has accepted the message.
const quitTime = 2 * time.Second
