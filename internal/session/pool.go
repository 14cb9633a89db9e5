// Package session keeps open sessions between two uses of the same server.
package session

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"time"
)

// Pool holds idle sessions by key. The zero value is empty and ready; it must
// not be copied. It runs no goroutine while sessions are idle. All methods may
// be called concurrently.
type Pool[K comparable, S io.Closer] struct {
	mu      sync.Mutex
	idle    []*entry[K, S] // oldest first
	closed  bool
	closing sync.WaitGroup // expired sessions being closed
}

type entry[K comparable, S io.Closer] struct {
	key     K
	session S
	timer   *time.Timer
}

// Get takes the session of that key that was put last; false means that there
// is none. The caller then owns it, and puts it back or closes it.
func (p *Pool[K, S]) Get(key K) (session S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range slices.Backward(p.idle) {
		if e.key == key {
			p.idle = slices.Delete(p.idle, i, i+1)
			e.timer.Stop()
			return e.session, true
		}
	}
	return session, false
}

// What Put takes for a limit or an age of zero.
const (
	DefaultLimit = 8
	DefaultAge   = time.Minute
)

// Put keeps a session for at most age, among at most limit sessions of all keys; the
// oldest makes room. Zeros are the defaults, with a negative one nothing is kept.
// What is not kept, or no longer, is closed; after Close that is everything.
func (p *Pool[K, S]) Put(key K, session S, limit int, age time.Duration) {
	limit, age = cmp.Or(limit, DefaultLimit), cmp.Or(age, DefaultAge)
	e := &entry[K, S]{key: key, session: session}
	for _, old := range p.add(e, limit, age) {
		_ = old.session.Close() // it was idle: nobody waits for its last words
	}
}

// add returns what has to be closed.
func (p *Pool[K, S]) add(e *entry[K, S], limit int, age time.Duration) []*entry[K, S] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || limit <= 0 || age <= 0 {
		return []*entry[K, S]{e}
	}
	e.timer = time.AfterFunc(age, func() { p.expire(e) })
	p.idle = append(p.idle, e)
	surplus := max(0, len(p.idle)-limit)
	out := slices.Clone(p.idle[:surplus])
	p.idle = slices.Delete(p.idle, 0, surplus)
	for _, old := range out {
		old.timer.Stop()
	}
	return out
}

// expire closes a session that nobody has taken meanwhile.
func (p *Pool[K, S]) expire(e *entry[K, S]) {
	p.mu.Lock()
	i := slices.Index(p.idle, e)
	if i < 0 {
		p.mu.Unlock()
		return
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	p.closing.Add(1)
	p.mu.Unlock()
	defer p.closing.Done()
	_ = e.session.Close()
}

// Close closes all idle sessions, at once rather than one after the other, and
// waits for that. It may be called more than once.
func (p *Pool[K, S]) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, e := range idle {
		e.timer.Stop()
		p.closing.Go(func() { _ = e.session.Close() })
	}
	p.closing.Wait()
	return nil
}
