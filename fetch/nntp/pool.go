package nntp

import (
	"context"
	"net"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// begin takes an idle session or opens one, and calls start with it. If begin fails, the caller must
// not call release.
func (f *Fetcher) begin(ctx context.Context, a *access, start func(*session) error) (*session, error) {
	open := func(o sessions.Opening) (*session, error) { return dial(ctx, o, a) }
	again := func(err error) { a.trace.Retry(fetch.Retry{Attempt: 1, Err: err}) }
	return f.idle.Begin(ctx, a.key, a, f.terms(a.env.Limits), open, start, again)
}

// release ends an access. Its session becomes idle, or is closed if it cannot be reused.
func (f *Fetcher) release(s *session) { f.idle.Release(s.key, s, f.terms(fetch.Limits{})) }

// terms returns the limits for idle sessions. An access waits for one within l.
func (f *Fetcher) terms(l fetch.Limits) sessions.Terms {
	return sessions.Terms{Limit: f.MaxIdle, Age: f.IdleTime, Limits: l}
}

// What follows implements [sessions.Session].

// quitTime is the timeout for QUIT.
const quitTime = 2 * time.Second

// Permit asks the policy whether an access may use the session.
func (s *session) Permit(ctx context.Context, a *access) error {
	if ctx.Err() != nil {
		return a.fail(fetch.OpConnect, ctx.Err())
	}
	return talk.PermitReuse(ctx, a.env, a.target(), s.peer)
}

// Drop closes the session without QUIT.
func (s *session) Drop() { s.Talk.Close() }

// Stale reports whether the session was probably dead before the access began.
func (s *session) Stale() bool { return s.state == unanswered && s.ctx.Err() == nil }

// Resume assigns an idle session to an access.
func (s *session) Resume(ctx context.Context, a *access) {
	s.ctx, s.access, s.state = ctx, a, unanswered
	s.Talk.Resume(ctx, a.env.Limits, a.trace)
	c := fetch.Connection{Network: "tcp", Purpose: fetch.PurposeControl, Host: s.key.host, Remote: s.peer}
	if tcp, ok := s.Raw.LocalAddr().(*net.TCPAddr); ok {
		c.Local = tcp.AddrPort()
	}
	a.trace.Reused(c)
}

// Reusable reports whether another access may use the session.
func (s *session) Reusable() bool {
	return s.Err == nil && s.state != receiving && s.ctx.Err() == nil && s.Lines.Buffered() == 0
}

// Rest detaches the session from its access.
func (s *session) Rest() {
	s.ctx, s.access = context.Background(), nil
	s.Talk.Rest()
}

// Close sends QUIT, with a timeout, and closes the connection.
func (s *session) Close() error {
	if s.state == receiving {
		return s.Talk.Close()
	}
	return s.Quit(quitTime)
}

// End closes a session whose access may have failed or been canceled.
func (s *session) End() {
	if s.ctx.Err() != nil {
		s.Talk.Close()
		return
	}
	_ = s.Close()
}
