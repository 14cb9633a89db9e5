package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// The defaults of -Y and -y if only the other one is given.
const (
	defaultSpeedLimit = 1
	defaultSpeedTime  = 30
)

// speedWindow is the number of seconds of which the speed is the mean.
const speedWindow = 5

// A slowness is the error of a transfer that was slower than limit for time seconds.
type slowness struct {
	limit int64 // bytes per second
	time  int   // seconds
}

func (s *slowness) Error() string {
	return fmt.Sprintf("Operation too slow. Less than %d bytes/sec transferred the last %d seconds", s.limit, s.time)
}

// Timeout returns true, as the method of net.Error for timeouts.
func (s *slowness) Timeout() bool { return true }

// tolerated returns the limit of speed as an error, or nil if there is no limit.
func tolerated(l *plan.Limits) *slowness {
	if l.Speed == 0 && l.SpeedTime == 0 {
		return nil
	}
	s := &slowness{int64(l.Speed), l.SpeedTime}
	if s.limit == 0 {
		s.limit = defaultSpeedLimit
	}
	if s.time == 0 {
		s.time = defaultSpeedTime
	}
	return s
}

// watch cancels ctx when moved, a count of bytes, has grown too slowly for too long.
// Time in which underWay returns false does not count. The caller must call stop.
func (s *slowness) watch(ctx context.Context, moved func() int64, underWay func() bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		var counts []int64 // at the most recent ticks
		slow := 0          // successive ticks below the limit
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
