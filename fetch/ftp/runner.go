package ftp

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
)

// A runner performs accesses under a context, with the sessions of a pool.
type runner struct {
	ctx  context.Context
	pool *pool
}

// A pool keeps the idle sessions of a Fetcher.
type pool = sessions.Keeper[key, *access, *session]

// maxFallbacks is how many times an access is tried again because the server has ended the session
// after it had refused a command: EPSV, MLSD, LIST -a, LIST, NLST.
const maxFallbacks = 5

// do performs the commands of an access on a session, and calls then with it, unless that is nil. If both
// succeed, it returns the session, which the caller must release. The commands may be listed twice:
// before the login, if they are sent together with it, and after it.
func (r runner) do(a *access, list func(commands) []command, then func(*session) error) (*session, error) {
	connect := func(o sessions.Opening) (*session, error) { return open(r.ctx, o, a, list) }
	onRetry := func(err error) { a.trace.Retry(fetch.Retry{Attempt: 1, Err: err}) }
	start := func(s *session) error {
		err := s.startAccess()
		if err == nil {
			err = s.run(list(commands{s}))
		}
		if err == nil && then != nil {
			err = then(s)
		}
		return err
	}
	for range maxFallbacks {
		s, err := r.pool.Begin(r.ctx, a.key, a, a.terms, connect, start, onRetry)
		switch {
		case !a.fellBack || err == nil:
			return s, err
		case r.ctx.Err() != nil: // err is of the attempt that another one would have followed
			return nil, a.fail(a.verb, context.Cause(r.ctx))
		}
		a.fellBack = false
		onRetry(err)
	}
	return r.pool.Begin(r.ctx, a.key, a, a.terms, connect, start, onRetry)
}

// release ends an access. It keeps or closes the session.
func (r runner) release(s *session) { r.pool.Release(s.key, s, s.access.terms) }

// open opens a session.
func open(ctx context.Context, o sessions.Opening, a *access, list func(commands) []command) (*session, error) {
	s, err := dial(ctx, o, a, list)
	if a.login == nil && errors.Is(err, fetch.ErrUnauthenticated) && a.env.Credentials != nil {
		s, err = dialAsUser(ctx, o, a, list, err)
	}
	return s, err
}

// dialAsUser connects again after the anonymous login was refused, if Env.Credentials
// returns a user name.
func dialAsUser(ctx context.Context, o sessions.Opening, a *access, list func(commands) []command, refused error) (*session, error) {
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
	return dial(ctx, o, a, list)
}
