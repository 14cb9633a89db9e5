package http

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// hooks calls the Trace of one fetch. The goroutines of the transport may outlive the fetch. hooks
// runs one callback at a time, and none after the end.
type hooks struct {
	mu    sync.Mutex
	ended bool
	to    *fetch.Trace
}

// call calls hook with the Trace, unless the fetch has ended.
func (h *hooks) call(hook func(*fetch.Trace)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		hook(h.to)
	}
}

// traceContext returns ctx with h in place of its Trace, for the code that opens a connection. Most
// requests open none, and do not need these functions.
func (h *hooks) traceContext(ctx context.Context) context.Context {
	return fetch.WithTrace(untraced{ctx}, &fetch.Trace{
		DialStart: func(network, address string) { h.call(func(t *fetch.Trace) { t.DialStart(network, address) }) },
		Connected: func(c fetch.Connection) { h.call(func(t *fetch.Trace) { t.Connected(c) }) },
		Reused:    func(c fetch.Connection) { h.call(func(t *fetch.Trace) { t.Reused(c) }) },
		Sent:      func(octets []byte) { h.call(func(t *fetch.Trace) { t.Sent(octets) }) },
		Received:  func(octets []byte) { h.call(func(t *fetch.Trace) { t.Received(octets) }) },
		Body:      func(n int64) { h.call(func(t *fetch.Trace) { t.Body(n) }) },
		Retry:     func(r fetch.Retry) { h.call(func(t *fetch.Trace) { t.Retry(r) }) },
		Note:      func(text string) { h.call(func(t *fetch.Trace) { t.Note(text) }) },
	})
}

// end waits for a running callback, and prevents further ones.
func (h *hooks) end() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
}

// untraced is a context without the Trace in it.
type untraced struct{ context.Context }

func (c untraced) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*fetch.Trace); ok {
		return nil
	}
	return v
}

// masked returns a request head with its secrets replaced.
func masked(head []byte) []byte {
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	fields := make([]byte, 0, len(head))
	for line := range bytes.Lines(rest) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Referer")) {
			line = fmt.Appendf(nil, "%s: %s\r\n", name, redacted(bytes.TrimSpace(value)))
		}
		fields = append(fields, line...)
	}
	return slices.Concat(maskedLine(first), []byte("\n"), []byte(wire.Masked(string(fields))))
}

// maskedLine returns a request line without the password of an absolute URL in it.
func maskedLine(line []byte) []byte {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, protocol, found := bytes.Cut(rest, []byte(" "))
	if !found || len(target) == 0 || target[0] == '/' {
		return line
	}
	return fmt.Appendf(nil, "%s %s %s", method, redacted(target), protocol)
}

// redacted returns a URL without its password.
func redacted(url []byte) string {
	return locator.Parser{Tolerate: locator.TolerateAll}.Redact(string(url))
}
