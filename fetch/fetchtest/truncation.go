package fetchtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// truncation: connections fail after every single octet of a small fetch. Part
// of a document must never pass for the whole, and the Fetcher must be as good
// as new after it.
func (k *kit) truncation(t *testing.T) {
	if k.Local {
		return
	}
	damages := []damage{cut, reset}
	if k.memory {
		damages = append(damages, stall, garble)
	}
	for _, do := range damages {
		for _, name := range []string{small, directory} {
			if k.site.Locate(name) != nil {
				k.test(t, fmt.Sprint(name, " ", do), func(r *rig) { r.sweep(name, do) })
			}
		}
		if k.site.Locate(directory) != nil && do != garble {
			k.test(t, fmt.Sprint("entries ", do), func(r *rig) { r.sweepEntries(do) })
		}
		if k.site.Locate(small) != nil && do != garble {
			k.test(t, fmt.Sprint("attributes ", do), func(r *rig) { r.sweepAttributes(do) })
		}
	}
}

// A cell is one case of a sweep: one damage to one connection after one octet.
type cell struct {
	what  string
	ctx   context.Context // what a cancel cancels
	wire  int             // which connection, from 0
	spoil func()          // arms it, for the connections to come
}

// eachCell does something clean, and then f for each octet of each connection
// that this took. f calls spoil, and then mend.
func (r *rig) eachCell(do damage, clean func(), f func(c cell)) {
	if do == stall || do == garble {
		r.env.Limits = fetch.Limits{Reply: moment, Idle: moment, Connect: moment}
	}
	clean()
	wires := r.net.since(0)
	if len(wires) == 0 {
		r.Fatal("nothing was dialled by Env.Dial")
	}
	r.close()
	for k, w := range wires {
		octets, sent := w.lengths()
		if do == sever {
			octets = sent
		}
		for _, after := range r.kit.moments(w, do, octets) {
			ctx, cancel := context.WithCancel(r.ctx())
			f(cell{
				what:  fmt.Sprintf("%s after %d of %d octets on connection %d of %d", do, after, octets, k+1, len(wires)),
				ctx:   ctx,
				wire:  k,
				spoil: func() { r.net.spoil(k, fault{do, after, cancel}) },
			})
			cancel()
			r.close()
			if r.Failed() {
				return
			}
		}
	}
}

// moments are after how many octets of a connection a damage is tried.
func (k *kit) moments(w *wire, do damage, octets int) (list []int) {
	switch {
	case w.datagrams && (do == cut || do == reset):
		return nil // datagrams know no end
	case w.datagrams && (do == stall || do == cancel) && octets > 0:
		// A datagram comes whole: what happens amid it happens behind it.
		return slices.Compact(append(w.starts(), octets-1))
	}
	for after := 0; after < octets; after += k.stride() {
		list = append(list, after)
	}
	return list
}

// stride is how many octets further on the next connection fails. TLS has many of
// which one is like another; the number is prime so as to meet them all.
func (k *kit) stride() int {
	if k.secure {
		return 499
	}
	return 1
}

// sweep damages a fetch.
func (r *rig) sweep(name string, do damage) {
	l := r.site.Locate(name)
	var clean answer
	r.eachCell(do, func() {
		if clean = r.get(r.ctx(), l); clean.err != nil {
			r.Fatal(clean.err)
		}
	}, func(c cell) {
		c.spoil()
		a := r.get(c.ctx, l)
		r.net.mend()
		r.checkDamage(c.what, do, r.blind(do, name, c.wire), a, clean)
		if do != garble { // which may go unnoticed
			r.checkOctets("a clean fetch after a "+c.what, r.get(r.ctx(), l), clean.octets)
		}
	})
}

// blind tells whether a cut cannot be noticed. That of a listing cannot when it
// comes on a connection of its own and the other tells of success, as a listing
// has no length.
func (r *rig) blind(do damage, name string, wire int) bool {
	return do == cut && (r.kit.EndsWithClose || name == directory && wire > 0)
}

