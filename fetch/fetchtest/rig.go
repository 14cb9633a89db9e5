package fetchtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// The secrets of every test. They must never be shown.
const (
	password = "canary-Xq7"
	mistaken = "canary-Zk3"
)

var login = locator.Login{User: "lab", Password: password, HasPassword: true}

// A kit is a Harness with what inspect found out about it.
type kit struct {
	Harness
	site   *Site // a server that has ended: only its locators are used
	memory bool  // sites are in memory
	secure bool  // connections are under TLS
	logins bool  // the protocol has passwords
	stores bool  // documents can be stored
}

// inspect finds out what a harness provides.
func inspect(t *testing.T, h Harness) *kit {
	t.Helper()
	if h.New == nil || h.Serve == nil {
		t.Fatal("Harness.New and Harness.Serve must be set")
	}
	k := &kit{Harness: h}
	tb := &scope{TB: t}
	defer tb.end()
	k.site = h.Serve(tb, Content(), nil)
	if k.site == nil || k.site.Locate == nil || k.site.any() == nil {
		t.Fatal("Serve must return a Site whose Locate returns a locator for at least one document of the content")
	}
	k.memory, k.secure = k.site.Dial != nil, k.site.TLS != nil
	k.logins = h.Serve(tb, Content(), &login) != nil
	f := h.New(nil)
	_, k.stores = f.(driver.Replacer)
	k.stores = k.stores && !h.ReadOnly
	if c, ok := f.(io.Closer); ok {
		c.Close()
	}
	return k
}

// A scope is a part of a test with cleanups of its own.
type scope struct {
	testing.TB
	cleanups []func()
}

func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

// end calls the cleanups, the last one first.
func (s *scope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

// any returns a locator that can be fetched.
func (s *Site) any() locator.Locator {
	for _, name := range []string{small, octets, directory, "."} {
		if l := s.Locate(name); l != nil {
			return l
		}
	}
	return nil
}

// A rig is one test: a site, a Fetcher for it, and the network between them.
type rig struct {
	*testing.T
	kit       *kit
	site      *Site
	fakeClock bool      // the clock is that of a testing/synctest bubble
	net       *network  // what env dials
	env       fetch.Env // may be changed before the first fetch
	fetcher   driver.Fetcher
	shut      int // wires known to be closed
}

// test runs f as a subtest against a server of the standard content. If the server is in memory,
// the subtest has a fake clock.
func (k *kit) test(t *testing.T, name string, f func(*rig)) { k.testAs(t, name, nil, f) }

// testAs is test against a server that serves only the given login.
func (k *kit) testAs(t *testing.T, name string, login *locator.Login, f func(*rig)) {
	t.Run(name, func(t *testing.T) {
		k.inBubble(t, k.memory, func(t *testing.T) {
			checkGoroutines(t, k.memory)
			site := k.Serve(t, Content(), login)
			dial := site.Dial
			if dial == nil {
				dial = new(net.Dialer).DialContext
			}
			f(k.rig(t, site, dial, k.memory))
		})
	})
}

// testAlone runs f as a subtest without a server, with a fake clock. dial replaces the network.
func (k *kit) testAlone(t *testing.T, name string, dial dialFunc, f func(*rig)) {
	t.Run(name, func(t *testing.T) {
		k.inBubble(t, true, func(t *testing.T) {
			checkGoroutines(t, true)
			f(k.rig(t, k.site, dial, true))
		})
	})
}

// inBubble calls f, in a bubble of package synctest if yes is set.
func (k *kit) inBubble(t *testing.T, yes bool, f func(t *testing.T)) {
	if yes {
		synctest.Test(t, f)
	} else {
		f(t)
	}
}

// rig returns the fixture of a test, which ends with it. With a fake clock, an operation that waits
// for ever fails the test.
func (k *kit) rig(t *testing.T, site *Site, dial dialFunc, fakeClock bool) *rig {
	ended, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	r := &rig{T: t, kit: k, site: site, fakeClock: fakeClock, net: &network{dial: dial, ended: ended}}
	r.env.Dial = r.net.Dial
	r.env.TLS = func() (*tls.Config, error) { return site.TLS, nil }
	if fakeClock {
		watchdog := time.AfterFunc(forever, func() {
			r.Errorf("an operation waits for ever: it obeys neither its context nor a limit of Env.Limits")
			end()
			r.net.abort()
		})
		t.Cleanup(func() { watchdog.Stop() })
	}
	out := log.Writer()
	log.SetOutput(logGuard{r})
	t.Cleanup(func() { log.SetOutput(out) })
	t.Cleanup(r.close)
	return r
}

// logGuard receives what is written by package log: a Fetcher must not write anything there.
type logGuard struct{ *rig }

func (t logGuard) Write(p []byte) (int, error) {
	t.Errorf("package log was used; a Fetcher must not log: %q", p)
	return len(p), nil
}

// open returns the Fetcher. The first call creates it.
func (r *rig) open() driver.Fetcher {
	if r.fetcher == nil {
		env := r.env
		r.fetcher = r.kit.New(&env)
	}
	return r.fetcher
}

// close closes the Fetcher; its connections must be closed then. The next open creates a new one.
func (r *rig) close() {
	if r.fakeClock {
		synctest.Wait() // let background work finish
	}
	if c, ok := r.fetcher.(io.Closer); ok {
		if err := c.Close(); err != nil {
			r.Errorf("Close of the Fetcher returns %v", err)
		}
	}
	r.fetcher = nil
	wires := r.net.since(r.shut)
	r.shut += len(wires)
	for i, w := range wires {
		select {
		case <-w.closed:
			continue
		default:
		}
		select {
		case <-w.closed:
		case <-time.After(r.patience(time.Second)):
			r.Errorf("connection %d of %d (to %v) is still open after the Fetcher was closed; sent on it: %.80q", i, len(wires), w.remote, w.sent())
		}
	}
}

// ctx returns the context of a fetch that should succeed.
func (r *rig) ctx() context.Context {
	if r.fakeClock {
		return r.Context()
	}
	ctx, cancel := context.WithTimeout(r.Context(), hung)
	r.Cleanup(cancel)
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
func (r *rig) patience(d time.Duration) time.Duration {
	if r.fakeClock {
		return d
	}
	return hung
}

// want returns what a fetch of a document must deliver.
func (k *kit) want(name string) []byte {
	data := documents()[name]
	if k.Want != nil {
		return k.Want(name, data)
	}
	return data
}

// An answer is the result of a fetch whose body, if any, was read to its end and closed.
type answer struct {
	res    *fetch.Resource // nil if Fetch failed
	octets []byte
	err    *fetch.Error // of Fetch or of the Body
	took   time.Duration
	trace  *record
}

// get fetches l, reads its body, and makes the checks that apply to every fetch.
func (r *rig) get(ctx context.Context, l locator.Locator) answer {
	r.Helper()
	return r.do(ctx, &fetch.Request{Locator: l})
}

// readAtMost is the maximum number of bytes read of a body; a longer one counts as endless.
const readAtMost = 4 << 20

// do performs a request, and reads and closes the body.
func (r *rig) do(ctx context.Context, req *fetch.Request) (a answer) {
	r.Helper()
	start := time.Now()
	defer func() { a.took = time.Since(start) }()
	a.res, a.err, a.trace = r.fetch(ctx, req)
	if a.res == nil {
		return a
	}
	var err error
	a.octets, err = io.ReadAll(io.LimitReader(a.res.Body, readAtMost))
	switch kind := a.res.Kind; {
	case kind == fetch.KindQuery, kind == fetch.KindInteractive, kind == fetch.KindAdvice:
		if len(a.octets) > 0 || !errors.Is(err, fetch.ErrNoOctets) {
			r.Errorf("%s: the Body of a %v returns %d bytes and %v; want an error of kind NoOctets", req.Locator.Redacted(), kind, len(a.octets), err)
		}
	case err != nil:
		a.err = r.checkError(err, req.Locator)
	case len(a.octets) < readAtMost:
		if n, err := a.res.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			r.Errorf("%s: a read after the end returns %d, %v; want 0, EOF", req.Locator.Redacted(), n, err)
		}
	}
	if err := a.res.Close(); err != nil && a.err == nil && len(a.octets) < readAtMost {
		r.Errorf("%s: Close of a body that was read to its end returns %v", req.Locator.Redacted(), err)
	}
	return a
}

// fetch calls Fetch. The caller closes the Resource.
func (r *rig) fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, *fetch.Error, *record) {
	r.Helper()
	trace := &record{rig: r}
	before := *req
	text := req.Locator.String()
	res, err := r.open().Fetch(fetch.WithTrace(ctx, trace.hooks()), req)
	if *req != before || req.Locator.String() != text {
		r.Errorf("%s: Fetch has modified the Request; it must not", req.Locator.Redacted())
	}
	switch {
	case err != nil && res != nil:
		r.Errorf("%s: Fetch returns both a Resource and an error", req.Locator.Redacted())
	case err == nil && res == nil:
		r.Fatalf("%s: Fetch returns neither a Resource nor an error", req.Locator.Redacted())
	case err == nil && res.Body == nil:
		r.Fatalf("%s: the Resource's Body is nil; it must be set", req.Locator.Redacted())
	}
	if err != nil {
		return nil, r.checkError(err, req.Locator), trace
	}
	r.checkSecrets("a Resource's Attributes", fmt.Sprintf("%+v", res.Attributes))
	r.checkSecrets("a Resource's Info", fmt.Sprintf("%+v", res.Info))
	return res, nil, trace
}

