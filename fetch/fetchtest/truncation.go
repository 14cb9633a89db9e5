package fetchtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
	"github.com/fetch1738/fetch1738/internal/raced"
)

// testTruncation tests connections that fail after every single byte of a small fetch. A part of a
// document must never count as the whole, and the next fetch must succeed.
func testTruncation(t *testing.T, s *subject) {
	if s.Local {
		return
	}
	damages := []unreliable.Damage{unreliable.Cut, unreliable.Reset}
	if s.memory {
		damages = append(damages, unreliable.Stall, unreliable.Garble)
	}
	for _, do := range damages {
		for _, name := range []string{small, directory} {
			if s.site.Locate(name) != nil {
				subtest(t, s, fmt.Sprint(name, " ", do), func(fx *fixture) { sweepFetch(fx, name, do) })
			}
		}
		if s.site.Locate(directory) != nil && do != unreliable.Garble {
			subtest(t, s, fmt.Sprint("entries ", do), func(fx *fixture) { sweepEntries(fx, do) })
		}
		if s.site.Locate(small) != nil && do != unreliable.Garble {
			subtest(t, s, fmt.Sprint("attributes ", do), func(fx *fixture) { sweepAttributes(fx, do) })
		}
	}
}

// A trial is one case of a sweep: one kind of damage to one connection after one byte.
type trial struct {
	what string
	ctx  context.Context // what a cancel cancels
	conn int             // index of the connection, from 0
	arm  func()          // arms the damage for new connections
}

// eachTrial calls clean, and then f for each byte of each connection that clean used. f calls arm
// and later disarm.
func eachTrial(fx *fixture, do unreliable.Damage, clean func(), f func(tr trial)) {
	if do == unreliable.Stall || do == unreliable.Garble {
		fx.env.Limits = fetch.Limits{Reply: timeLimit, Idle: timeLimit, Connect: timeLimit}
	}
	clean()
	conns := fx.net.Since(0)
	if len(conns) == 0 {
		fx.Fatal("the fetch did not use Env.Dial; every connection must be opened by Env.Connect")
	}
	fx.close()
	for k, c := range conns {
		offsets, octets := c.Offsets(do, stride(fx.subject.secure))
		for _, after := range offsets {
			ctx, cancel := context.WithCancel(fx.ctx())
			f(trial{
				what: fmt.Sprintf("connection %d of %d, %s after %d of %d bytes", k+1, len(conns), do.Happened(), after, octets),
				ctx:  ctx,
				conn: k,
				arm:  func() { fx.net.Arm(k, unreliable.Failure{Do: do, After: after, Call: cancel}) },
			})
			cancel()
			fx.close()
			if fx.Failed() {
				return
			}
		}
	}
}

// stride is the distance in bytes between two trials: all are tried, except those of TLS, which has
// many bytes of the same effect. With the race detector there are fewer of both. The numbers are
// prime so that every kind of byte is tried.
func stride(secure bool) int {
	switch {
	case secure && raced.Enabled:
		return 1499
	case secure:
		return 499
	case raced.Enabled:
		return 7
	}
	return 1
}

// sweepFetch damages a fetch.
func sweepFetch(fx *fixture, name string, do unreliable.Damage) {
	l := fx.site.Locate(name)
	var clean check.Answer
	eachTrial(fx, do, func() {
		if clean = fx.get(fx.ctx(), l); clean.Err != nil {
			fx.Fatal(clean.Err)
		}
	}, func(tr trial) {
		tr.arm()
		a := fx.get(tr.ctx, l)
		fx.net.Disarm()
		checkDamage(fx, tr.what, do, undetectable(fx, do, name, tr.conn), a, clean)
		if do != unreliable.Garble { // garbled data may be undetectable
			check.Octets(fx, "the next fetch after a failed one ("+tr.what+")", fx.get(fx.ctx(), l), clean.Octets)
		}
	})
}

// undetectable reports whether a truncation cannot be detected. A listing has no length. If it has
// a connection of its own and the other connection reports success, its truncation is undetectable.
func undetectable(fx *fixture, do unreliable.Damage, name string, conn int) bool {
	return do == unreliable.Cut && (fx.subject.EndsWithClose || name == directory && conn > 0)
}

