package session

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A few is a server that has at most size sessions at once. Other connections wait for their
// greeting, in order. Its greetings take delay.
type few struct {
	size  chan struct{}
	delay func(n int) time.Duration // of the n-th greeting, from 1

	mu           sync.Mutex
	dials        int // connections
	greeted      int
	now, maximum int // sessions
	silent       int // connections without a greeting
}

func newFew(size int, delay func(n int) time.Duration) *few {
	return &few{size: make(chan struct{}, size), delay: delay}
}

// count changes the counts and returns the new count of greetings.
func (f *few) count(dials, greeted, open, silent int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dials, f.greeted, f.now, f.silent = f.dials+dials, f.greeted+greeted, f.now+open, f.silent+silent
	f.maximum = max(f.maximum, f.now)
	return f.greeted
}

// open is a connection to the server, with the time limit of a Fetcher.
func (f *few) open(ctx context.Context, o Opening) (*guest, error) {
	if err := wire.Ended(o.Context); err != nil { // see fetch.Env.Connect
		return nil, driver.Fail(fetch.OpConnect, nil, fetch.KindOf(err), err)
	}
	f.count(1, 0, 0, 1)
	defer f.count(0, 0, 0, -1)
	waits, cancel := wire.Within(o.Context, "no greeting", 30*time.Second)
	defer cancel()
	late := func() error {
		err := wire.Ended(waits)
		return driver.Fail(fetch.OpConnect, nil, fetch.KindOf(err), err)
	}
	select {
	case f.size <- struct{}{}:
	case <-waits.Done():
		return nil, late()
	}
	n := f.count(0, 1, 0, 0)
	if f.delay != nil {
		select {
		case <-time.After(f.delay(n)):
		case <-waits.Done():
			<-f.size
			return nil, late()
		}
	}
	o.Greeted()
	f.count(0, 0, 1, 0)
	return &guest{few: f, ctx: ctx}, nil
}

// A guest is a session with it.
type guest struct {
	few    *few
	ctx    context.Context
	closed bool
}

func (g *guest) Close() error {
	if g.closed {
		panic("closed twice")
	}
	g.closed = true
	g.few.count(0, 0, -1, 0)
	<-g.few.size
	return nil
}

func (g *guest) End()                                    { g.Close() }
func (g *guest) Drop()                                   { g.Close() }
func (g *guest) Waiting() bool                           { return false }
func (g *guest) Permit(ctx context.Context, _ job) error { return ctx.Err() }
func (g *guest) Resume(ctx context.Context, _ job)       { g.ctx = ctx }
func (g *guest) Rest()                                   { g.ctx = context.Background() }
func (g *guest) Reusable() bool                          { return g.ctx.Err() == nil }
func (g *guest) Stale() bool                             { return false }

type job struct{}

// A login is a key: several are for the same server.
type login string

func (login) Server() Server { return Server{Host: "few"} }

type keeper = Keeper[login, job, *guest]

// begin begins an access. If terms has no limits, they are those of a Fetcher.
func (f *few) begin(ctx context.Context, k *keeper, as login) (*guest, error) {
	terms := Terms{Limits: fetch.Limits{}.WithDefaults()}
	return k.Begin(ctx, as, job{}, terms,
		func(o Opening) (*guest, error) { return f.open(ctx, o) },
		func(g *guest) error {
			if g.closed || g.ctx != ctx {
				panic("a session that is closed, or bound to another context")
			}
			return nil
		},
		func(error) { panic("retried") })
}

// jobs has workers perform jobs of a duration, and returns how long that takes.
func (f *few) jobs(t *testing.T, k *keeper, workers, jobs int, each time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	todo := make(chan login, jobs)
	for range jobs {
		todo <- "me"
	}
	close(todo)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for as := range todo {
				g, err := f.begin(t.Context(), k, as)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(each)
				k.Release(as, g, Terms{})
			}
		})
	}
	wg.Wait()
	if len(todo) > 0 {
		t.Errorf("%d jobs left", len(todo))
	}
	return time.Since(start)
}

