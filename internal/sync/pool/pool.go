// Package pool runs the requests of a mirror: several at once, and fewer if the server says that
// there are too many connections.
package pool

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// A Pool limits the number of simultaneous requests. If a server replies that there are too many,
// the limit is lowered for the rest of the run. The zero value is not usable; see New.
type Pool struct {
	requests *pace.Pace

	mu     sync.Mutex
	width  int
	worked bool
	again  bool // a request was made again since the last one that succeeded
	lost   int  // requests in a row that failed for a reason that is not theirs
}

// New returns a Pool of width connections. wait is the minimum time between the starts of two
// requests.
func New(width int, wait time.Duration) *Pool {
	return &Pool{width: max(1, width), requests: pace.Every(wait)}
}

// Each calls do for each of things, with at most p.Size() calls at a time. If an error says that
// there are too many connections, the pool shrinks by one and the thing is done again. It is done
// again, too, if the server has ended the session. For other errors Each calls failed. do may call
// more to find out whether another thing follows on its worker, whatever the other workers do.
func Each[T any](ctx context.Context, p *Pool, things iter.Seq[T], do func(thing T, more func() bool) error, failed func(T, error)) {
	next, stop := iter.Pull(things)
	defer stop()
	q := &queue[T]{next: next}
	for first, ok := q.take(); ok && ctx.Err() == nil; first, ok = q.take() {
		q.give(first)
		var workers sync.WaitGroup
		for range p.Size() {
			workers.Go(func() {
				w := worker[T]{queue: q}
				defer w.leave()
				for thing, ok := w.take(); ok && ctx.Err() == nil; thing, ok = w.take() {
					err := do(thing, w.more)
					if p.Crowded(err) && p.shrink() {
						q.give(thing)
						return
					}
					if p.Again(err) { // it was crowded, and another worker has left meanwhile
						q.give(thing)
						continue
					}
					if err != nil {
						failed(thing, err)
					}
				}
			})
		}
		workers.Wait()
	}
}

// Indices yields 0 to n-1.
func Indices(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// A queue holds the things still to do.
type queue[T any] struct {
	mu    sync.Mutex
	given []T // things given back; they are taken first
	next  func() (T, bool)
}

// take returns a thing that was given back, or else the next one. It returns false if none is left.
func (q *queue[T]) take() (T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last := len(q.given) - 1; last >= 0 {
		thing := q.given[last]
		q.given = q.given[:last]
		return thing, true
	}
	return q.next()
}

// give gives a thing back.
func (q *queue[T]) give(thing T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.given = append(q.given, thing)
}

// A worker takes things from a queue. It may take one early.
type worker[T any] struct {
	*queue[T]
	next  T
	taken bool // next is the thing to return
}

// take returns the thing that more has taken, or else one of the queue.
func (w *worker[T]) take() (T, bool) {
	if w.taken {
		w.taken = false
		return w.next, true
	}
	return w.queue.take()
}

// more reports whether take will return a thing.
func (w *worker[T]) more() bool {
	if !w.taken {
		w.next, w.taken = w.queue.take()
	}
	return w.taken
}

// leave gives back what was taken early.
func (w *worker[T]) leave() {
	if w.taken {
		w.give(w.next)
	}
}

// Size returns the number of requests that may be made at once.
func (p *Pool) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.width
}

// shrink lowers the limit by one. It reports false if only one connection is left.
func (p *Pool) shrink() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width < 2 {
		return false
	}
	p.width--
	return true
}

// Worked records that a request has succeeded, so that the login is known to be right.
func (p *Pool) Worked() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.worked, p.lost, p.again = true, 0, false
}

// Again reports whether a request is made again because the server has ended its session (421 of FTP, 400
// of NNTP), as servers do after some time or some requests. It is, if another request has succeeded since the last
// time: a server that ends each session is not asked for ever.
func (p *Pool) Again(err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok || e.Kind != fetch.ErrBusy || e.Code != 421 && e.Code != 400 || e.Op == fetch.OpConnect || e.Op == fetch.OpLogin || !p.worked || p.again {
		return false
	}
	p.again = true
	return true
}

// Crowded reports whether an error means that the server permits fewer connections than there are. Some
// servers refuse a login then, as do those with passwords for one login.
func (p *Pool) Crowded(err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := errors.AsType[*fetch.Error](err)
	return p.width > 1 && (isCrowded(err) || ok && p.worked && e.Kind == fetch.ErrUnauthenticated && e.Code == 530)
}

// isCrowded reports whether an error means that there are too many connections. FTP and NNTP servers
// say so by the reply before they close the connection, or in words. inetd closes the connection
// before the greeting; others reset it. If a server sends no greeting while it has other sessions,
// the Fetchers of FTP and news say so by ErrBusy of OpConnect without a code.
func isCrowded(err error) bool {
	var e *fetch.Error
	if !errors.As(err, &e) {
		return false
	}
	words := strings.ToLower(e.Reply)
	return e.Kind == fetch.ErrBusy && (e.Code == 421 || e.Code == 400 || e.Code == 0 && e.Op == fetch.OpConnect) ||
		e.Op == fetch.OpConnect && (e.Kind == fetch.ErrConnectionFailed || errors.Is(err, syscall.ECONNRESET)) ||
		e.Code >= 400 && (strings.Contains(words, "too many") || strings.Contains(words, "maximum number"))
}

// Turn waits until the next request may be made.
func (p *Pool) Turn(ctx context.Context) error {
	if err := p.requests.Wait(ctx, 1); err != nil {
		return err
	}
	return ctx.Err()
}

// Try makes a request, and makes it again as retry decides, which gets the number of earlier
// failures and the error. If retry is nil, only what the server itself asks for is made again.
func (p *Pool) Try(ctx context.Context, retry func(ctx context.Context, n int, err error) bool, do func() error) error {
	for n := 0; ; n++ {
		if err := p.Turn(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			p.Worked()
			return nil
		}
		if mark, _ := Unmark(err); mark == Ends || ctx.Err() != nil || p.Crowded(err) {
			return err
		}
		if p.Again(err) {
			continue
		}
		if retry == nil || !retry(ctx, n, err) {
			return p.Failed(err)
		}
	}
}
