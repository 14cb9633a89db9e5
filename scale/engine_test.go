package scale_test

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale"
)

// memory is an Engine in the memory of one process, for tests in virtual time.
type memory struct {
	mu      sync.Mutex
	units   map[string]*unit
	leases  map[string]uint64 // name → fence of the owner
	fences  uint64
	changed chan struct{} // closed when a unit may be due
	taken   []time.Time
}

type unit struct {
	state scale.State
	links []crawl.Link
	due   time.Time // zero: only when it gets links
	fence uint64    // of the owner, or 0
}

func newMemory() *memory {
	return &memory{units: make(map[string]*unit), leases: make(map[string]uint64), changed: make(chan struct{})}
}

func (m *memory) change() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *memory) Add(_ context.Context, links map[string][]crawl.Link) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, list := range links {
		u := m.units[name]
		if u == nil {
			u = &unit{state: scale.State{Status: scale.New}}
			m.units[name] = u
		}
		u.links = append(u.links, list...)
		if u.due.IsZero() && u.state.Status != scale.Dead {
			u.due = time.Now()
		}
	}
	m.change()
	return nil
}

func (m *memory) Take(ctx context.Context) (*scale.Work, error) {
	for ctx.Err() == nil {
		m.mu.Lock()
		w, next := m.take()
		changed := m.changed
		m.mu.Unlock()
		if w != nil {
			return w, nil
		}
		select {
		case <-changed:
		case <-time.After(next):
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

// take returns a unit that is due, or the time until one is.
func (m *memory) take() (*scale.Work, time.Duration) {
	next := time.Hour
	for name, u := range m.units {
		switch wait := time.Until(u.due); {
		case u.due.IsZero() || u.fence != 0:
		case wait > 0:
			next = min(next, wait)
		default:
			m.fences++
			u.fence = m.fences
			m.taken = append(m.taken, time.Now())
			w := &scale.Work{Unit: name, Fence: u.fence, State: u.state, Links: u.links, Lost: make(chan struct{}), Held: func() bool { return true }, Private: len(u.links)}
			u.state.Status = scale.Active
			return w, 0
		}
	}
	return nil, next
}

func (m *memory) Claim(_ context.Context, w *scale.Work, names ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if m.leases[name] == 0 || m.leases[name] == w.Fence {
			m.leases[name] = w.Fence
			return nil
		}
	}
	return scale.ErrBusy
}

func (m *memory) Commit(_ context.Context, w *scale.Work, s scale.State, again time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.units[w.Unit]
	if s.Frontier != w.State.Frontier {
		u.links = u.links[w.Private.(int):]
	}
	u.state = s
	if u.due = time.Now().Add(again); again < 0 && len(u.links) == 0 {
		u.due = time.Time{}
	}
	w.Private = -1
	return nil
}

func (m *memory) Release(w *scale.Work, hold, again time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.units[w.Unit]
	if w.Private != -1 {
		u.state, u.due = w.State, time.Now().Add(again)
	}
	time.AfterFunc(hold, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		u.fence = 0
		for name, fence := range m.leases {
			if fence == w.Fence {
				delete(m.leases, name)
			}
		}
		m.change()
	})
}

func (m *memory) Units(context.Context) iter.Seq2[scale.Unit, error] {
	return func(yield func(scale.Unit, error) bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for name, u := range m.units {
			if !yield(scale.Unit{Name: name, State: u.state}, nil) {
				return
			}
		}
	}
}
