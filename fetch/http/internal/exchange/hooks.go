package exchange

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Hooks calls the Trace of one fetch. The body of a request is sent by another goroutine, which may
// outlive the fetch. Hooks runs one callback at a time, and none after the end.
type Hooks struct {
	To *fetch.Trace

	mu    sync.Mutex
	ended bool
}

// Call calls hook with the Trace, unless the fetch has ended.
func (h *Hooks) Call(hook func(*fetch.Trace)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		hook(h.To)
	}
}

// Frames returns a function that reports a frame; nil if nobody asks for frames.
func (h *Hooks) Frames() func(sent bool, frame string) {
	if !h.To.Frames() {
		return nil
	}
	return func(sent bool, frame string) {
		h.Call(func(t *fetch.Trace) { t.Frame(sent, frame) })
	}
}

// End waits for a running callback, and prevents further ones.
func (h *Hooks) End() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
}

// Masked returns a request head with its secrets replaced.
func Masked(head []byte) []byte {
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
