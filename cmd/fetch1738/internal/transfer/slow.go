package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
)

// The limit and the time where only the other one is given.
const (
	defaultSpeedLimit = 1
	defaultSpeedTime  = 30
)

// speedWindow is how many seconds the speed is the mean of.
const speedWindow = 5

// A slowness says that a transfer was too slow for too long.
type slowness struct {
	limit int64 // octets in a second
	time  int   // seconds
}

func (s *slowness) Error() string {
	return fmt.Sprintf("Operation too slow. Less than %d bytes/sec transferred the last %d seconds", s.limit, s.time)
}

// Timeout lets it be told apart as what it is.
func (s *slowness) Timeout() bool { return true }

// tolerated is the slowness that is too much; nil for none.
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

// guard cancels ctx when moved, a count of octets, has grown too slowly for too
// long. Time before under way says so does not count. Call stop when all is over.
func (s *slowness) guard(ctx context.Context, moved func() int64, underWay func() bool) (_ context.Context, stop func()) {
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

// blameSlowness is err, or, if that comes from a guard, what the guard found.
func blameSlowness(ctx context.Context, t *Transfer, err error) error {
	if slow, ok := context.Cause(ctx).(*slowness); ok && err != nil {
		return &fetch.Error{Op: fetch.OpTransfer, URL: t.Locator.Redacted(), Kind: fetch.ErrTimeout, Err: slow}
	}
	return err
}

// underWay reports whether there is anything to be slow: connecting has a limit of
// its own, and people may take their time.
func underWay(t *Transfer) bool {
	facts := t.Account.Facts()
	return !t.Asking() && (!facts.Connected.IsZero() || t.Account.Moved.Load() > 0)
}
