package http

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// hooks calls the Trace of one fetch. The transport works on goroutines of its
// own, and goes on for a while when a fetch is given up; hooks lets one of them
// in at a time, and none after the end.
type hooks struct {
	mu    sync.Mutex
	ended bool
	to    *fetch.Trace
}

// serialize is ctx with its Trace behind hooks.
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

// end returns when no hook runs, and none will.
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

// secretFields are not shown.
var secretFields = [][]byte{[]byte("authorization:"), []byte("proxy-authorization:"), []byte("cookie:")}

// masked is a request's head with its secrets replaced.
func masked(head []byte) []byte {
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	out := append(maskedLine(first), '\n')
	for line := range bytes.Lines(rest) {
		for _, name := range secretFields {
			if value, ok := cutField(line, name); ok {
				line = append(line[:len(line)-len(value):len(line)-len(value)], " ****\r\n"...)
			}
		}
		if value, ok := cutField(line, []byte("referer:")); ok {
			line = fmt.Appendf(nil, "%s %s\r\n", line[:len(line)-len(value)], redacted(bytes.TrimSpace(value)))
		}
		out = append(out, line...)
	}
	return out
}

// maskedLine is a request line without the password of an absolute URL in it.
func maskedLine(line []byte) []byte {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, protocol, found := bytes.Cut(rest, []byte(" "))
	if !found || len(target) == 0 || target[0] == '/' {
		return bytes.Clone(line)
	}
	return fmt.Appendf(nil, "%s %s %s", method, redacted(target), protocol)
}

// cutField takes a field's name, which has a colon at its end, off its line.
func cutField(line, name []byte) (value []byte, ok bool) {
	if len(line) <= len(name) || !bytes.EqualFold(line[:len(name)], name) {
		return nil, false
	}
	return line[len(name):], true
}

// redacted is a URL without its password.
func redacted(url []byte) string {
	return locator.Parser{Tolerate: locator.TolerateAll}.Redact(string(url))
}