// TestFewSessions has eight workers and a server with one session, or two. The jobs must take
// about as long as with as many workers, and no connection may be left at the server.
func TestFewSessions(t *testing.T) {
	for _, size := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			f, k := newFew(size, nil), new(keeper)
			took := f.jobs(t, k, 8, 400, 50*time.Millisecond)
			if best := 400 * 50 * time.Millisecond / time.Duration(size); took > best+2*time.Second {
				t.Errorf("%d at once: 400 jobs took %v, best is %v", size, took, best)
			}
			if f.silent != 0 || f.maximum != size || f.dials > 10 {
				t.Errorf("%d at once: %d connections, %d sessions at once, %d connections left", size, f.dials, f.maximum, f.silent)
			}
			if k.Close(); f.now != 0 || len(k.pool.lines) != 0 {
				t.Errorf("%d sessions after Close, lines %v", f.now, k.pool.lines)
			}
		})
	}
}

// TestLastJob checks that a job does not wait for its greeting for more than a second while the
// session is free, even if it is the only one, or the probe.
func TestLastJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(1, nil), new(keeper)
		f.jobs(t, k, 2, 1000, 100*time.Millisecond)
		for range 100 {
			if took := f.jobs(t, k, 2, 2, 1500*time.Millisecond); took > 4*time.Second+time.Millisecond {
				t.Errorf("two jobs of 1.5 s took %v", took)
			}
		}
		k.Close()
	})
}

// TestLateGreetings has servers that are only slow. In the end all workers have a session. No
// connection is given up, unless nothing has shown before that the server is slow.
func TestLateGreetings(t *testing.T) {
	for name, tt := range map[string]struct {
		delay func(int) time.Duration
		dials int
	}{
		"each 3 s":            {func(int) time.Duration { return 3 * time.Second }, 8},
		"each 1.1 s":          {func(int) time.Duration { return 1100 * time.Millisecond }, 8},
		"one after the other": {func(n int) time.Duration { return time.Duration(n) * 400 * time.Millisecond }, 8},
		"all but the first":   {func(n int) time.Duration { return min(time.Duration(n-1), 1) * 3 * time.Second }, 16},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, k := newFew(100, tt.delay), new(keeper)
				f.jobs(t, k, 1, 1, time.Millisecond) // a listing
				f.jobs(t, k, 8, 10000, 20*time.Millisecond)
				if f.maximum != 8 || f.silent != 0 || f.dials != tt.dials {
					t.Errorf("%d connections, %d sessions at once, %d connections left", f.dials, f.maximum, f.silent)
				}
				k.Close()
			})
		})
	}
}

// TestHeld has an access that keeps its session. Another one fails within the time limit of a
// connection and says why; whether it connects or waits for its turn.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(1, nil), new(keeper)
		wants := func(most time.Duration) {
			start := time.Now()
			_, err := f.begin(t.Context(), k, "me")
			e, _ := errors.AsType[*fetch.Error](err)
			if e == nil || e.Kind != fetch.ErrBusy || e.Op != fetch.OpConnect || !strings.Contains(err.Error(), "sessions of this program with the server: 1") || time.Since(start) > most {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		}
		held, _ := f.begin(t.Context(), k, "me")
		wants(30 * time.Second)
		k.Release("me", held, Terms{})
		f.jobs(t, k, 4, 100, 20*time.Millisecond) // the limit is now known
		held, _ = f.begin(t.Context(), k, "me")
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { wants(61 * time.Second) })
		}
		wg.Wait()
		k.Release("me", held, Terms{})
		if f.jobs(t, k, 1, 1, 0); f.silent != 0 {
			t.Errorf("%d connections left", f.silent)
		}
		k.Close()
	})
}

