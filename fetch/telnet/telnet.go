// Package telnet opens the services that telnet URLs designate (RFC 1738 §3.8).
//
// Such a URL names no document. Without [fetch.Request.Interact] the answer is
// advice: where to connect and which user name and password to try. With it, it
// is a [Session], which speaks the protocol of RFC 854 and negotiates by the Q
// method of RFC 1143.
package telnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [fetch.Fetcher] and [fetch.Explainer] for telnet URLs. The zero
// value is ready. It keeps nothing between requests; its fields must not be
// changed once it is in use.
//
// With Interact the Resource is KindInteractive and its Conn a *[Session], which
// closing Conn or Body ends. The user and password of the URL are never sent:
// "clients accessing a telnet URL merely advise the user of the suggested
// username and password." There are no ranges: with an Offset or a Length it is
// ErrUnsupported.
type Fetcher struct {
	// Env is the way out; nil is the zero Env.
	Env *fetch.Env
}

var (
	_ fetch.Fetcher   = (*Fetcher)(nil)
	_ fetch.Explainer = (*Fetcher)(nil)
)

var (
	errNotTelnet = errors.New("not a telnet URL")
	errRange     = errors.New("a service has no ranges")
	errQuery     = errors.New("a service takes no search words")
)

// Fetch implements [fetch.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := prepare(req)
	if err != nil {
		return nil, err
	}
	res := &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1},
		Locator:    a.loc,
		Kind:       fetch.KindAdvice,
		Body:       fetch.WithoutOctets(a.loc, fetch.KindAdvice),
	}
	target := fetch.Target{Locator: a.loc, From: req.From, Host: a.Host, Port: a.Port}
	if !req.Interact {
		if err := ctx.Err(); err != nil {
			return nil, fetch.Fail(fetch.OpFetch, a.loc, fetch.ErrOther, err)
		}
		if err := f.Env.Permit(ctx, target); err != nil {
			return nil, err
		}
		res.Advice = advice(a.Server)
		return res, nil
	}
	env := f.Env.WithDefaults()
	target.Network = "tcp"
	conn, err := env.Connect(ctx, target)
	if err != nil {
		return nil, err
	}
	s := newSession(ctx, conn, a, env.Limits)
	res.Kind, res.Conn, res.Peer = fetch.KindInteractive, s, fetch.AddrPort(conn.RemoteAddr())
	res.Body = struct {
		io.Reader
		io.Closer
	}{fetch.WithoutOctets(a.loc, res.Kind), s}
	return res, nil
}

// access is what a request comes to.
type access struct {
	locator.Server // with its port
	loc            *locator.Telnet
	opt            Options
}

// prepare refuses what cannot be done, before anything is dialled.
func prepare(req *fetch.Request) (*access, error) {
	l, ok := req.Locator.(*locator.Telnet)
	if !ok {
		return nil, fetch.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errNotTelnet)
	}
	if err := fetch.CheckOctets(l); err != nil {
		return nil, err
	}
	switch {
	case req.Offset != 0 || req.Length != 0:
		return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errRange)
	case req.Query != "":
		return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errQuery)
	}
	opt, err := optionsOf(req)
	if err != nil {
		return nil, fetch.Fail(fetch.OpFetch, l, fetch.ErrBadURL, err)
	}
	server, _ := locator.ServerOf(l)
	return &access{Server: server, loc: l, opt: opt}, nil
}

// advice is what §3.8 has a person told, password and all.
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

// quoted is s where that is plain to see and to type, else in quotes.
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

// Explain implements [fetch.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Plan, error) {
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
		return &fetch.Plan{
			Steps: []fetch.Step{advise},
			Notes: []string{"nothing is dialled without a person, or a script, to talk to the service"},
		}, nil
	}
	talk := fetch.Step{Do: "pass octets both ways until the server closes; " + a.opt.summary()}
	steps := []fetch.Step{talk}
	if a.Login != nil {
		steps = []fetch.Step{advise, talk}
	}
	return &fetch.Plan{
		Network: "tcp", Host: a.Host, Port: a.Port,
		Steps: steps,
		Notes: []string{"nothing is negotiated unless the server begins to; every other option is refused"},
	}, nil
}
