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
// and the methods by which the Fetcher connects, asks the policy, and obtains logins. [NewEnv]
// makes one, which must not be changed. The methods are safe for concurrent use.
type Env struct {
	fetch.Env
	of *fetch.Env // what NewEnv received: a context may carry its policy already
}

// NewEnv returns the Env for a Fetcher whose field Env is e, with the defaults of Limits and Email
// filled in. e may be nil, and is not changed.
func NewEnv(e *fetch.Env) *Env {
	env := &Env{of: e}
	if e != nil {
		env.Env = *e
	}
	env.Limits = env.Limits.WithDefaults()
	if env.Email == "" {
		env.Email = "anonymous@"
	}
	return env
}

// calling is what a context of package fetch carries.
type calling = call.Call[*fetch.Trace, *fetch.Env, fetch.Target]

// of returns what ctx carries.
func of(ctx context.Context) calling { return call.Of[*fetch.Trace, *fetch.Env, fetch.Target](ctx) }

// WithPolicy returns a copy of ctx with which the Allow of e applies to every Env, as that of
// [fetch.WithAllow] does. For Fetchers of e itself it is asked only once. A Resolver passes its
// policy to its Fetchers in this way. e must not be nil.
func WithPolicy(ctx context.Context, e *fetch.Env) context.Context {
	c := of(ctx)
	if slices.Contains(c.Policies, e) {
		return ctx
	}
	c.Policies = append(slices.Clip(c.Policies), e)
	return c.In(ctx)
}

// Permit asks the policies of the context ([fetch.WithAllow], [WithPolicy]), then Allow, whether t
// may be accessed. A refusal is an *[fetch.Error] of kind [fetch.ErrRefused].
func (e *Env) Permit(ctx context.Context, t fetch.Target) error {
	policies := of(ctx).Policies
	if !slices.Contains(policies, e.of) {
		policies = append(slices.Clip(policies), &e.Env)
	}
	for _, p := range policies {
		if p.Allow == nil {
			continue
		}
		if err := p.Allow(ctx, t); err != nil {
			return Fail(fetch.OpConnect, t.Locator, fetch.ErrRefused, err)
		}
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
