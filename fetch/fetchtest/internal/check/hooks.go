package check

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
)

// Hooks are what the hooks of one fetch were called with. What is wrong with a call fails the test.
type Hooks struct {
	TB      testing.TB
	running atomic.Bool

	mu             sync.Mutex
	Events         []string // the names of the hooks, in order
	Connections    []fetch.Connection
	Reused         int
	Sent, Received []byte // the first bytes
	Body           int64
}

// Trace returns a Trace that records its calls.
func (h *Hooks) Trace() *fetch.Trace {
	return &fetch.Trace{
		DialStart: func(network, address string) { h.event("dial", []byte(address), func() {}) },
		Connected: func(conn fetch.Connection) {
			h.event("connected", fmt.Appendf(nil, "%+v", conn), func() { h.Connections = append(h.Connections, conn) })
		},
		Reused:   func(conn fetch.Connection) { h.event("reused", fmt.Appendf(nil, "%+v", conn), func() { h.Reused++ }) },
		Sent:     func(p []byte) { h.event("sent", p, func() { h.Sent = unreliable.Keep(h.Sent, p) }) },
		Received: func(p []byte) { h.event("received", p, func() { h.Received = unreliable.Keep(h.Received, p) }) },
		Body:     func(n int64) { h.event("body", nil, func() { h.Body += n }) },
		Retry:    func(t fetch.Retry) { h.event("retry", fmt.Appendf(nil, "%+v %v", t, t.Err), func() {}) },
		Note:     func(text string) { h.event("note", []byte(text), func() {}) },
	}
}

// event records the call of a hook. It fails the test if another call is running, or if text has a
// password.
func (h *Hooks) event(name string, text []byte, keep func()) {
	if !h.running.CompareAndSwap(false, true) {
		h.TB.Errorf("the hook %s was called while another one was running; calls must not overlap", name)
	}
	defer h.running.Store(false)
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(secrets, func(form string) bool { return bytes.Contains(text, []byte(form)) }) {
		Secrets(h.TB, "the hook "+name, string(text))
	}
	h.Events = append(h.Events, name)
	keep()
}
