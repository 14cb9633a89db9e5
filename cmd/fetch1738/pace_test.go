package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// A rate is kept over the whole, and in every part: no second sees more than
// its octets and one portion.
func TestPace(t *testing.T) {
	for _, c := range []struct{ rate, octets int64 }{{1, 3}, {10, 25}, {1000, 4000}, {100 << 10, 1 << 20}, {1 << 40, 1 << 20}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := &pace{ctx: t.Context(), rate: c.rate}
			r := pacedReader{bytes.NewReader(make([]byte, c.octets)), p}
			var arrivals []time.Time
			var sizes []int64
			buf := make([]byte, copySize)
			total := int64(0)
			for {
				n, err := r.Read(buf)
				total += int64(n)
				arrivals, sizes = append(arrivals, time.Now()), append(sizes, int64(n))
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			want := time.Duration(float64(c.octets) / float64(c.rate) * float64(time.Second))
			if took := time.Since(start); total != c.octets || (took-want).Abs() > time.Millisecond {
				t.Errorf("rate %d: %d octets in %v, want %d in %v", c.rate, total, took, c.octets, want)
			}
			for i, from := range arrivals {
				sum := int64(0)
				for j := i; j < len(arrivals) && arrivals[j].Sub(from) < time.Second; j++ {
					sum += sizes[j]
				}
				if sum > c.rate+p.portion() {
					t.Errorf("rate %d: %d octets in the second after %v", c.rate, sum, from.Sub(start))
				}
			}
		})
	}
}

// A peer that was slow is not allowed a burst afterwards.
func TestPaceMakesUpForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pace{ctx: t.Context(), rate: 1000}
		pass := func(n int) {
			for ; n > 0; n -= 50 {
				if err := p.passed(50); err != nil {
					t.Fatal(err)
				}
			}
		}
		pass(100)
		time.Sleep(time.Hour)
		start := time.Now()
		if pass(1000); time.Since(start) < 900*time.Millisecond {
			t.Errorf("1000 octets in %v after a pause", time.Since(start))
		}
	})
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		n, err := pacedReader{bytes.NewReader(make([]byte, 10)), &pace{ctx: ctx, of: &locator.FTP{}, rate: 1}}.Read(make([]byte, 10))
		if n != 1 || err != nil {
			t.Fatal(n, err)
		}
		_, err = pacedReader{bytes.NewReader(make([]byte, 10)), &pace{ctx: ctx, of: &locator.FTP{}, rate: 1, due: time.Now().Add(time.Hour)}}.Read(make([]byte, 10))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
