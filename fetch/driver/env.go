package driver

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/call"
	"github.com/fetch1738/fetch1738/locator"
)

// An Env is a [fetch.Env] as a Fetcher uses it: its settings, with defaults where they are not set,
// and the methods by which the Fetcher connects, asks the policy, and obtains logins. [NewEnv] makes
// one. The methods are safe for concurrent use.
type Env struct{ fetch.Env }

// NewEnv returns the Env for a Fetcher whose field Env is e, with the defaults of Limits and Email
// filled in. e may be nil, and is not changed.
func NewEnv(e *fetch.Env) *Env {
	env := new(Env)
	if e != nil {
		env.Env = *e
	}
	env.Limits = env.Limits.WithDefaults()
	if env.Email == "" {
		env.Email = "anonymous@"
	}
	return env
}

// A Policy is one that applies to every Env, whether it is in the context or in the Env: both ways
// lead to one question. A Resolver passes its policy to its Fetchers in this way, so that one with an
// Env of its own, and one whose context comes from elsewhere, obey it too.
type Policy struct{ carried call.Policy[fetch.Target] }

// NewPolicy returns the Policy that asks allow.
func NewPolicy(allow func(ctx context.Context, t fetch.Target) error) *Policy {
	return &Policy{call.Policy[fetch.Target]{Allow: allow}}
}

// With returns a copy of ctx with which p applies to every Env, as the policy of [fetch.WithAllow].
func (p *Policy) With(ctx context.Context) context.Context { return p.carried.In(ctx) }

// Allow is an Allow for an Env. It permits everything if ctx carries p, which is asked then anyway.
func (p *Policy) Allow(ctx context.Context, t fetch.Target) error {
	if slices.Contains(call.Policies[fetch.Target](ctx), &p.carried) {
		return nil
	}
	return p.carried.Allow(ctx, t)
}

// Permit asks the policies of the context ([fetch.WithAllow], [Policy]), then Allow, whether t may be
// accessed. A refusal is an *[fetch.Error] of kind [fetch.ErrRefused].
func (e *Env) Permit(ctx context.Context, t fetch.Target) error {
	for _, p := range call.Policies[fetch.Target](ctx) {
		if err := p.Allow(ctx, t); err != nil {
			return Fail(fetch.OpConnect, t.Locator, fetch.ErrRefused, err)
		}
	}
	if e.Allow == nil {
		return nil
	}
	if err := e.Allow(ctx, t); err != nil {
		return Fail(fetch.OpConnect, t.Locator, fetch.ErrRefused, err)
	}
	return nil
}

// TLSConfig returns a copy of the Config that TLS returns, or a new Config if that is nil. A
// Fetcher calls it for each handshake, after it has connected.
func (e *Env) TLSConfig() (*tls.Config, error) {
	if e.TLS == nil {
		return new(tls.Config), nil
	}
	config, err := e.TLS()
	switch {
	case err != nil:
		return nil, err
	case config == nil:
		return new(tls.Config), nil
	}
	return config.Clone(), nil
}

// Login calls Credentials. If Credentials is nil or fails, the error is an *[fetch.Error] of kind
// [fetch.ErrUnauthenticated].
func (e *Env) Login(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	if e.Credentials == nil {
		return locator.Login{}, Fail(fetch.OpLogin, c.Locator, fetch.ErrUnauthenticated, errors.New("the server requires a login, and none was given"))
	}
	login, err := e.Credentials(ctx, c)
	if err != nil {
		kind := fetch.ErrUnauthenticated
		if ctx.Err() != nil {
			kind = fetch.KindOf(ctx.Err())
		}
		return locator.Login{}, Fail(fetch.OpLogin, c.Locator, kind, err)
	}
	return login, nil
}

// Open connects to t as [Env.Connect] does, and returns a Conn for a request of t.Locator. The
// caller must close it.
func (e *Env) Open(ctx context.Context, t fetch.Target) (*Conn, error) {
	conn, err := e.Connect(ctx, t)
	if err != nil {
		return nil, err
	}
	return e.NewConn(ctx, t.Locator, conn), nil
}
