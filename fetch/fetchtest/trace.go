package fetchtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// trace tests that the hooks are called in order and with the right data. Every fetch checks that
// the data have no passwords.
func (k *kit) trace(t *testing.T) {
	k.test(t, "body", func(r *rig) {
		for _, name := range []string{small, octets, large, "empty"} {
			l := r.site.Locate(name)
			if l == nil {
				continue
			}
			a := r.get(r.ctx(), l)
			r.checkOctets(name, a, k.want(name))
			if a.trace.body != int64(len(a.octets)) {
				r.Errorf("%s: the hook Body was called for %d bytes in all; %d were read", name, a.trace.body, len(a.octets))
			}
		}
	})
	k.test(t, "octets", func(r *rig) {
		for _, name := range []string{small, octets, large, "empty", directory} {
			if l := r.site.Locate(name); l != nil {
				r.tapped(name, l)
			}
		}
	})
	if k.Local {
		return
	}
	k.test(t, "connections", func(r *rig) {
		a := r.get(r.ctx(), r.site.any())
		if a.err != nil {
			r.Fatal(a.err)
		}
		events := strings.Join(a.trace.events, " ")
		if !strings.HasPrefix(events, "dial connected") {
			r.Errorf("the hooks were called in the order %q; DialStart and Connected must be first", events)
		}
		if n := strings.Count(events, "dial"); n != r.net.count() {
			r.Errorf("the hook DialStart was called %d times for %d dials", n, r.net.count())
		}
		for _, c := range a.trace.connections {
			if !c.Remote.IsValid() || c.Host == "" {
				r.Errorf("the hook Connected was called with %+v; Host and Remote must be set", c)
			}
		}
	})
	k.test(t, "conversation", func(r *rig) {
		a := r.get(r.ctx(), r.site.any())
		if a.err != nil {
			r.Fatal(a.err)
		}
		if k.secure || k.Encoded {
			return
		}
		sent, got := r.net.control()
		if !bytes.Equal(a.trace.sent, sent) && !bytes.Contains(a.trace.sent, []byte("****")) {
			r.Errorf("the hook Sent was called with %q, but %q was sent", a.trace.sent, sent)
		}
		if !bytes.HasPrefix(got, a.trace.received) {
			r.Errorf("the hook Received was called with %q, but %.500q was received", a.trace.received, got)
		}
	})
}

// tapped tests that the hook Octets has the bytes of a body, whether that is read, copied to a file
// or used by a loop over the Items.
func (r *rig) tapped(name string, l locator.Locator) {
	want := r.get(r.ctx(), l)
	if want.err != nil {
		r.Fatal(want.err)
	}
	for how, use := range map[string]func(*fetch.Resource) error{
		"read":  func(res *fetch.Resource) error { _, err := io.ReadAll(res.Body); return err },
		"copy":  func(res *fetch.Resource) error { return copyToFile(r.T, res.Body) },
		"items": func(res *fetch.Resource) error { r.items(res); _, err := io.ReadAll(res.Body); return err },
	} {
		var got bytes.Buffer
		ctx := fetch.WithTrace(r.ctx(), &fetch.Trace{Octets: func(p []byte) { got.Write(p) }})
		res, fail, _ := r.fetch(ctx, &fetch.Request{Locator: l})
		if fail != nil {
			r.Fatal(fail)
		}
		if how != "items" || res.Items != nil {
			if err := use(res); err != nil {
				r.Errorf("%s (%s): %v", name, how, err)
			}
			if !bytes.Equal(got.Bytes(), want.octets) {
				r.Errorf("%s (%s): the hook Octets was called with %d bytes in all; the body has %d, or others", name, how, got.Len(), len(want.octets))
			}
		}
		res.Close()
	}
}

// copyToFile copies body to a file, as a program does that saves it.
func copyToFile(t *testing.T, body io.Reader) error {
	file, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	return errors.Join(err, file.Close())
}

// A record has what the hooks of one fetch were called with.
type record struct {
	rig     *rig
	running atomic.Bool

	mu             sync.Mutex
	events         []string
	connections    []fetch.Connection
	reused         int
	sent, received []byte
	body           int64
}

// hooks returns a Trace that records its calls.
func (c *record) hooks() *fetch.Trace {
	return &fetch.Trace{
		DialStart: func(network, address string) { c.event("dial", []byte(address), func() {}) },
		Connected: func(conn fetch.Connection) {
			c.event("connected", fmt.Appendf(nil, "%+v", conn), func() { c.connections = append(c.connections, conn) })
		},
		Reused:   func(conn fetch.Connection) { c.event("reused", fmt.Appendf(nil, "%+v", conn), func() { c.reused++ }) },
		Sent:     func(p []byte) { c.event("sent", p, func() { c.sent = keep(c.sent, p) }) },
		Received: func(p []byte) { c.event("received", p, func() { c.received = keep(c.received, p) }) },
		Body:     func(n int64) { c.event("body", nil, func() { c.body += n }) },
		Retry:    func(t fetch.Retry) { c.event("retry", fmt.Appendf(nil, "%+v %v", t, t.Err), func() {}) },
		Note:     func(text string) { c.event("note", []byte(text), func() {}) },
	}
}

// keep appends bytes to those recorded, up to the limit of a wire.
func keep(list, p []byte) []byte { return append(list, p[:min(len(p), recorded-len(list))]...) }

// event records the call of a hook. It fails the test if another call is running, or if text has a
// password.
func (c *record) event(name string, text []byte, keep func()) {
	if !c.running.CompareAndSwap(false, true) {
		c.rig.Errorf("the hook %s was called while another one was running; calls must not overlap", name)
	}
	defer c.running.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(secrets, func(form string) bool { return bytes.Contains(text, []byte(form)) }) {
		c.rig.checkSecrets("the hook "+name, string(text))
	}
	c.events = append(c.events, name)
	keep()
}
