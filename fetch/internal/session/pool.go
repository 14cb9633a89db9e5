// Package session keeps idle sessions for reuse.
package session

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"time"
)

// A Pool holds idle sessions by key. The zero value is an empty Pool. A Pool must
// not be copied. It runs no goroutine while sessions are idle. All methods may
// be called concurrently.
type Pool[K Key, S io.Closer] struct {
	mu      sync.Mutex
	idle    []*entry[K, S]         // oldest first
	lines   map[Server]*line[K, S] // while there are sessions, or accesses that wait for one
	closed  bool
	closing sync.WaitGroup // expired sessions being closed
}

type entry[K Key, S io.Closer] struct {
	key     K
	session S
	timer   *time.Timer
}

// Get removes and returns the latest session put with that key. ok reports whether there was
// one. The caller then owns the session.
func (p *Pool[K, S]) Get(key K) (session S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.get(key)
}

// get is Get without the lock.
func (p *Pool[K, S]) get(key K) (session S, ok bool) {
	for i, e := range slices.Backward(p.idle) {
		if e.key == key {
			p.idle = slices.Delete(p.idle, i, i+1)
			e.timer.Stop()
			return e.session, true
		}
	}
	return session, false
}

// Defaults of Put.
const (
	DefaultLimit = 8
	DefaultAge   = time.Minute
)

// Put gives a session to an access that waits for one, or keeps it for at most age. If the Pool then
// has more than limit sessions, of any key, the oldest is closed. Zero means DefaultLimit or
// DefaultAge. If one of them is negative, or after Close, the session is closed at once.
func (p *Pool[K, S]) Put(key K, session S, limit int, age time.Duration) {
	limit, age = cmp.Or(limit, DefaultLimit), cmp.Or(age, DefaultAge)
	e := &entry[K, S]{key: key, session: session}
	for _, old := range p.add(e, limit, age) {
		_ = old.session.Close() // no access waits for the result
		p.gone(old.key)
	}
}

// add adds e and returns the entries to close.
func (p *Pool[K, S]) add(e *entry[K, S], limit int, age time.Duration) []*entry[K, S] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.lines[e.key.Server()]; l != nil {
		now := time.Now()
		if w := l.next(now); w != nil {
			if w.key != e.key {
				return []*entry[K, S]{e} // its access connects with another login
			}
			l.give(w, e.session, now)
			return nil
		}
	}
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

// expire closes a session that has not been taken from the pool.
func (p *Pool[K, S]) expire(e *entry[K, S]) {
	p.mu.Lock()
	i := slices.Index(p.idle, e)
	if i < 0 {
		p.mu.Unlock()
		return
	}
	p.closeAt(i)
}

// closeAt closes the i-th idle session. It unlocks p.mu.
func (p *Pool[K, S]) closeAt(i int) {
	e := p.idle[i]
	e.timer.Stop()
	p.idle = slices.Delete(p.idle, i, i+1)
	p.closing.Add(1)
	p.mu.Unlock()
	defer p.closing.Done()
	_ = e.session.Close()
	p.gone(e.key)
}

// Close closes all idle sessions concurrently and waits until they are closed. It may be
// called more than once.
func (p *Pool[K, S]) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, e := range idle {
		e.timer.Stop()
		p.closing.Go(func() {
			_ = e.session.Close()
			p.gone(e.key)
		})
	}
	p.closing.Wait()
	return nil
}
