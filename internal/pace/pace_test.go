package pace

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// The rate holds on average and at any time: in no second pass more bytes than the rate and one
// portion.
func TestPace(t *testing.T) {
	for _, c := range []struct{ rate, octets int64 }{{1, 3}, {10, 25}, {1000, 4000}, {100 << 10, 1 << 20}, {1 << 40, 1 << 20}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := New(c.rate)
			buf := make([]byte, 128<<10)
			var arrivals []time.Time
			var sizes []int64
			for left := c.octets; left > 0; {
				n := int64(len(p.Portion(buf[:min(left, int64(len(buf)))])))
				if err := p.Wait(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				arrivals, sizes, left = append(arrivals, time.Now()), append(sizes, n), left-n
			}
			want := time.Duration(float64(c.octets) / float64(c.rate) * float64(time.Second))
			if took := time.Since(start); (took - want).Abs() > time.Millisecond {
				t.Errorf("rate %d: %d bytes in %v, want %v", c.rate, c.octets, took, want)
			}
			for i, from := range arrivals {
				sum := int64(0)
				for j := i; j < len(arrivals) && arrivals[j].Sub(from) < time.Second; j++ {
					sum += sizes[j]
				}
				if sum > c.rate+int64(p.portion) {
					t.Errorf("rate %d: %d bytes within a second", c.rate, sum)
				}
			}
		})
	}
}

// A peer that was slow may not send a burst afterwards.
func TestPaceMakesUpForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1000)
		if err := p.Wait(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		start := time.Now()
		if err := p.Wait(t.Context(), 1000); err != nil || time.Since(start) < 900*time.Millisecond {
			t.Errorf("1000 bytes in %v after a pause, %v", time.Since(start), err)
		}
	})
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := New(1).Wait(ctx, 10); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestNoPace(t *testing.T) {
	p := New(0)
	if err := p.Wait(t.Context(), 1<<60); p != nil || err != nil || len(p.Portion(make([]byte, 9))) != 9 {
		t.Errorf("%v, %v", p, err)
	}
}

// Actions begin at the interval, however long they take. An action that took longer than the
// interval does not delay the next.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Every(10 * time.Second)
		start := time.Now()
		for i, c := range []struct{ startsAt, lasts time.Duration }{{0, 1}, {10, 25}, {35, 3}, {45, 0}, {55, 0}} {
			if err := p.Wait(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(start).Round(time.Microsecond); got != c.startsAt*time.Second {
				t.Errorf("the %d. begins after %v, want %d s", i, got, c.startsAt)
			}
			time.Sleep(c.lasts * time.Second)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := time.Now()
		if err := p.Wait(ctx, 1); !errors.Is(err, context.Canceled) || time.Since(before) != 0 {
			t.Errorf("%v after %v, although its context ended", err, time.Since(before))
		}
	})
}

// A paced reader takes its time, keeps all octets and the end, and fails when its context ends.
func TestReader(t *testing.T) {
	text := strings.Repeat("0123456789", 100)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got, err := io.ReadAll(New(100).Reader(t.Context(), iotest.DataErrReader(strings.NewReader(text))))
		if string(got) != text || err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("%d bytes in %v, %v", len(got), time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second+time.Millisecond)
		defer cancel()
		got, err = io.ReadAll(New(100).Reader(ctx, strings.NewReader(text)))
		if len(got) != 105 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
	if r := strings.NewReader(text); (*Pace)(nil).Reader(t.Context(), r) != io.Reader(r) {
		t.Error("a reader without a limit is another one")
	}
}
