package pool

import (
	"sync"
	"time"
)

// often is the minimum time between two reports about a file.
const often = 200 * time.Millisecond

// A Part counts how many bytes of a file have arrived, and reports that a few times a second. Files that
// take less time are not reported. It is safe for concurrent use; see [NewPart].
type Part struct {
	say func(octets int64)

	mu     sync.Mutex
	octets int64
	said   time.Time
	later  *time.Timer // until the next report, or nil
	used   bool        // say was called
	ended  bool
}

// NewPart returns a Part that calls say with the number of bytes, until End is called.
func NewPart(say func(octets int64)) *Part { return &Part{say: say, said: time.Now()} }

// Set sets the number of bytes.
func (p *Part) Set(octets int64) { p.change(func(int64) int64 { return octets }) }

// Add adds to the number of bytes.
func (p *Part) Add(octets int64) { p.change(func(n int64) int64 { return n + octets }) }

func (p *Part) change(next func(int64) int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.octets = next(p.octets)
	if p.later == nil && !p.ended {
		p.later = time.AfterFunc(time.Until(p.said.Add(often)), p.report)
	}
}

// report reports the number.
func (p *Part) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.later = nil; !p.ended {
		p.said, p.used = time.Now(), true
		p.say(p.octets)
	}
}

// End ends the reports. If there was one, the last number is reported.
func (p *Part) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if p.later != nil {
		p.later.Stop()
	}
	if p.used {
		p.say(p.octets)
	}
}
