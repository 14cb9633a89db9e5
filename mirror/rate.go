package mirror

import (
	"context"
	"io"
	"sync"
	"time"
)

// A rate holds back the octets of all connections together.
type rate struct {
	perSecond int64 // 0 is no limit
	mu        sync.Mutex
	due       time.Time // when those that have passed should have
}

// steps are how many portions pass in a second.
const steps = 20

// passed waits until n octets should have passed. What is left unused of the
// rate is not made up for, but for one step.
func (r *rate) passed(ctx context.Context, n int64) error {
	if r.perSecond <= 0 || n == 0 {
		return nil
	}
	now := time.Now()
	r.mu.Lock()
	if earliest := now.Add(-time.Second / steps); r.due.Before(earliest) {
		r.due = earliest
	}
	r.due = r.due.Add(time.Duration(float64(n) / float64(r.perSecond) * float64(time.Second)))
	wait := r.due.Sub(now)
	r.mu.Unlock()
	return sleep(ctx, wait)
}

// sleep waits, or for ctx to end.
func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// copy is io.Copy at the rate.
func (r *rate) copy(ctx context.Context, w io.Writer, body io.Reader) error {
	if r.perSecond <= 0 {
		_, err := io.Copy(w, body)
		return err
	}
	buf := make([]byte, min(64<<10, max(1, r.perSecond/steps)))
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if err := r.passed(ctx, int64(n)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
