package fetchtest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// parallel is the number of goroutines that share a Fetcher.
const parallel = 8

// concurrency tests that a Fetcher can be used concurrently. Run it with -race.
func (k *kit) concurrency(t *testing.T) {
	k.test(t, "fetches", func(r *rig) {
		requests := make(map[string]*fetch.Request) // shared: a Fetcher must not modify them
		for _, name := range names() {
			if l := r.site.Locate(name); l != nil {
				requests[name] = &fetch.Request{Locator: l}
			}
		}
		r.concurrently(func(int) {
			for name, req := range requests { // in a random order
				r.checkOctets(name, r.do(r.ctx(), req), k.want(name))
			}
		})
	})
	k.test(t, "failures", func(r *rig) {
		// Each goroutine abandons a third of its fetches; another third fails. The remaining third
		// must succeed anyway.
		name := large
		if r.site.Locate(name) == nil {
			name = small
		}
		l := r.site.Locate(name)
		if l == nil {
			return
		}
		r.concurrently(func(i int) {
			for j := range 6 {
				switch (i + j) % 3 {
				case 0:
					r.abandon(l)
				case 1:
					if l := r.site.Locate(missing); l != nil && !r.kit.NoErrors {
						r.checkKind("what is missing", r.get(r.ctx(), l), fetch.ErrNotFound)
					}
				case 2:
					r.checkOctets(name, r.get(r.ctx(), l), k.want(name))
				}
			}
		})
	})
}

// concurrently runs f in several goroutines at once.
func (r *rig) concurrently(f func(i int)) {
	r.open()
	var wg sync.WaitGroup
	for i := range parallel {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// abandon cancels a fetch after its first byte.
func (r *rig) abandon(l locator.Locator) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	res, fail, _ := r.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		r.Error(fail)
		return
	}
	if _, err := res.Body.Read(make([]byte, 1)); err != nil {
		r.Error(err)
	}
	cancel()
	res.Close()
}

// sessions tests that a fetch does not harm a later one, whether or not the Fetcher keeps
// connections.
func (k *kit) sessions(t *testing.T) {
	name := small
	if k.Local || k.site.Locate(name) == nil {
		return
	}
	k.test(t, "again", func(r *rig) {
		for i := range 3 {
			before := r.net.count()
			a := r.get(r.ctx(), r.site.Locate(name))
			r.checkOctets(fmt.Sprint("fetch ", i+1), a, k.want(name))
			if a.trace.reused > 0 && i == 0 {
				r.Errorf("the first fetch called the hook Reused; there was no connection to reuse")
			}
			if a.trace.reused == 0 && r.net.count() == before {
				r.Errorf("fetch %d opened no connection and did not call the hook Reused", i+1)
			}
		}
	})
	k.test(t, "after an error", func(r *rig) {
		for _, other := range []string{missing, forbidden, directory} {
			if l := r.site.Locate(other); l != nil {
				r.get(r.ctx(), l)
				r.checkOctets("a fetch after "+other, r.get(r.ctx(), r.site.Locate(name)), k.want(name))
			}
		}
	})
	k.test(t, "after part of a body", func(r *rig) {
		l := r.site.Locate(large)
		if l == nil {
			return
		}
		for _, n := range []int64{0, 1, 100 << 10} {
			res, fail, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
			if fail != nil {
				r.Fatal(fail)
			}
			if _, err := io.CopyN(io.Discard, res.Body, n); err != nil {
				r.Error(err)
			}
			res.Close()
			r.checkOctets(fmt.Sprintf("a fetch after reading %d bytes of another", n), r.get(r.ctx(), r.site.Locate(name)), k.want(name))
		}
	})
	k.test(t, "walk", (*rig).walk)
	k.test(t, "after a hang-up", func(r *rig) {
		for range 3 {
			r.checkOctets("a fetch after the server hung up", r.get(r.ctx(), r.site.Locate(name)), k.want(name))
			r.net.hangUp()
		}
	})
}

// walk lists the same directory again from within the range over its entries, four levels deep. No
// listing may need its connection at that time.
func (r *rig) walk() {
	l := r.site.Locate(directory)
	if l == nil {
		return
	}
	var into func(depth int)
	into = func(depth int) {
		res, fail, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
		if fail != nil {
			r.Fatal(fail)
		}
		defer res.Close()
		for _, err := range res.Items {
			if err != nil {
				r.Fatal(err)
			}
			if depth < 3 {
				into(depth + 1)
			} else if n := r.net.unclosed(); n > 1 {
				r.Errorf("%d connections are open during the range over the entries of nested directories; a short listing must be read to its end before its first entry", n)
			}
			return
		}
	}
	into(0)
}