// An operation calls a method of the Fetcher with a locator.
type operation func(ctx context.Context, l locator.Locator) answer

// operations returns all operations of the Fetcher, by name. Those that store something store a few
// bytes.
func (r *rig) operations() map[string]operation {
	f := r.open()
	with := func(do func(ctx context.Context, req *fetch.Request) error) operation {
		return func(ctx context.Context, l locator.Locator) answer {
			return r.timed(ctx, l, func(ctx context.Context) error { return do(ctx, &fetch.Request{Locator: l}) })
		}
	}
	list := map[string]operation{"Fetch": r.get}
	if f, ok := f.(driver.AttributeFinder); ok {
		list["FindAttributes"] = with(func(ctx context.Context, req *fetch.Request) error {
			_, err := f.FindAttributes(ctx, req)
			return err
		})
	}
	if f, ok := f.(driver.Updater); ok {
		list["Update"] = with(func(ctx context.Context, req *fetch.Request) error {
			_, err := f.Update(ctx, req, strings.NewReader("bytes\r\n"))
			return err
		})
	}
	if f, ok := f.(driver.Replacer); ok {
		list["Replace"] = with(func(ctx context.Context, req *fetch.Request) error {
			_, err := f.Replace(ctx, req, strings.NewReader("bytes\r\n"))
			return err
		})
	}
	return list
}

// timed runs an operation on l that has no Resource.
func (r *rig) timed(ctx context.Context, l locator.Locator, do func(ctx context.Context) error) (a answer) {
	r.Helper()
	a.trace = &record{rig: r}
	start := time.Now()
	if err := do(fetch.WithTrace(ctx, a.trace.hooks())); err != nil {
		a.err = r.checkError(err, l)
	}
	a.took = time.Since(start)
	return a
}
