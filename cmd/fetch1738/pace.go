package main

import (
	"context"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A pace holds octets back, for --limit-rate. What is read slowly is sent
// slowly: TCP sees to that.
type pace struct {
	ctx  context.Context // ends a wait
	of   locator.Locator // what is transferred
	rate int64           // octets in a second
	due  time.Time       // when those that have passed should have
}

// portionsPerSecond is how steady a pace is.
const portionsPerSecond = 20

// portion is how many octets may pass at once.
func (p *pace) portion() int64 { return max(1, p.rate/portionsPerSecond) }

// passed waits until n more octets should have passed. What a slow peer leaves
// unused of the rate is not made up for, but for one portion.
func (p *pace) passed(n int) error {
	now := time.Now()
	if earliest := now.Add(-time.Second / portionsPerSecond); p.due.IsZero() {
		p.due = now
	} else if p.due.Before(earliest) {
		p.due = earliest
	}
	p.due = p.due.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	timer := time.NewTimer(p.due.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.ctx.Done():
		return fetch.Fail("transfer", p.of, fetch.KindOf(p.ctx.Err()), p.ctx.Err())
	}
}

// A pacedReader reads at a pace.
type pacedReader struct {
	r    io.Reader
	pace *pace
}

func (r pacedReader) Read(b []byte) (int, error) {
	if most := r.pace.portion(); int64(len(b)) > most {
		b = b[:most]
	}
	n, err := r.r.Read(b)
	if n > 0 {
		if late := r.pace.passed(n); late != nil {
			err = late
		}
	}
	return n, err
}
