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

// crew is how many goroutines share a Fetcher.
const crew = 8

// concurrency: one Fetcher serves many at once. Run it with -race.
func (k *kit) concurrency(t *testing.T) {
	k.test(t, "fetches", func(r *rig) {
		requests := make(map[string]*fetch.Request) // shared, as they are not modified
		for _, name := range names() {
			if l := r.site.Locate(name); l != nil {
				requests[name] = &fetch.Request{Locator: l}
			}
		}
		r.together(func(int) {
			for name, req := range requests { // each in another order
				r.checkOctets(name, r.do(r.ctx(), req), k.want(name))
			}
		})
	})
	k.test(t, "failures", func(r *rig) {
		// Each third is abandoned, each third fails, each third must not care.
		name := large
		if r.site.Locate(name) == nil {
			name = small
		}
		l := r.site.Locate(name)
		if l == nil {
			return
		}
		r.together(func(i int) {
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

// together runs f in several goroutines at once.
func (r *rig) together(f func(i int)) {
	r.open()
	var wg sync.WaitGroup
	for i := range crew {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// abandon cancels a fetch after its first octet.
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

// sessions: what one fetch leaves behind must not harm the next, whether or not
// the Fetcher keeps connections.
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
				r.Errorf("the first fetch reused a connection")
			}
			if a.trace.reused == 0 && r.net.count() == before {
				r.Errorf("fetch %d made no connection and told of none reused", i+1)
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
			r.checkOctets(fmt.Sprintf("a fetch after %d octets of another", n), r.get(r.ctx(), r.site.Locate(name)), k.want(name))
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

// walk lists a directory while it ranges over it, again and again. None of the
// listings needs its connection by then.
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
				r.Errorf("%d connections are open while the entries of a directory in a directory are at hand; a short listing is read to its end before its first entry", n)
			}
			return
		}
	}
	into(0)
}
