// Package pace holds octets, or whatever is done again and again, back to so many
// in a second, evenly. What is read slowly is sent slowly: TCP sees to that.
package pace

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// portionsPerSecond is how steady a pace is.
const portionsPerSecond = 20

// A Pace lets so many octets pass in a second, all who share it together. What
// they leave unused is not made up for, but for one portion. A nil Pace holds
// nothing back. It is safe for concurrent use.
type Pace struct {
	limiter *rate.Limiter
	portion int
}

// New is a pace of so many octets in a second; none, or fewer, is nil.
func New(perSecond int64) *Pace {
	if perSecond <= 0 {
		return nil
	}
	portion := int(max(1, perSecond/portionsPerSecond))
	p := &Pace{rate.NewLimiter(rate.Limit(perSecond), portion), portion}
	p.limiter.AllowN(time.Now(), portion) // the first octets come no sooner than others
	return p
}

// Every is a pace of one thing in so much time, the first at once; of no time, or
// less, it is nil.
func Every(interval time.Duration) *Pace {
	if interval <= 0 {
		return nil
	}
	return &Pace{rate.NewLimiter(rate.Every(interval), 1), 1}
}

// Portion is b, or as much of its beginning as may pass at once.
func (p *Pace) Portion(b []byte) []byte {
	if p == nil || len(b) <= p.portion {
		return b
	}
	return b[:p.portion]
}

// Wait waits until n more may have passed, or for ctx to end, whose error
// it gives then.
func (p *Pace) Wait(ctx context.Context, n int64) error {
	for p != nil && n > 0 {
		portion := min(n, int64(p.portion))
		n -= portion
		// Not WaitN: that gives up before ctx ends.
		if err := Sleep(ctx, p.limiter.ReserveN(time.Now(), int(portion)).Delay()); err != nil {
			return err
		}
	}
	return nil
}

// Sleep waits for so long, or for ctx to end, whose error it gives then.
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