// TestCanceledWait cancels an access that waits. The session goes to the next one.
func TestCanceledWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(1, nil), new(keeper)
		f.jobs(t, k, 4, 100, 20*time.Millisecond)
		held, _ := f.begin(t.Context(), k, "me")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.begin(ctx, k, "me"); fetch.KindOf(err) != fetch.ErrTimeout && fetch.KindOf(err) != fetch.ErrBusy {
			t.Error(err)
		}
		k.Release("me", held, Terms{})
		f.jobs(t, k, 1, 1, 0)
		if k.Close(); f.now != 0 || f.silent != 0 {
			t.Errorf("%d sessions, %d connections left", f.now, f.silent)
		}
	})
}

// TestOtherLogin has an idle session of one login, and then an access with another: the server
// must be left, so that it takes the other one.
func TestOtherLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(1, nil), new(keeper)
		for _, as := range []login{"me", "you", "me", "you"} {
			start := time.Now()
			g, err := f.begin(t.Context(), k, as)
			if err != nil || time.Since(start) > 2*time.Second {
				t.Fatalf("%s: %v after %v", as, err, time.Since(start))
			}
			k.Release(as, g, Terms{})
		}
		var wg sync.WaitGroup
		for _, as := range []login{"me", "you"} {
			wg.Go(func() {
				for range 20 {
					g, err := f.begin(t.Context(), k, as)
					if err != nil {
						t.Errorf("%s: %v", as, err)
						return
					}
					time.Sleep(300 * time.Millisecond)
					k.Release(as, g, Terms{})
				}
			})
		}
		wg.Wait()
		k.Close()
	})
}

// TestNoReuse has sessions that are not kept: each connection gets its greeting when the session
// before has been closed.
func TestNoReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(1, nil), new(keeper)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 10 {
					g, err := f.begin(t.Context(), k, "me")
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(300 * time.Millisecond)
					k.Release("me", g, Terms{Limit: -1})
				}
			})
		}
		wg.Wait()
		if f.dials != 40 || f.now != 0 || f.silent != 0 {
			t.Errorf("%d connections, %d sessions, %d left", f.dials, f.now, f.silent)
		}
	})
}

// TestBoth has a connection that becomes a session although the access has been given another: both
// can be used afterwards.
func TestBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(2, nil), new(keeper)
		held, _ := f.begin(t.Context(), k, "me")
		time.AfterFunc(2*time.Second, func() { k.Release("me", held, Terms{}) })
		g, err := k.Begin(t.Context(), "me", job{}, Terms{}, func(o Opening) (*guest, error) {
			time.Sleep(3 * time.Second)
			if o.Context.Err() == nil {
				t.Error("the connection was not ended")
			}
			return f.open(t.Context(), Opening{t.Context(), o.Greeted})
		}, func(*guest) error { return nil }, nil)
		if err != nil || g == held {
			t.Fatalf("%v, held %t", err, g == held)
		}
		again, err := f.begin(t.Context(), k, "me")
		if err != nil || again != held || f.dials != 2 {
			t.Errorf("%v, %d connections", err, f.dials)
		}
		k.Release("me", again, Terms{})
		k.Release("me", g, Terms{})
		if k.Close(); f.now != 0 || len(k.pool.lines) != 0 {
			t.Errorf("%d sessions after Close, lines %v", f.now, k.pool.lines)
		}
	})
}

// TestSecondGreeting has a session for which two connections were needed, because the login of the
// first was refused. It counts once.
func TestSecondGreeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFew(1, nil), new(keeper)
		g, err := k.Begin(t.Context(), "me", job{}, Terms{}, func(o Opening) (*guest, error) {
			o.Greeted()
			return f.open(t.Context(), o)
		}, func(*guest) error { return nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		k.Release("me", g, Terms{Limit: -1})
		if len(k.pool.lines) != 0 {
			t.Errorf("%d sessions after the end", k.pool.lines[login("me").Server()].open)
		}
	})
}
