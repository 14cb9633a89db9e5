package ftp

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
)

// A pool keeps the idle sessions of a Fetcher, and what it has found out about servers.
type pool struct {
	sessions.Keeper[key, *access, *session]

	pasvOnly     servers // servers for which EPSV failed
	listsHidden  servers // servers that support LIST -a
	hidesFiles   servers // servers that do not
	noPipelining servers // servers that do not support pipelining
	byNames      servers // servers whose LIST is not understood, and whose NLST is complete
	byAllNames   servers // the same, with NLST -a
	noFacts      servers // servers whose MLSD lists no facts
}

// namesOnly returns the servers whose LIST is not understood, and whose NLST, with or without the
// option -a, lists all entries.
func (p *pool) namesOnly(all bool) *servers {
	if all {
		return &p.byAllNames
	}
	return &p.byNames
}

// maxFallbacks is how many times an access is tried again because the server has ended the session
// after it had refused a command: EPSV, MLSD, LIST -a, LIST, NLST.
const maxFallbacks = 5

// do calls use with a session. If it succeeds, it returns the session, which the caller must
// release.
func (p *pool) do(ctx context.Context, a *access, use func(*session) error) (*session, error) {
	connect := func(o sessions.Opening) (*session, error) { return open(ctx, o, a) }
	onRetry := func(err error) { a.trace.Retry(fetch.Retry{Attempt: 1, Err: err}) }
	start := func(s *session) error {
		if err := s.startAccess(); err != nil {
			return err
		}
		return use(s)
	}
	s, err := p.Begin(ctx, a.key, a, a.terms, connect, start, onRetry)
	for range maxFallbacks {
		switch {
		case !a.fellBack || err == nil:
			return s, err
		case ctx.Err() != nil: // err is of the attempt that another one would have followed
			return nil, a.fail(a.verb, context.Cause(ctx))
		}
		a.fellBack = false
		onRetry(err)
		s, err = p.Begin(ctx, a.key, a, a.terms, connect, start, onRetry)
	}
	return s, err
}

// open opens a session.
func open(ctx context.Context, o sessions.Opening, a *access) (*session, error) {
	s, err := dial(ctx, o, a)
	if a.login == nil && errors.Is(err, fetch.ErrUnauthenticated) && a.env.Credentials != nil {
		s, err = dialAsUser(ctx, o, a, err)
	}
	return s, err
}

// dialAsUser connects again after the anonymous login was refused, if Env.Credentials
// returns a user name.
func dialAsUser(ctx context.Context, o sessions.Opening, a *access, refused error) (*session, error) {
	var e *fetch.Error
	errors.As(refused, &e)
	login, err := a.env.Login(ctx, fetch.Challenge{Locator: a.loc, Text: e.Reply})
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil || login.User == "" {
		return nil, refused
	}
	for what, given := range map[string]string{"the user name": login.User, "the password": login.Password} {
		if err := checkLine(what, given); err != nil {
			return nil, a.fail(fetch.OpLogin, err)
		}
	}
	login.HasPassword = true
	a.login = &login
	a.trace.Retry(fetch.Retry{Attempt: 1, Err: refused})
	return dial(ctx, o, a)
}

// release ends an access. It keeps or closes the session.
func (p *pool) release(s *session) { p.Release(s.key, s, s.access.terms) }
