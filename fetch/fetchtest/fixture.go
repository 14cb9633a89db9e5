package fetchtest

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
	"github.com/fetch1738/fetch1738/locator"
)

// A fixture is what one test needs: a site, a Fetcher for it, and the network between them.
type fixture struct {
	*testing.T
	subject   *subject
	site      *Site
	fakeClock bool                // the clock is that of a testing/synctest bubble
	net       *unreliable.Network // what env dials
	env       fetch.Env           // may be changed before the first fetch
	fetcher   driver.Fetcher
	shut      int // how many connections are known to be closed
}

// subtest runs f as a subtest against a server of the standard content. If the server is in memory,
// the subtest has a fake clock.
func subtest(t *testing.T, s *subject, name string, f func(*fixture)) { subtestAs(t, s, name, nil, f) }

// subtestAs is subtest against a server that serves only the given login.
func subtestAs(t *testing.T, s *subject, name string, login *locator.Login, f func(*fixture)) {
	t.Run(name, func(t *testing.T) {
		inBubble(t, s.memory, func(t *testing.T) {
			check.Goroutines(t, patience(s.memory, 2*time.Second)) // goroutines of a real network may end late
			site := s.Serve(t, Content(), login)
			dial := site.Dial
			if dial == nil {
				dial = new(net.Dialer).DialContext
			}
			f(newFixture(t, s, site, dial, s.memory))
		})
	})
}

// subtestAlone runs f as a subtest without a server, with a fake clock. dial replaces the network.
func subtestAlone(t *testing.T, s *subject, name string, dial unreliable.DialFunc, f func(*fixture)) {
	t.Run(name, func(t *testing.T) {
		inBubble(t, true, func(t *testing.T) {
			check.Goroutines(t, patience(true, 2*time.Second))
			f(newFixture(t, s, s.site, dial, true))
		})
	})
}

// inBubble calls f, in a bubble of package synctest if yes is set.
func inBubble(t *testing.T, yes bool, f func(t *testing.T)) {
	if yes {
		synctest.Test(t, f)
	} else {
		f(t)
	}
}

// newFixture returns the fixture of a test, which ends with it. With a fake clock, an operation
// that waits for ever fails the test.
func newFixture(t *testing.T, s *subject, site *Site, dial unreliable.DialFunc, fakeClock bool) *fixture {
	ended, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	fx := &fixture{T: t, subject: s, site: site, fakeClock: fakeClock, net: unreliable.New(ended, dial)}
	fx.env.Dial = fx.net.Dial
	fx.env.TLS = func() (*tls.Config, error) { return site.TLS, nil }
	if fakeClock {
		watchdog := time.AfterFunc(forever, func() {
			fx.Errorf("an operation waits for ever: it obeys neither its context nor a limit of Env.Limits")
			end()
			fx.net.Abort()
		})
		t.Cleanup(func() { watchdog.Stop() })
	}
	out := log.Writer()
	log.SetOutput(logCheck{t})
	t.Cleanup(func() { log.SetOutput(out) })
	t.Cleanup(fx.close)
	return fx
}

// logCheck receives what is written by package log: a Fetcher must not write anything there.
type logCheck struct{ testing.TB }

func (t logCheck) Write(p []byte) (int, error) {
	t.Errorf("package log was used; a Fetcher must not log: %q", p)
	return len(p), nil
}

// open returns the Fetcher. The first call creates it.
func (fx *fixture) open() driver.Fetcher {
	if fx.fetcher == nil {
		env := fx.env
		fx.fetcher = fx.subject.New(&env)
	}
	return fx.fetcher
}

// close closes the Fetcher; its connections must be closed then. The next open creates a new one.
func (fx *fixture) close() {
	if fx.fakeClock {
		synctest.Wait() // let background work finish
	}
	if c, ok := fx.fetcher.(io.Closer); ok {
		if err := c.Close(); err != nil {
			fx.Errorf("Close of the Fetcher returns %v", err)
		}
	}
	fx.fetcher = nil
	conns := fx.net.Since(fx.shut)
	fx.shut += len(conns)
	for i, c := range conns {
		select {
		case <-c.Closed():
			continue
		default:
		}
		select {
		case <-c.Closed():
		case <-time.After(patience(fx.fakeClock, time.Second)):
			fx.Errorf("connection %d of %d (to %v) is still open after the Fetcher was closed; sent on it: %.80q", i, len(conns), c.Remote, c.Sent())
		}
	}
}

// ctx returns the context of a fetch that should succeed.
func (fx *fixture) ctx() context.Context {
	if fx.fakeClock {
		return fx.Context()
	}
	ctx, cancel := context.WithTimeout(fx.Context(), hung)
	fx.Cleanup(cancel)
	return ctx
}

// hung is the real time after which an operation counts as one that never ends. It is far longer
// than anything takes on a busy machine.
const hung = 2 * time.Minute

// forever is longer than all waits of a test together, by the fake clock. Package synctest reports
// later waits as a deadlock, which ends the whole run and not only the test.
const forever = 365 * 24 * time.Hour

// patience returns d if the clock is fake, so that waiting does not depend on the machine, and
// otherwise hung.
func patience(fakeClock bool, d time.Duration) time.Duration {
	if fakeClock {
		return d
	}
	return hung
}
