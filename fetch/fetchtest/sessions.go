package fetchtest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/locator"
)

// parallel is the number of goroutines that share a Fetcher.
const parallel = 8

// testConcurrency tests that a Fetcher can be used concurrently. Run it with -race.
func testConcurrency(t *testing.T, s *subject) {
	subtest(t, s, "fetches", func(fx *fixture) {
		requests := make(map[string]*fetch.Request) // shared: a Fetcher must not modify them
		for name, l := range fx.site.each(names()...) {
			requests[name] = &fetch.Request{Locator: l}
		}
		concurrently(fx, func(int) {
			for name, req := range requests { // in a random order
				check.Octets(fx, name, fx.do(fx.ctx(), req), s.want(name))
			}
		})
	})
	subtest(t, s, "failures", func(fx *fixture) {
		// Each goroutine abandons a third of its fetches; another third fails. The remaining third
		// must succeed anyway.
		name := large
		if fx.site.Locate(name) == nil {
			name = small
		}
		l := fx.site.Locate(name)
		if l == nil {
			return
		}
		concurrently(fx, func(i int) {
			for j := range 6 {
				switch (i + j) % 3 {
				case 0:
					abandon(fx, l)
				case 1:
					if l := fx.site.Locate(missing); l != nil && !fx.subject.NoErrors {
						check.Kind(fx, "what is missing", fx.get(fx.ctx(), l), fetch.ErrNotFound)
					}
				case 2:
					check.Octets(fx, name, fx.get(fx.ctx(), l), s.want(name))
				}
			}
		})
	})
}

// concurrently runs f in several goroutines at once.
func concurrently(fx *fixture, f func(i int)) {
	fx.open()
	var wg sync.WaitGroup
	for i := range parallel {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// abandon cancels a fetch after its first byte.
func abandon(fx *fixture, l locator.Locator) {
	ctx, cancel := context.WithCancel(fx.Context())
	defer cancel()
	res, fail, _ := fx.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		fx.Error(fail)
		return
	}
	if _, err := res.Body.Read(make([]byte, 1)); err != nil {
		fx.Error(err)
	}
	cancel()
	res.Close()
}

// testSessions tests that a fetch does not harm a later one, whether or not the Fetcher keeps
// connections.
func testSessions(t *testing.T, s *subject) {
	name := small
	if s.Local || s.site.Locate(name) == nil {
		return
	}
	subtest(t, s, "again", func(fx *fixture) {
		for i := range 3 {
			before := fx.net.Count()
			a := fx.get(fx.ctx(), fx.site.Locate(name))
			check.Octets(fx, fmt.Sprint("fetch ", i+1), a, s.want(name))
			if a.Hooks.Reused > 0 && i == 0 {
				fx.Errorf("the first fetch called the hook Reused; there was no connection to reuse")
			}
			if a.Hooks.Reused == 0 && fx.net.Count() == before {
				fx.Errorf("fetch %d opened no connection and did not call the hook Reused", i+1)
			}
		}
	})
	subtest(t, s, "after an error", func(fx *fixture) {
		for other, l := range fx.site.each(missing, forbidden, directory) {
			fx.get(fx.ctx(), l)
			check.Octets(fx, "a fetch after "+other, fx.get(fx.ctx(), fx.site.Locate(name)), s.want(name))
		}
	})
	subtest(t, s, "after part of a body", func(fx *fixture) {
		l := fx.site.Locate(large)
		if l == nil {
			return
		}
		for _, n := range []int64{0, 1, 100 << 10} {
			res := fx.mustFetch(fx.ctx(), l)
			if _, err := io.CopyN(io.Discard, res.Body, n); err != nil {
				fx.Error(err)
			}
			res.Close()
			check.Octets(fx, fmt.Sprintf("a fetch after reading %d bytes of another", n), fx.get(fx.ctx(), fx.site.Locate(name)), s.want(name))
		}
	})
	subtest(t, s, "walk", testWalk)
	subtest(t, s, "after a hang-up", func(fx *fixture) {
		for range 3 {
			check.Octets(fx, "a fetch after the server hung up", fx.get(fx.ctx(), fx.site.Locate(name)), s.want(name))
			fx.net.HangUp()
		}
	})
}

// testWalk lists the same directory again from within the range over its entries, four levels deep.
// No listing may need its connection at that time.
func testWalk(fx *fixture) {
	l := fx.site.Locate(directory)
	if l == nil {
		return
	}
	var into func(depth int)
	into = func(depth int) {
		res := fx.mustFetch(fx.ctx(), l)
		defer res.Close()
		for _, err := range res.Items {
			if err != nil {
				fx.Fatal(err)
			}
			if depth < 3 {
				into(depth + 1)
			} else if n := fx.net.Unclosed(); n > 1 {
				fx.Errorf("%d connections are open during the range over the entries of nested directories; a short listing must be read to its end before its first entry", n)
			}
			return
		}
	}
	into(0)
}
