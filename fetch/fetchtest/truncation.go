package fetchtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/raced"
	"github.com/fetch1738/fetch1738/locator"
)

// truncation tests connections that fail after every single byte of a small fetch. A part of a
// document must never count as the whole, and the next fetch must succeed.
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

// A cell is one case of a sweep: one kind of damage to one connection after one byte.
type cell struct {
	what string
	ctx  context.Context // what a cancel cancels
	wire int             // index of the connection, from 0
	arm  func()          // arms the damage for new connections
}

// eachCell calls clean, and then f for each byte of each connection that clean used. f calls arm
// and later disarm.
func (r *rig) eachCell(do damage, clean func(), f func(c cell)) {
	if do == stall || do == garble {
		r.env.Limits = fetch.Limits{Reply: timeLimit, Idle: timeLimit, Connect: timeLimit}
	}
	clean()
	wires := r.net.since(0)
	if len(wires) == 0 {
		r.Fatal("the fetch did not use Env.Dial; every connection must be opened by Env.Connect")
	}
	r.close()
	for k, w := range wires {
		octets, sent := w.lengths()
		if do == sever {
			octets = sent
		}
		for _, after := range r.kit.damageOffsets(w, do, octets) {
			ctx, cancel := context.WithCancel(r.ctx())
			f(cell{
				what: fmt.Sprintf("connection %d of %d, %s after %d of %d bytes", k+1, len(wires), do.happened(), after, octets),
				ctx:  ctx,
				wire: k,
				arm:  func() { r.net.arm(k, fault{do, after, cancel}) },
			})
			cancel()
			r.close()
			if r.Failed() {
				return
			}
		}
	}
}

// damageOffsets returns the byte counts of a connection at which damage is tried.
func (k *kit) damageOffsets(w *wire, do damage, octets int) (list []int) {
	switch {
	case w.datagrams && (do == cut || do == reset):
		return nil // datagrams have no end
	case w.datagrams && (do == stall || do == cancel) && octets > 0:
		// A datagram arrives whole, so damage within it takes effect after it.
		return slices.Compact(append(w.starts(), octets-1))
	}
	for after := 0; after < octets; after += k.stride() {
		list = append(list, after)
	}
	return list
}

// stride is the distance in bytes between two trials: all are tried, except those of TLS, which has
// many bytes of the same effect. With the race detector there are fewer of both. The numbers are prime
// so that every kind of byte is tried.
func (k *kit) stride() int {
	switch {
	case k.secure && raced.Enabled:
		return 1499
	case k.secure:
		return 499
	case raced.Enabled:
		return 7
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
		c.arm()
		a := r.get(c.ctx, l)
		r.net.disarm()
		r.checkDamage(c.what, do, r.undetectable(do, name, c.wire), a, clean)
		if do != garble { // garbled data may be undetectable
			r.checkOctets("the next fetch after a failed one ("+c.what+")", r.get(r.ctx(), l), clean.octets)
		}
	})
}

// undetectable reports whether a truncation cannot be detected. A listing has no length. If it has
// a connection of its own and the other connection reports success, its truncation is undetectable.
func (r *rig) undetectable(do damage, name string, wire int) bool {
	return do == cut && (r.kit.EndsWithClose || name == directory && wire > 0)
}

// checkDamage checks a fetch whose connection was damaged. If undetectable is true, a part may
// count as the whole.
func (r *rig) checkDamage(what string, do damage, undetectable bool, a, clean answer) {
	r.Helper()
	part := bytes.HasPrefix(clean.octets, a.octets)
	if n := len(a.octets); undetectable && n > 0 { // half a line end may be read as a whole one
		part = bytes.HasPrefix(clean.octets, a.octets[:n-1])
	}
	whole := len(a.octets) == len(clean.octets)
	switch {
	case do == garble:
		if a.took > 4*timeLimit {
			r.Errorf("%s: the fetch took %v, longer than its limits", what, a.took)
		}
	case !part:
		r.Errorf("%s: %s", what, difference(a.octets, clean.octets))
	case a.err == nil && !whole && !undetectable:
		r.Errorf("%s: the Body returned %d of %d bytes without an error; an incomplete body must end in one", what, len(a.octets), len(clean.octets))
	case a.err == nil:
	case do == cut && a.res != nil && !whole:
		r.checkKind(what, a, fetch.ErrTruncated)
	default:
		r.checkBroken(what, do, a)
	}
}

// checkBroken checks the kind of the error for a damage, and that it is returned exactly when it
// must be.
func (r *rig) checkBroken(what string, do damage, a answer) {
	r.Helper()
	switch do {
	case cancel:
		r.checkKind(what, a, fetch.ErrCanceled)
		if r.fakeClock && a.took > 0 {
			r.Errorf("%s: the fetch failed %v after the cancellation; it must fail at once", what, a.took)
		}
	case stall:
		r.checkKind(what, a, fetch.ErrTimeout)
		if a.took != timeLimit {
			r.Errorf("%s: the fetch failed after %v; the limit in Env.Limits is %v: %v", what, a.took, timeLimit, a.err)
		}
	default:
		r.checkKind(what, a, fetch.ErrTruncated, fetch.ErrConnectionFailed, fetch.ErrProtocol)
	}
}

// sweepEntries damages a fetch of a directory. The entries it returns must be right, with an error
// after them if some are missing.
func (r *rig) sweepEntries(do damage) {
	l := r.site.Locate(directory)
	var all []string
	r.eachCell(do, func() {
		var fail *fetch.Error
		if all, fail = r.list(r.ctx(), l); fail != nil {
			r.Fatal(fail)
		}
	}, func(c cell) {
		c.arm()
		names, fail := r.list(c.ctx, l)
		r.net.disarm()
		switch {
		case r.undetectable(do, directory, c.wire):
		case len(names) > len(all) || !slices.Equal(names, all[:len(names)]):
			r.Errorf("%s: the entries are %q; want a prefix of %q", c.what, names, all)
		case fail == nil && len(names) < len(all):
			r.Errorf("%s: the listing is incomplete without an error: %q", c.what, names)
		}
	})
}

// list fetches a directory and returns the names of its entries.
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

// sweepAttributes damages a FindAttributes.
func (r *rig) sweepAttributes(do damage) {
	l := r.site.Locate(small)
	find := func(ctx context.Context) (attrs *fetch.Attributes, a answer) {
		a = r.timed(ctx, l, func(ctx context.Context) (err error) {
			attrs, err = r.open().(driver.AttributeFinder).FindAttributes(ctx, &fetch.Request{Locator: l})
			return err
		})
		return attrs, a
	}
	if _, ok := r.open().(driver.AttributeFinder); !ok {
		return
	}
	var clean *fetch.Attributes
	r.eachCell(do, func() {
		var a answer
		if clean, a = find(r.ctx()); a.err != nil {
			r.Fatal(a.err)
		}
	}, func(c cell) {
		c.arm()
		attrs, a := find(c.ctx)
		r.net.disarm()
		if a.err != nil {
			r.checkBroken(c.what, do, a)
		} else if attrs.Size != clean.Size || !attrs.ModTime.Equal(clean.ModTime) {
			r.Errorf("%s: FindAttributes returns %+v without an error, want %+v", c.what, attrs, clean)
		}
	})
}
