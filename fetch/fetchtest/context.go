package fetchtest

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
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

// context tests that operations stop once the context is done.
func (k *kit) context(t *testing.T) {
	k.test(t, "done before", func(r *rig) {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		late, cancel := context.WithDeadline(r.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for name, op := range r.operations() {
			r.checkKind(name+" with a cancelled context", op(ctx, r.site.any()), fetch.ErrCanceled)
			r.checkKind(name+" with an expired context", op(late, r.site.any()), fetch.ErrTimeout)
		}
		r.checkNoDial()
	})
	k.test(t, "done in the body", func(r *rig) {
		if l := r.site.Locate(large); l != nil {
			r.cancelInBody(l)
		}
	})
	if k.Local {
		return
	}
	for _, end := range endings {
		k.testAlone(t, end.name+" while dialling", noAnswer, func(r *rig) { r.failsWhenDone(end.start, end.kind) })
		k.testAlone(t, end.name+" while waiting", peer(sayNothing), func(r *rig) { r.failsWhenDone(end.start, end.kind) })
	}
	for _, name := range []string{small, directory} {
		if k.site.Locate(name) != nil {
			k.test(t, "cancel anywhere in "+name, func(r *rig) { r.sweep(name, cancel) })
		}
	}
	if k.memory {
		k.test(t, "cancel a read", func(r *rig) {
			if l := r.site.Locate(large); l != nil {
				r.cancelRead(l)
			}
		})
	}
}

// noAnswer is a dial that never answers.
func noAnswer(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// failsWhenDone tests that every operation fails at the time its context is done.
func (r *rig) failsWhenDone(start func(context.Context) (context.Context, context.CancelFunc), kind fetch.ErrorKind) {
	r.env.Limits = fetch.Limits{Connect: -1, Reply: -1, Idle: -1}
	for name, op := range r.operations() {
		ctx, cancel := start(r.Context())
		a := op(ctx, r.site.any())
		cancel()
		r.checkKind(name+" when its context ends", a, kind)
		if a.took != timeLimit {
			r.Errorf("%s failed after %v; its context was done after %v, and it must fail at once", name, a.took, timeLimit)
		}
	}
}

// cancelInBody tests that the rest of a body cannot be read after the context was cancelled.
func (r *rig) cancelInBody(l locator.Locator) {
	ctx, cancel := context.WithCancel(r.ctx())
	defer cancel()
	res, fail, _ := r.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		r.Fatal(fail)
	}
	defer res.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 100)); err != nil {
		r.Fatal(err)
	}
	cancel()
	if r.fakeClock {
		synctest.Wait()
	}
	n, err := res.Body.Read(make([]byte, 100))
	if err == nil {
		r.Errorf("%d bytes were read after the context was cancelled; want an error of kind Canceled", n)
		return
	}
	r.checkKind("a read after the context was done", answer{err: r.checkError(err, l)}, fetch.ErrCanceled)
	r.checkOctets("a fetch after a cancelled one", r.get(r.ctx(), l), r.kit.want(large))
}

// cancelRead cancels a read that waits for data.
func (r *rig) cancelRead(l locator.Locator) {
	clean := r.get(r.ctx(), l)
	r.checkOctets(large, clean, r.kit.want(large))
	carrier := r.busiestConn()
	r.close()

	r.env.Limits = fetch.Limits{Reply: -1, Idle: -1}
	r.net.arm(carrier, fault{do: stall, after: 64 << 10})
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	res, fail, _ := r.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		r.Fatal(fail)
	}
	defer res.Close()
	start := time.Now()
	defer time.AfterFunc(timeLimit, cancel).Stop()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil {
		r.Fatal("the connection stalls, but the body was read to its end without an error")
	}
	if n < 32<<10 {
		r.Errorf("64 KiB were received, but the Body returned only %d bytes; it must return data as it arrives", n)
	}
	r.checkKind("a read when the context ends", answer{err: r.checkError(err, l)}, fetch.ErrCanceled)
	if took := time.Since(start); took != timeLimit {
		r.Errorf("the read failed after %v; its context was done after %v, and it must fail at once", took, timeLimit)
	}
}

// busiestConn returns the index of the connection that received the most bytes.
func (r *rig) busiestConn() int {
	most := 0
	wires := r.net.since(0)
	for i, w := range wires {
		received, _ := w.lengths()
		if other, _ := wires[most].lengths(); received > other {
			most = i
		}
	}
	return most
}

// close tests that a Resource may be closed at any time and cannot be read afterwards. The end of
// every test checks that connections are closed and goroutines ended.
func (k *kit) close(t *testing.T) {
	for _, name := range []string{small, large, "empty"} {
		for part, read := range map[string]int{"unread": 0, "begun": 1, "half read": 40, "read": 1 << 30} {
			if k.site.Locate(name) != nil {
				k.test(t, name+" "+part, func(r *rig) { r.closeAfter(name, read) })
			}
		}
	}
	k.test(t, "directory", func(r *rig) {
		l := r.site.Locate(directory)
		if l == nil {
			return
		}
		res, fail, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
		if fail != nil {
			r.Fatal(fail)
		}
		for range res.Items {
			break
		}
		res.Close()
		for item, err := range res.Items {
			if err == nil {
				r.Errorf("Items continued with %q after Close; it must end", item.Name)
			}
		}
	})
}

// closeAfter closes a body after some bytes have been read.
func (r *rig) closeAfter(name string, read int) {
	l := r.site.Locate(name)
	res, fail, _ := r.fetch(r.ctx(), &fetch.Request{Locator: l})
	if fail != nil {
		r.Fatal(fail)
	}
	if _, err := io.CopyN(io.Discard, onlyReader{res.Body}, int64(read)); err != nil && err != io.EOF {
		r.Error(err)
	}
	start := time.Now()
	res.Close()
	if took := time.Since(start); took > r.patience(time.Second) {
		r.Errorf("Close took %v; it must not wait for the rest of the body", took)
	}
	if err := res.Close(); err != nil {
		r.checkSecrets("a second Close", err.Error())
	}
	if n, err := res.Body.Read(make([]byte, 1)); n != 0 || err == nil || err == io.EOF && read < len(r.kit.want(name)) {
		r.Errorf("a read after Close returns %d, %v; want an error", n, err)
	}
	r.checkOctets("a fetch after an abandoned one", r.get(r.ctx(), l), r.kit.want(name))
}
