package transfer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// The limit cancels what has been slow for the whole of its time, and nothing else.
func TestSlowness(t *testing.T) {
	for _, c := range []struct {
		name  string
		speed func(second int) int64 // octets moved in each second; -1 is not under way yet
		end   time.Duration          // when the transfer is cancelled; 0 is never
	}{
		{"quick enough", func(int) int64 { return 100 }, 0},
		{"too slow", func(int) int64 { return 99 }, 4 * time.Second},
		{"silent", func(int) int64 { return 0 }, 4 * time.Second},
		{"quick, then silent", func(s int) int64 {
			if s < 10 {
				return 100
			}
			return 0
		}, 13 * time.Second},
		{"a pause", func(s int) int64 {
			if s == 10 || s == 11 {
				return 0
			}
			return 200
		}, 0},
		{"long in connecting", func(s int) int64 {
			if s < 60 {
				return -1
			}
			return 1000
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var octets atomic.Int64
				var connected atomic.Bool
				slow := &slowness{limit: 100, time: 3}
				ctx, stop := slow.watch(t.Context(), octets.Load, connected.Load)
				defer stop()
				start := time.Now()
				time.Sleep(time.Second / 2) // octets come between the measurements
				for second := range 90 {
					n := c.speed(second)
					connected.Store(n >= 0)
					octets.Add(max(0, n))
					select {
					case <-ctx.Done():
						if took := time.Since(start); took != c.end {
							t.Errorf("ended after %v, want %v", took, c.end)
						}
						if !errors.Is(context.Cause(ctx), slow) {
							t.Error(context.Cause(ctx))
						}
						return
					case <-time.After(time.Second):
					}
				}
				if c.end != 0 {
					t.Error("did not end")
				}
			})
		})
	}
}

func TestToleratedSpeed(t *testing.T) {
	for _, c := range []struct {
		limit, time int
		want        slowness
	}{{500, 0, slowness{500, 30}}, {0, 5, slowness{1, 5}}, {7, 8, slowness{7, 8}}} {
		if got := tolerated(&plan.Limits{Speed: c.limit, SpeedTime: c.time}); got == nil || *got != c.want {
			t.Errorf("-Y %d -y %d: %v, want %v", c.limit, c.time, got, c.want)
		}
	}
	if tolerated(new(plan.Limits)) != nil {
		t.Error("without -Y and -y every speed is tolerated")
	}
}
