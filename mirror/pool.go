package mirror

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// A pool is the connections that a run has. A server that wants fewer gets
// fewer, for good.
type pool struct {
	requests *pace.Pace

	mu    sync.Mutex
	width int
}

// each does n things, so many at a time as there are connections. What is told
// of too many connections costs one and is done again by another; other errors
// go to failed.
func (p *pool) each(ctx context.Context, n int, do func(i int) error, failed func(i int, err error)) {
	q := &queue{todo: make([]int, n)}
	for i := range q.todo {
		q.todo[i] = n - 1 - i
	}
	for q.len() > 0 && ctx.Err() == nil {
		var workers sync.WaitGroup
		for range min(p.size(), q.len()) {
			workers.Go(func() {
				for i, ok := q.take(); ok && ctx.Err() == nil; i, ok = q.take() {
					err := do(i)
					if crowded(err) && p.shrink() {
						q.give(i)
						return
					}
					if err != nil {
						failed(i, err)
					}
				}
			})
		}
		workers.Wait()
	}
}

// A queue is what is still to be done, the first last.
type queue struct {
	mu   sync.Mutex
	todo []int
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.todo)
}

func (q *queue) take() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.todo) == 0 {
		return 0, false
	}
	last := len(q.todo) - 1
	i := q.todo[last]
	q.todo = q.todo[:last]
	return i, true
}

func (q *queue) give(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.todo = append(slices.Clip(q.todo), i)
}

func (p *pool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.width
}

// shrink gives one connection up, if there are two.
func (p *pool) shrink() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width < 2 {
		return false
	}
	p.width--
	return true
}

// crowded tells whether a server says that there are too many connections: by
// the reply with which FTP and NNTP servers close one, in words, or, as inetd
// does, by closing one before its greeting.
func crowded(err error) bool {
	var e *fetch.Error
	if !errors.As(err, &e) {
		return false
	}
	words := strings.ToLower(e.Reply)
	return e.Kind == fetch.Busy && (e.Code == 421 || e.Code == 400) ||
		e.Kind == fetch.ConnectionFailed && e.Op == "connect" ||
		e.Code >= 400 && (strings.Contains(words, "too many") || strings.Contains(words, "maximum number"))
}

// turn waits until the next request may be made.
func (p *pool) turn(ctx context.Context) error {
	if err := p.requests.Wait(ctx, 1); err != nil {
		return err
	}
	return ctx.Err()
}
