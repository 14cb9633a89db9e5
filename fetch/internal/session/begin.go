package session

import (
	"context"
	"io"
	"time"
)

// A Session serves one access A at a time. Close ends the session as the protocol requires.
type Session[A any] interface {
	io.Closer
	// End closes a session whose access may have failed or been canceled.
	End()
	// Drop closes the connection without sending anything.
	Drop()
	// Waiting reports whether unsolicited data has arrived. It would be taken for the
	// reply to the next command.
	Waiting() bool
	// Permit asks the policy the questions of a new session for a.
	Permit(ctx context.Context, a A) error
	// Resume assigns the session to an access, Rest detaches it.
	Resume(ctx context.Context, a A)
	Rest()
	// Reusable reports whether another access may use the session.
	Reusable() bool
	// Stale reports whether the session failed before it did anything that must not
	// be repeated. Most likely the connection had been dead for some time.
	Stale() bool
}

// A Keeper keeps sessions for reuse by later accesses. The zero value is ready to use.
// Its methods may be called concurrently.
type Keeper[K comparable, A any, S Session[A]] struct{ pool Pool[K, S] }

// Terms holds how many sessions are kept and for how long (see [Pool.Put]).
type Terms struct {
	Limit int
	Age   time.Duration
}

// Begin finds a kept session for key, or calls open, and calls start with it. A kept session
// that turns out to be dead is replaced, after onRetry is called with the error. The caller
// must release the returned session. After an error there is no session.
func (k *Keeper[K, A, S]) Begin(ctx context.Context, key K, a A, terms Terms, open func() (S, error), start func(S) error, onRetry func(error)) (S, error) {
	var none S
	for {
		s, ok := k.pool.Get(key)
		if !ok {
			break
		}
		if s.Waiting() {
			s.Drop()
			continue
		}
		if err := s.Permit(ctx, a); err != nil {
			k.pool.Put(key, s, terms.Limit, terms.Age)
			return none, err
		}
		s.Resume(ctx, a)
		err := start(s)
		if err == nil {
			return s, nil
		}
		stale := s.Stale()
		k.Release(key, s, terms)
		if !stale {
			return none, err
		}
		onRetry(err)
		break
	}
	s, err := open()
	if err != nil {
		return none, err
	}
	if err := start(s); err != nil {
		k.Release(key, s, terms)
		return none, err
	}
	return s, nil
}

// Release ends an access. It keeps or closes the session.
func (k *Keeper[K, A, S]) Release(key K, s S, terms Terms) {
	if terms.Limit < 0 || !s.Reusable() {
		s.End()
		return
	}
	s.Rest()
	k.pool.Put(key, s, terms.Limit, terms.Age)
}

// Close closes the kept sessions.
func (k *Keeper[K, A, S]) Close() error { return k.pool.Close() }
