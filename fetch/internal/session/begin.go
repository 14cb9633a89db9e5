package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
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
type Keeper[K Key, A any, S Session[A]] struct{ pool Pool[K, S] }

// Terms holds how many sessions are kept and for how long (see [Pool.Put]). Limits.Connect and
// Limits.Reply limit how long an access waits for one before it connects.
type Terms struct {
	Limit  int
	Age    time.Duration
	Limits fetch.Limits
}

// An Opening is a session that is being opened. Until its greeting has come, Context applies: it ends
// early if the access takes another session. Then Greeted must be called.
type Opening struct {
	Context context.Context
	Greeted func()
}

// Begin finds a kept session for key, or calls open, and calls start with it. A kept session
// that turns out to be dead is replaced, after onRetry is called with the error. The caller
// must release the returned session. After an error there is no session.
func (k *Keeper[K, A, S]) Begin(ctx context.Context, key K, a A, terms Terms, open func(Opening) (S, error), start func(S) error, onRetry func(error)) (S, error) {
	var none S
	for fresh := false; ; {
		s, used, err := k.acquire(ctx, key, terms, fresh, open)
		if err != nil {
			return none, err
		}
		if used && s.Waiting() {
			s.Drop()
			k.pool.gone(key)
			continue
		}
		if used {
			if err := s.Permit(ctx, a); err != nil {
				k.pool.Put(key, s, terms.Limit, terms.Age)
				return none, err
			}
			s.Resume(ctx, a)
		}
		if err = start(s); err == nil {
			return s, nil
		}
		stale := used && s.Stale()
		k.Release(key, s, terms)
		if !stale {
			return none, err
		}
		onRetry(err)
		fresh = true // others are most likely dead, too
	}
}

// acquire returns a session: an idle one, unless fresh is set, or what comes first, one that is
// opened or one that another access releases. used reports whether it has been used before.
func (k *Keeper[K, A, S]) acquire(ctx context.Context, key K, terms Terms, fresh bool, open func(Opening) (S, error)) (s S, used bool, err error) {
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &waiter[K, S]{key: key, cancel: cancel, connect: make(chan struct{})}
	if s, ok := k.pool.enter(w, fresh); ok {
		return s, true, nil
	}
	trace := driver.ContextTrace(ctx)
	o := Opening{opening, func() { k.pool.greeted(w) }}
	select {
	case <-w.connect:
	default:
		trace.Note("waiting for a session to become free: the server seems to have no more at once")
		waiting, stop := wire.Within(opening, "no session became free", terms.Limits.Connect, terms.Limits.Reply)
		defer stop()
		select {
		case <-w.connect:
		case <-waiting.Done():
			o.Context = waiting // open fails with its cause
		}
	}
	s, err = open(o)
	released, ok, others := k.pool.leave(w, err == nil)
	switch {
	case ok && err != nil && ctx.Err() == nil:
		trace.Note("no greeting: continuing with a session that has become free")
		return released, true, nil
	case ok:
		k.pool.Put(key, released, terms.Limit, terms.Age)
	}
	if err != nil && !w.greeted && others > 0 {
		err = occupied(err, others)
	}
	return s, false, err
}

// occupied returns the error of a connection that got no greeting, while there are other sessions
// with the server.
func occupied(err error, others int) error {
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok || e.Op != fetch.OpConnect && e.Op != fetch.OpTLS {
		return err
	}
	if e.Kind != fetch.ErrTimeout && e.Kind != fetch.ErrConnectionFailed && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	busy := *e
	busy.Op, busy.Kind = fetch.OpConnect, fetch.ErrBusy
	busy.Err = fmt.Errorf("%w (sessions of this program with the server: %d; it may have no more at once)", e.Err, others)
	return &busy
}

// Release ends an access. It keeps or closes the session.
func (k *Keeper[K, A, S]) Release(key K, s S, terms Terms) {
	if terms.Limit < 0 || !s.Reusable() {
		s.End()
		k.pool.gone(key)
		return
	}
	s.Rest()
	k.pool.Put(key, s, terms.Limit, terms.Age)
}

// Close closes the kept sessions.
func (k *Keeper[K, A, S]) Close() error { return k.pool.Close() }
