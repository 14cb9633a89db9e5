package nats

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

// A lease is a set of keys that end together if nobody renews them.
type lease struct {
	engine *Engine
	msg    jetstream.Msg // it is redelivered if the lease ends
	lost   chan struct{}
	end    chan struct{} // closed by release
	begun  time.Time
	// renewed is the time from begun until the last renewal was sent. The keys last for longer than
	// the TTL after that, by the clock of the server, and no clock is compared with another one.
	renewed atomic.Int64

	mu   sync.Mutex
	keys map[string]uint64 // key → its revision
	over bool

	// The Work that it is for.
	key       string
	value     value
	revision  uint64 // of the value
	last      uint64 // the message of its last link
	committed bool
}

// of returns the lease of a Work.
func of(w *scale.Work) *lease { return w.Private.(*lease) }

// take creates the lease of a unit. It returns nil if another owner has it.
func (e *Engine) take(ctx context.Context, key string, msg jetstream.Msg) (*lease, uint64, error) {
	l := &lease{
		engine: e, msg: msg, key: key, lost: make(chan struct{}), end: make(chan struct{}),
		begun: time.Now(), keys: make(map[string]uint64),
	}
	fence, err := e.leases.Create(ctx, "unit."+key, nil)
	if outdated(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	l.keys["unit."+key] = fence
	e.renewal.Go(l.renewals)
	return l, fence, nil
}

// Claim implements scale.Engine.
func (e *Engine) Claim(ctx context.Context, w *scale.Work, names ...string) error {
	l := of(w)
	for _, name := range names {
		if l.has("shared." + unitkey.Of(name)) {
			return nil
		}
	}
	for _, name := range names {
		if !l.held() {
			return scale.ErrFenced
		}
		key := "shared." + unitkey.Of(name)
		revision, err := e.leases.Create(ctx, key, nil)
		switch {
		case outdated(err):
			if l.has(key) { // by a call at the same time
				return nil
			}
		case err != nil:
			return err
		default:
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.over {
				return scale.ErrFenced // the key ends by itself
			}
			l.keys[key] = revision
			return nil
		}
	}
	return scale.ErrBusy
}

func (l *lease) has(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[key] != 0
}

// held reports whether the keys last for some time yet, and left for how long.
func (l *lease) held() bool { return l.left() > 0 }

func (l *lease) left() time.Duration {
	return l.engine.o.TTL*5/6 - (time.Since(l.begun) - time.Duration(l.renewed.Load()))
}

// renewals renews the keys until the lease ends.
func (l *lease) renewals() {
	ttl := l.engine.o.TTL
	for wait := ttl / 3; ; {
		select {
		case <-l.end:
			return
		case <-l.engine.ctx.Done():
			l.lose()
			return
		case <-time.After(wait):
		}
		switch err := l.renew(); {
		case err == nil:
			wait = ttl / 3
		case errors.Is(err, scale.ErrFenced), !l.held():
			l.lose()
			return
		default: // such as a server that is being restarted
			wait = ttl / 30
		}
	}
}

// lose ends the lease for its owner.
func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.over = true
		close(l.lost)
	}
}

// renew renews the keys and the message.
func (l *lease) renew() error {
	ctx, cancel := context.WithTimeout(l.engine.ctx, min(l.left(), l.engine.o.TTL/3))
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	sent := time.Since(l.begun)
	for key, revision := range l.keys {
		renewed, err := l.engine.leases.Update(ctx, key, nil, revision)
		if outdated(err) {
			return scale.ErrFenced
		}
		if err != nil {
			return err
		}
		l.keys[key] = renewed
	}
	l.renewed.Store(int64(sent))
	return l.msg.InProgress()
}

// release ends the lease. Its keys last for a time.
func (l *lease) release(hold time.Duration) {
	if hold > 0 {
		select {
		case <-time.After(hold):
		case <-l.engine.ctx.Done(): // the keys end by themselves
		}
	}
	l.mu.Lock()
	keys := maps.Clone(l.keys)
	ended := l.over
	l.over = true
	close(l.end)
	l.mu.Unlock()
	if ended || l.engine.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.engine.ctx, l.engine.o.TTL)
	defer cancel()
	for key, revision := range keys {
		_ = l.engine.leases.Delete(ctx, key, jetstream.LastRevision(revision)) // or it ends by itself
	}
}
