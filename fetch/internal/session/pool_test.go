package session

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server and port are keys of sessions, with a server each.
type server string

func (s server) Server() Server { return Server{Host: string(s)} }

type port int

func (p port) Server() Server { return Server{Port: uint16(p)} }

// fake is a session that records when it is closed.
type fake struct {
	name  string
	ended *ends
	slow  time.Duration
}

type ends struct {
	mu    sync.Mutex
	names []string
}

func (e *ends) list() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.names)
}

func (f *fake) Close() error {
	<-time.After(f.slow)
	f.ended.mu.Lock()
	defer f.ended.mu.Unlock()
	f.ended.names = append(f.ended.names, f.name)
	return nil
}

func TestGetTakesTheLatestOfItsKey(t *testing.T) {
	var p Pool[server, *fake]
	var log ends
	for _, name := range []string{"a1", "b1", "a2"} {
		p.Put(server(name[:1]), &fake{name: name, ended: &log}, 9, time.Minute)
	}
	for _, want := range []string{"a2", "a1", ""} {
		s, ok := p.Get("a")
		if ok != (want != "") || ok && s.name != want {
			t.Errorf("got %v %v, want %q", s, ok, want)
		}
	}
	if err := p.Close(); err != nil || !slices.Equal(log.list(), []string{"b1"}) {
		t.Errorf("closed %q, %v; want only b1, the session not taken", log.list(), err)
	}
}

func TestLimit(t *testing.T) {
	var p Pool[port, *fake]
	var log ends
	for i, name := range []string{"first", "second", "third"} {
		p.Put(port(i), &fake{name: name, ended: &log}, 2, time.Minute)
	}
	if got := log.list(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("closed %q at the limit, want the oldest", got)
	}
	p.Put(9, &fake{name: "unwanted", ended: &log}, -1, time.Minute)
	if got := log.list(); !slices.Equal(got, []string{"first", "unwanted"}) {
		t.Errorf("with a negative limit: closed %q", got)
	}
	p.Close()
}

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pool[server, *fake]
		var log ends
		p.Put("k", &fake{name: "old", ended: &log}, 9, time.Minute)
		<-time.After(30 * time.Second)
		p.Put("k", &fake{name: "taken", ended: &log}, 9, time.Minute)
		p.Get("k")
		<-time.After(30*time.Second + time.Nanosecond)
		synctest.Wait()
		if got := log.list(); !slices.Equal(got, []string{"old"}) {
			t.Errorf("after a minute: closed %q", got)
		}
		<-time.After(time.Hour)
		if got := log.list(); len(got) != 1 {
			t.Errorf("a session was closed after it was taken: %q", got)
		}
	})
}

func TestCloseIsConcurrentAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pool[port, *fake]
		var log ends
		for i := range 5 {
			p.Put(port(i), &fake{name: "idle", ended: &log, slow: 2 * time.Second}, 9, time.Minute)
		}
		start := time.Now()
		p.Close()
		if took := time.Since(start); took != 2*time.Second || len(log.list()) != 5 {
			t.Errorf("closed %d of 5 after %v", len(log.list()), took)
		}
		p.Put(1, &fake{name: "late", ended: &log}, 9, time.Minute)
		if got := log.list(); len(got) != 6 {
			t.Errorf("a session put after Close stays open")
		}
		p.Close()
	})
}

// TestCloseWaitsForExpiry closes the pool while an expired session is being closed.
func TestCloseWaitsForExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pool[port, *fake]
		var log ends
		p.Put(1, &fake{name: "old", ended: &log, slow: 2 * time.Second}, 9, time.Minute)
		<-time.After(time.Minute + time.Second)
		p.Close()
		if got := log.list(); !slices.Equal(got, []string{"old"}) {
			t.Errorf("Close returned before the session was closed: %q", got)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	var p Pool[port, *fake]
	var log ends
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				s, ok := p.Get(port(i % 3))
				if !ok {
					s = &fake{name: "s", ended: &log}
				}
				p.Put(port((i+w)%3), s, 4, time.Millisecond)
			}
		})
	}
	wg.Wait()
	p.Close()
}
