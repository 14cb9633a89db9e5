package fetchtest

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
	"github.com/fetch1738/fetch1738/locator"
)

// timeLimit is when a context ends, or a limit is reached, in the tests. It differs from all
// default limits.
const timeLimit = 7 * time.Second

// endings are the two ways in which a context ends.
var endings = []struct {
	name  string
	start func(ctx context.Context) (context.Context, context.CancelFunc)
	kind  fetch.ErrorKind
}{
	{"cancel", func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		stop := time.AfterFunc(timeLimit, cancel)
		return ctx, func() { stop.Stop(); cancel() }
	}, fetch.ErrCanceled},
	{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, timeLimit)
	}, fetch.ErrTimeout},
}

// testContext tests that operations stop once the context is done.
func testContext(t *testing.T, s *subject) {
	subtest(t, s, "done before", func(fx *fixture) {
		ctx, cancel := context.WithCancel(fx.Context())
		cancel()
		late, cancel := context.WithDeadline(fx.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for name, op := range fx.operations() {
			check.Kind(fx, name+" with a cancelled context", op(ctx, fx.site.any()), fetch.ErrCanceled)
			check.Kind(fx, name+" with an expired context", op(late, fx.site.any()), fetch.ErrTimeout)
		}
		checkNoDial(fx, fx.net)
	})
	subtest(t, s, "done in the body", func(fx *fixture) {
		if l := fx.site.Locate(large); l != nil {
			testCancelInBody(fx, l)
		}
	})
	if s.Local {
		return
	}
	for _, end := range endings {
		subtestAlone(t, s, end.name+" while dialling", unreliable.NoAnswer, func(fx *fixture) { testDone(fx, end.start, end.kind) })
		subtestAlone(t, s, end.name+" while waiting", unreliable.Peer(unreliable.SayNothing), func(fx *fixture) { testDone(fx, end.start, end.kind) })
	}
	for _, name := range []string{small, directory} {
		if s.site.Locate(name) != nil {
			subtest(t, s, "cancel anywhere in "+name, func(fx *fixture) { sweepFetch(fx, name, unreliable.Cancel) })
		}
	}
	if s.memory {
		subtest(t, s, "cancel a read", func(fx *fixture) {
			if l := fx.site.Locate(large); l != nil {
				testCancelRead(fx, l)
			}
		})
	}
}

// testDone tests that every operation fails at the time its context is done.
func testDone(fx *fixture, start func(context.Context) (context.Context, context.CancelFunc), kind fetch.ErrorKind) {
	fx.env.Limits = fetch.Limits{Connect: -1, Reply: -1, Idle: -1}
	for name, op := range fx.operations() {
		ctx, cancel := start(fx.Context())
		a := op(ctx, fx.site.any())
		cancel()
		check.Kind(fx, name+" when its context ends", a, kind)
		if a.Took != timeLimit {
			fx.Errorf("%s failed after %v; its context was done after %v, and it must fail at once", name, a.Took, timeLimit)
		}
	}
}

// testCancelInBody tests that the rest of a body cannot be read after the context was cancelled.
func testCancelInBody(fx *fixture, l locator.Locator) {
	ctx, cancel := context.WithCancel(fx.ctx())
	defer cancel()
	res := fx.mustFetch(ctx, l)
	defer res.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 100)); err != nil {
		fx.Fatal(err)
	}
	cancel()
	if fx.fakeClock {
		synctest.Wait()
	}
	n, err := res.Body.Read(make([]byte, 100))
	if err == nil {
		fx.Errorf("%d bytes were read after the context was cancelled; want an error of kind Canceled", n)
		return
	}
	check.Kind(fx, "a read after the context was done", check.Answer{Err: check.Error(fx, err, l)}, fetch.ErrCanceled)
	check.Octets(fx, "a fetch after a cancelled one", fx.get(fx.ctx(), l), fx.subject.want(large))
}

// testCancelRead cancels a read that waits for data.
func testCancelRead(fx *fixture, l locator.Locator) {
	clean := fx.get(fx.ctx(), l)
	check.Octets(fx, large, clean, fx.subject.want(large))
	carrier := fx.net.Busiest()
	fx.close()

	fx.env.Limits = fetch.Limits{Reply: -1, Idle: -1}
	fx.net.Arm(carrier, unreliable.Failure{Do: unreliable.Stall, After: 64 << 10})
	ctx, cancel := context.WithCancel(fx.Context())
	defer cancel()
	res := fx.mustFetch(ctx, l)
	defer res.Close()
	start := time.Now()
	defer time.AfterFunc(timeLimit, cancel).Stop()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil {
		fx.Fatal("the connection stalls, but the body was read to its end without an error")
	}
	if n < 32<<10 {
		fx.Errorf("64 KiB were received, but the Body returned only %d bytes; it must return data as it arrives", n)
	}
	check.Kind(fx, "a read when the context ends", check.Answer{Err: check.Error(fx, err, l)}, fetch.ErrCanceled)
	if took := time.Since(start); took != timeLimit {
		fx.Errorf("the read failed after %v; its context was done after %v, and it must fail at once", took, timeLimit)
	}
}

// testClose tests that a Resource may be closed at any time and cannot be read afterwards. The end
// of every test checks that connections are closed and goroutines ended.
func testClose(t *testing.T, s *subject) {
	for _, name := range []string{small, large, "empty"} {
		for part, read := range map[string]int{"unread": 0, "begun": 1, "half read": 40, "read": 1 << 30} {
			if s.site.Locate(name) != nil {
				subtest(t, s, name+" "+part, func(fx *fixture) { testCloseAfter(fx, name, read) })
			}
		}
	}
	subtest(t, s, "directory", func(fx *fixture) {
		l := fx.site.Locate(directory)
		if l == nil {
			return
		}
		res := fx.mustFetch(fx.ctx(), l)
		for range res.Items {
			break
		}
		res.Close()
		for item, err := range res.Items {
			if err == nil {
				fx.Errorf("Items continued with %q after Close; it must end", item.Name)
			}
		}
	})
}

// testCloseAfter closes a body after some bytes have been read.
func testCloseAfter(fx *fixture, name string, read int) {
	l := fx.site.Locate(name)
	res := fx.mustFetch(fx.ctx(), l)
	if _, err := io.CopyN(io.Discard, onlyReader{res.Body}, int64(read)); err != nil && err != io.EOF {
		fx.Error(err)
	}
	start := time.Now()
	res.Close()
	if took := time.Since(start); took > patience(fx.fakeClock, time.Second) {
		fx.Errorf("Close took %v; it must not wait for the rest of the body", took)
	}
	if err := res.Close(); err != nil {
		check.Secrets(fx, "a second Close", err.Error())
	}
	if n, err := res.Body.Read(make([]byte, 1)); n != 0 || err == nil || err == io.EOF && read < len(fx.subject.want(name)) {
		fx.Errorf("a read after Close returns %d, %v; want an error", n, err)
	}
	check.Octets(fx, "a fetch after an abandoned one", fx.get(fx.ctx(), l), fx.subject.want(name))
}
