// Package speed gives up transfers that are too slow for too long.
package speed

import (
	"context"
	"fmt"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// The limit and the time where only the other one is given.
const (
	defaultSpeedLimit = 1
	defaultSpeedTime  = 30
)

// speedWindow is how many seconds the speed is the mean of.
const speedWindow = 5

// A Slowness says that a transfer was too slow for too long.
type Slowness struct {
	limit int64 // octets in a second
	time  int   // seconds
}

func (s *Slowness) Error() string {
	return fmt.Sprintf("Operation too slow. Less than %d bytes/sec transferred the last %d seconds", s.limit, s.time)
}

// Timeout lets it be told apart as what it is.
func (s *Slowness) Timeout() bool { return true }

// Tolerated is the slowness that is too much; nil for none.
func Tolerated(l *plan.Limits) *Slowness {
	if l.Speed == 0 && l.SpeedTime == 0 {
		return nil
	}
	s := &Slowness{int64(l.Speed), l.SpeedTime}
	if s.limit == 0 {
		s.limit = defaultSpeedLimit
	}
	if s.time == 0 {
		s.time = defaultSpeedTime
	}
	return s
}

// Guard cancels ctx when moved, a count of octets, has grown too slowly for too
// long. Time before under way says so does not count. Call stop when all is over.
func (s *Slowness) Guard(ctx context.Context, moved func() int64, underWay func() bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		var counts []int64 // at the last ticks
		slow := 0          // for how many ticks it has been
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if !underWay() {
				continue
			}
			counts = append(counts, moved())
			if len(counts) < 2 {
				continue
			}
			counts = counts[max(0, len(counts)-speedWindow-1):]
			last := len(counts) - 1
			if (counts[last]-counts[0])/int64(last) >= s.limit {
				slow = 0
			} else if slow++; slow >= s.time {
				cancel(s)
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-gone
	}
}