// checkDamage judges a fetch whose connection was damaged. With blind a part of
// the octets may pass for the whole.
func (r *rig) checkDamage(what string, do damage, blind bool, a, clean answer) {
	r.Helper()
	part := bytes.HasPrefix(clean.octets, a.octets)
	if n := len(a.octets); blind && n > 0 { // half a line end may become a whole one
		part = bytes.HasPrefix(clean.octets, a.octets[:n-1])
	}
	whole := len(a.octets) == len(clean.octets)
	switch {
	case do == garble:
		if a.took > 4*moment {
			r.Errorf("%s: it took %v", what, a.took)
		}
	case !part:
		r.Errorf("%s: %s", what, difference(a.octets, clean.octets))
	case a.err == nil && !whole && !blind:
		r.Errorf("%s: %d of %d octets came without an error", what, len(a.octets), len(clean.octets))
	case a.err == nil:
	case do == cut && a.res != nil && !whole:
		r.checkKind(what, a, fetch.ErrTruncated)
	default:
		r.checkBroken(what, do, a)
	}
}

// checkBroken wants the failure that a damage leads to, and no sooner or later
// than it must come.
func (r *rig) checkBroken(what string, do damage, a answer) {
	r.Helper()
	switch do {
	case cancel:
		r.checkKind(what, a, fetch.ErrCanceled)
		if r.virtual && a.took > 0 {
			r.Errorf("%s: it took %v to fail", what, a.took)
		}
	case stall:
		r.checkKind(what, a, fetch.ErrTimeout)
		if a.took != moment {
			r.Errorf("%s: it failed after %v, the limit is %v: %v", what, a.took, moment, a.err)
		}
	default:
		r.checkKind(what, a, fetch.ErrTruncated, fetch.ErrConnectionFailed, fetch.ErrProtocol)
	}
}

// sweepEntries damages a fetch of which the entries are read. Those that come
// must be true ones, and an error after them if some are missing.
func (r *rig) sweepEntries(do damage) {
	l := r.site.Locate(directory)
	var all []string
	r.eachCell(do, func() {
		var fail *fetch.Error
		if all, fail = r.list(r.ctx(), l); fail != nil {
			r.Fatal(fail)
		}
	}, func(c cell) {
		c.spoil()
		names, fail := r.list(c.ctx, l)
		r.net.mend()
		switch {
		case r.blind(do, directory, c.wire):
		case len(names) > len(all) || !slices.Equal(names, all[:len(names)]):
			r.Errorf("%s: the entries are %q, want of %q", c.what, names, all)
		case fail == nil && len(names) < len(all):
			r.Errorf("%s: the entries are %q, without an error", c.what, names)
		}
	})
}

// list fetches a directory and ranges over its entries.
func (r *rig) list(ctx context.Context, l locator.Locator) (names []string, fail *fetch.Error) {
	r.Helper()
	res, fail, _ := r.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		return nil, fail
	}
	defer res.Close()
	items, fail := r.items(res)
	for _, item := range items {
		if item.Locator != nil {
			names = append(names, item.Name)
		}
	}
	return names, fail
}

// sweepAttributes damages a search for attributes.
func (r *rig) sweepAttributes(do damage) {
	l := r.site.Locate(small)
	find := func(ctx context.Context) (attrs *fetch.Attributes, a answer) {
		a = r.timed(ctx, l, func(ctx context.Context) (err error) {
			attrs, err = r.open().(fetch.AttributeFinder).FindAttributes(ctx, &fetch.Request{Locator: l})
			return err
		})
		return attrs, a
	}
	if _, ok := r.open().(fetch.AttributeFinder); !ok {
		return
	}
	var clean *fetch.Attributes
	r.eachCell(do, func() {
		var a answer
		if clean, a = find(r.ctx()); a.err != nil {
			r.Fatal(a.err)
		}
	}, func(c cell) {
		c.spoil()
		attrs, a := find(c.ctx)
		r.net.mend()
		if a.err != nil {
			r.checkBroken(c.what, do, a)
		} else if attrs.Size != clean.Size || !attrs.ModTime.Equal(clean.ModTime) {
			r.Errorf("%s: the attributes are %+v, want %+v", c.what, attrs, clean)
		}
	})
}
