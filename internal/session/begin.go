package session

import (
	"context"
	"io"
	"time"
)

// A Session serves one access A at a time. Close takes leave of the server.
type Session[A any] interface {
	io.Closer
	// End closes a session whose access may have failed or been cut off; Drop does so
	// without a word.
	End()
	Drop()
	// Waiting reports whether something has come meanwhile: it would be taken for
	// the answer to what is asked next.
	Waiting() bool
	// Permit asks the policy what it would be asked if the session were opened for a.
	Permit(ctx context.Context, a A) error
	// Resume puts the session under an access, Rest takes it out of it.
	Resume(ctx context.Context, a A)
	Rest()
	// Reusable reports whether another access may have the session.
	Reusable() bool
	// Stale reports whether the session broke before it could do anything that must
	// not be done again: it had been dead for some time, most likely.
	Stale() bool
}

// A Keeper has accesses use sessions again that others have left. The zero value
// is ready; all its methods may be called concurrently.
type Keeper[K comparable, A any, S Session[A]] struct{ pool Pool[K, S] }

// Terms are how many sessions are kept and for how long (see [Pool.Put]).
type Terms struct {
	Limit int
	Age   time.Duration
}

// Begin finds a session of that key for a, or opens one, and starts on it. A kept one
// that turns out to be dead is replaced, and again is told why. The session is the
// caller's, to be released; after an error there is none.
func (k *Keeper[K, A, S]) Begin(ctx context.Context, key K, a A, terms Terms, open func() (S, error), start func(S) error, again func(error)) (S, error) {
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
		again(err)
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

// Release ends an access: its session is kept or closed.
func (k *Keeper[K, A, S]) Release(key K, s S, terms Terms) {
	if terms.Limit < 0 || !s.Reusable() {
		s.End()
		return
	}
	s.Rest()
	k.pool.Put(key, s, terms.Limit, terms.Age)
}

// Close ends the sessions that are kept.
func (k *Keeper[K, A, S]) Close() error { return k.pool.Close() }
