// Package telnet opens the services that telnet URLs designate (RFC 1738 §3.8).
//
// A telnet URL does not name a document. Without [fetch.Request.Interact], the result is advice:
// where to connect, and which user name and password to try. With Interact, the result is a
// [Session], which implements the protocol of RFC 854 and negotiates by the Q method of RFC 1143.
package telnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [driver.Fetcher] and [driver.Explainer] for telnet URLs. The zero value is ready to use.
// It keeps no state between requests. Its fields must not be changed after the first request.
//
// Without Interact the Resource is KindAdvice and Fetch does not connect. With Interact it is
// KindInteractive and its Conn is a *[Session]; closing Conn or Body ends the session. The user and
// password of the URL are never sent: "clients accessing a telnet URL merely advise the user of the
// suggested username and password." A request with an Offset or a Length fails with ErrUnsupported.
type Fetcher struct {
	// Env holds the connection settings and limits. If nil, the zero Env is used.
	Env *fetch.Env
}

var (
	_ driver.Fetcher   = (*Fetcher)(nil)
	_ driver.Explainer = (*Fetcher)(nil)
)

var (
	errNotTelnet = errors.New("not a telnet URL")
	errRange     = errors.New("a telnet session has no ranges")
	errQuery     = errors.New("a telnet session takes no search words")
)

// Fetch implements [driver.Fetcher]. Request.Options is nil or an *[Options].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := prepare(req)
	if err != nil {
		return nil, err
	}
	res := &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1},
		Locator:    a.loc,
		Kind:       fetch.KindAdvice,
		Body:       driver.WithoutOctets(a.loc, fetch.KindAdvice),
	}
	target := fetch.Target{Locator: a.loc, From: req.From, Host: a.Host, Port: a.Port}
	if !req.Interact {
		if err := ctx.Err(); err != nil {
			return nil, driver.Fail(fetch.OpFetch, a.loc, fetch.ErrOther, err)
		}
		if err := driver.NewEnv(f.Env).Permit(ctx, target); err != nil {
			return nil, err
		}
		res.Advice = advice(a.Server)
		return res, nil
	}
	env := driver.NewEnv(f.Env)
	target.Network = "tcp"
	conn, err := env.Connect(ctx, target)
	if err != nil {
		return nil, err
	}
	s := newSession(ctx, conn, a, env.Limits)
	res.Kind, res.Conn, res.Peer = fetch.KindInteractive, s, driver.AddrPort(conn.RemoteAddr())
	res.Body = struct {
		io.Reader
		io.Closer
	}{driver.WithoutOctets(a.loc, res.Kind), s}
	return res, nil
}

// access is one request, checked.
type access struct {
	locator.Server // with its port
	loc            *locator.Telnet
	opt            Options
}

// prepare checks a request. It does not connect.
func prepare(req *fetch.Request) (*access, error) {
	l, ok := req.Locator.(*locator.Telnet)
	if !ok {
		return nil, driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errNotTelnet)
	}
	if err := driver.CheckOctets(l); err != nil {
		return nil, err
	}
	switch {
	case req.Offset != 0 || req.Length != 0:
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errRange)
	case req.Query != "":
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errQuery)
	}
	opt, err := optionsOf(req)
	if err != nil {
		return nil, driver.Fail(fetch.OpFetch, l, fetch.ErrBadURL, err)
	}
	server, _ := locator.ServerOf(l)
	return &access{Server: server, loc: l, opt: opt}, nil
}

// advice returns the text to show to the user by §3.8, with the password.
func advice(s locator.Server) string {
	text := fmt.Sprintf("telnet to host %s, port %d", s.Host, s.Port)
	if s.Login == nil {
		return text
	}
	if s.Login.User != "" {
		text += fmt.Sprintf("; log in as %s", quoted(s.Login.User))
	}
	if s.Login.HasPassword {
		text += fmt.Sprintf("; the password is %s", quoted(s.Login.Password))
	}
	return text
}

// quoted returns s, in quotes unless it is plain printable text.
func quoted(s string) string {
	if s == "" {
		return "empty"
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '"' || s[i] == ';' {
			return strconv.Quote(s)
		}
	}
	return s
}

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := prepare(req)
	if err != nil {
		return nil, err
	}
	shown := a.Server
	if shown.Login != nil && shown.Login.HasPassword {
		shown.Login = &locator.Login{User: shown.Login.User, Password: wire.Mask, HasPassword: true}
	}
	advise := fetch.Step{Do: "say: " + advice(shown)}
	if !req.Interact {
		return &fetch.Explanation{
			Steps: []fetch.Step{advise},
			Notes: []string{"no connection is made without a terminal, input or a script"},
		}, nil
	}
	talk := fetch.Step{Do: "pass data in both directions until the server closes; " + a.opt.summary()}
	steps := []fetch.Step{talk}
	if a.Login != nil {
		steps = []fetch.Step{advise, talk}
	}
	return &fetch.Explanation{
		Network: "tcp", Host: a.Host, Port: a.Port,
		Steps: steps,
		Notes: []string{"the client negotiates only if the server begins to; all other options are refused"},
	}, nil
}
