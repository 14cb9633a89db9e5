// Package pace limits bytes, or repeated actions, to a number per second, evenly. TCP makes a
// sender as slow as its reader, so limiting reads limits what is sent.
package pace

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"
)

// portionsPerSecond is the number of portions into which a second is divided.
const portionsPerSecond = 20

// A Pace allows a number of bytes per second, shared by all its users. Unused capacity is lost,
// except one portion. A nil Pace does not limit. A Pace is safe for concurrent use.
type Pace struct {
	portion int
	span    time.Duration // of a portion

	mu    sync.Mutex
	taken time.Time // the capacity up to this time is taken
}

// New returns a pace of perSecond bytes per second, or nil if perSecond is not positive.
func New(perSecond int64) *Pace {
	if perSecond <= 0 {
		return nil
	}
	portion := max(1, perSecond/portionsPerSecond)
	span := time.Duration(float64(portion) / float64(perSecond) * float64(time.Second))
	return &Pace{portion: int(portion), span: span, taken: time.Now().Add(span)} // the first bytes have to wait like all others
}

// Every returns a pace of one action per interval, the first at once. If interval is not positive,
// it returns nil.
func Every(interval time.Duration) *Pace {
	if interval <= 0 {
		return nil
	}
	return &Pace{portion: 1, span: interval}
}

// Portion returns b, or as much of its beginning as may pass at once.
func (p *Pace) Portion(b []byte) []byte {
	if p == nil || len(b) <= p.portion {
		return b
	}
	return b[:p.portion]
}

// Wait waits until n more bytes may have passed. If ctx ends first, it returns the error of ctx.
func (p *Pace) Wait(ctx context.Context, n int64) error {
	for p != nil && n > 0 {
		portion := min(n, int64(p.portion))
		n -= portion
		if err := Sleep(ctx, p.take(portion)); err != nil {
			return err
		}
	}
	return nil
}

// Reader returns r with a limit of its rate. If ctx ends, it fails with the error of ctx.
func (p *Pace) Reader(ctx context.Context, r io.Reader) io.Reader {
	if p == nil {
		return r
	}
	return reader{r, p, ctx}
}

type reader struct {
	r    io.Reader
	pace *Pace
	ends context.Context
}

func (r reader) Read(b []byte) (int, error) {
	n, err := r.r.Read(r.pace.Portion(b))
	return n, cmp.Or(r.pace.Wait(r.ends, int64(n)), err)
}

// take takes the capacity for n bytes, at most a portion. It returns how long to wait for it.
func (p *Pace) take(n int64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.taken.Before(now) {
		p.taken = now
	}
	p.taken = p.taken.Add(time.Duration(float64(p.span) * float64(n) / float64(p.portion)))
	return p.taken.Sub(now) - p.span
}

// Sleep waits for the given duration. If ctx ends first, it returns the error of ctx.
func Sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