// checkDamage checks a fetch whose connection was damaged. If undetectable is true, a part may
// count as the whole.
func checkDamage(fx *fixture, what string, do unreliable.Damage, undetectable bool, a, clean check.Answer) {
	fx.Helper()
	part := bytes.HasPrefix(clean.Octets, a.Octets)
	if n := len(a.Octets); undetectable && n > 0 { // half a line end may be read as a whole one
		part = bytes.HasPrefix(clean.Octets, a.Octets[:n-1])
	}
	whole := len(a.Octets) == len(clean.Octets)
	switch {
	case do == unreliable.Garble:
		if a.Took > 4*timeLimit {
			fx.Errorf("%s: the fetch took %v, longer than its limits", what, a.Took)
		}
	case !part:
		fx.Errorf("%s: %s", what, check.Difference(a.Octets, clean.Octets))
	case a.Err == nil && !whole && !undetectable:
		fx.Errorf("%s: the Body returned %d of %d bytes without an error; an incomplete body must end in one", what, len(a.Octets), len(clean.Octets))
	case a.Err == nil:
	case do == unreliable.Cut && a.Resource != nil && !whole:
		check.Kind(fx, what, a, fetch.ErrTruncated)
	default:
		checkBroken(fx, what, do, a)
	}
}

// checkBroken checks the kind of the error for a damage, and that it is returned exactly when it
// must be.
func checkBroken(fx *fixture, what string, do unreliable.Damage, a check.Answer) {
	fx.Helper()
	switch do {
	case unreliable.Cancel:
		check.Kind(fx, what, a, fetch.ErrCanceled)
		if fx.fakeClock && a.Took > 0 {
			fx.Errorf("%s: the fetch failed %v after the cancellation; it must fail at once", what, a.Took)
		}
	case unreliable.Stall:
		check.Kind(fx, what, a, fetch.ErrTimeout)
		if a.Took != timeLimit {
			fx.Errorf("%s: the fetch failed after %v; the limit in Env.Limits is %v: %v", what, a.Took, timeLimit, a.Err)
		}
	default:
		check.Kind(fx, what, a, fetch.ErrTruncated, fetch.ErrConnectionFailed, fetch.ErrProtocol)
	}
}

// sweepEntries damages a fetch of a directory. The entries it returns must be right, with an error
// after them if some are missing.
func sweepEntries(fx *fixture, do unreliable.Damage) {
	l := fx.site.Locate(directory)
	var all []string
	eachTrial(fx, do, func() {
		var fail *fetch.Error
		if all, fail = fx.list(fx.ctx(), l); fail != nil {
			fx.Fatal(fail)
		}
	}, func(tr trial) {
		tr.arm()
		names, fail := fx.list(tr.ctx, l)
		fx.net.Disarm()
		switch {
		case undetectable(fx, do, directory, tr.conn):
		case len(names) > len(all) || !slices.Equal(names, all[:len(names)]):
			fx.Errorf("%s: the entries are %q; want a prefix of %q", tr.what, names, all)
		case fail == nil && len(names) < len(all):
			fx.Errorf("%s: the listing is incomplete without an error: %q", tr.what, names)
		}
	})
}

// sweepAttributes damages a FindAttributes.
func sweepAttributes(fx *fixture, do unreliable.Damage) {
	l := fx.site.Locate(small)
	find := func(ctx context.Context) (attrs *fetch.Attributes, a check.Answer) {
		a = fx.timed(ctx, l, func(ctx context.Context) (err error) {
			attrs, err = fx.open().(driver.AttributeFinder).FindAttributes(ctx, &fetch.Request{Locator: l})
			return err
		})
		return attrs, a
	}
	if _, ok := fx.open().(driver.AttributeFinder); !ok {
		return
	}
	var clean *fetch.Attributes
	eachTrial(fx, do, func() {
		var a check.Answer
		if clean, a = find(fx.ctx()); a.Err != nil {
			fx.Fatal(a.Err)
		}
	}, func(tr trial) {
		tr.arm()
		attrs, a := find(tr.ctx)
		fx.net.Disarm()
		if a.Err != nil {
			checkBroken(fx, tr.what, do, a)
		} else if attrs.Size != clean.Size || !attrs.ModTime.Equal(clean.ModTime) {
			fx.Errorf("%s: FindAttributes returns %+v without an error, want %+v", tr.what, attrs, clean)
		}
	})
}
