package http

import (
	"bytes"
	"context"
	"fmt"
	"strings"
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

// serialize returns ctx with its Trace wrapped in hooks.
func serialize(ctx context.Context) (context.Context, *hooks) {
	h := &hooks{to: fetch.ContextTrace(ctx)}
	return fetch.WithTrace(untraced{ctx}, &fetch.Trace{
		DialStart: func(network, address string) { h.call(func() { h.to.DialStart(network, address) }) },
		Connected: func(c fetch.Connection) { h.call(func() { h.to.Connected(c) }) },
		Reused:    func(c fetch.Connection) { h.call(func() { h.to.Reused(c) }) },
		Sent:      func(octets []byte) { h.call(func() { h.to.Sent(octets) }) },
		Received:  func(octets []byte) { h.call(func() { h.to.Received(octets) }) },
		Body:      func(n int64) { h.call(func() { h.to.Body(n) }) },
		Retry:     func(r fetch.Retry) { h.call(func() { h.to.Retry(r) }) },
		Note:      func(text string) { h.call(func() { h.to.Note(text) }) },
	}), h
}

func (h *hooks) call(hook func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		hook()
	}
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
	out := append(maskedLine(first), '\n')
	for line := range bytes.Lines(rest) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(name), "Referer") {
			line = fmt.Appendf(nil, "%s: %s\r\n", name, redacted(bytes.TrimSpace(value)))
		}
		out = append(out, wire.Masked(string(line))...)
	}
	return out
}

// maskedLine returns a request line without the password of an absolute URL in it.
func maskedLine(line []byte) []byte {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, protocol, found := bytes.Cut(rest, []byte(" "))
	if !found || len(target) == 0 || target[0] == '/' {
		return bytes.Clone(line)
	}
	return fmt.Appendf(nil, "%s %s %s", method, redacted(target), protocol)
}

// redacted returns a URL without its password.
func redacted(url []byte) string {
	return locator.Parser{Tolerate: locator.TolerateAll}.Redact(string(url))
}
