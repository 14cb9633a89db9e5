// Package pace limits bytes, or repeated actions, to a number per second, evenly. TCP makes a
// sender as slow as its reader, so limiting reads limits what is sent.
package pace

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// portionsPerSecond is the number of portions into which a second is divided.
const portionsPerSecond = 20

// A Pace allows a number of bytes per second, shared by all its users. Unused capacity is lost,
// except one portion. A nil Pace does not limit. A Pace is safe for concurrent use.
type Pace struct {
	limiter *rate.Limiter
	portion int
}

// New returns a pace of perSecond bytes per second, or nil if perSecond is not positive.
func New(perSecond int64) *Pace {
	if perSecond <= 0 {
		return nil
	}
	portion := int(max(1, perSecond/portionsPerSecond))
	p := &Pace{rate.NewLimiter(rate.Limit(perSecond), portion), portion}
	p.limiter.AllowN(time.Now(), portion) // the first bytes have to wait like all others
	return p
}

// Every returns a pace of one action per interval, the first at once. If interval is not positive,
// it returns nil.
func Every(interval time.Duration) *Pace {
	if interval <= 0 {
		return nil
	}
	return &Pace{rate.NewLimiter(rate.Every(interval), 1), 1}
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
		// Not WaitN: that fails before ctx ends.
		if err := Sleep(ctx, p.limiter.ReserveN(time.Now(), int(portion)).Delay()); err != nil {
			return err
		}
	}
	return nil
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
