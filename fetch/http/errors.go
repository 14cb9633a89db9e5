package http

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
)

// Errors that errors.Is finds in a *fetch.Error in addition to its kind. The kind is
// fetch.ErrProtocol, except for ErrHeader and ErrRewind.
var (
	// ErrNotHTTP means that the response does not start like an HTTP/1.0 or HTTP/1.1 response.
	ErrNotHTTP = errors.New("not an HTTP response")
	// ErrHeader means that the header of the response exceeds Limits.Line or Limits.Header. The
	// kind is fetch.ErrTooLarge.
	ErrHeader = errors.New("response header")
	// ErrCoding means that a content or transfer coding is unknown, was not requested, or does not
	// match the data.
	ErrCoding = errors.New("bad content or transfer coding")
	// ErrFraming means that the chunked coding of a body is invalid.
	ErrFraming = errors.New("invalid chunked coding")
	// ErrRewind means that the request body would have to be sent again, but it is not an
	// io.Seeker. The kind is fetch.ErrLocalIO.
	ErrRewind = errors.New("the body cannot be sent again")
)

// badCoding returns an error that wraps ErrCoding.
func (c *call) badCoding(why error) error {
	return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, fmt.Errorf("%w: %w", ErrCoding, why))
}

// explainHead adds to e why the transport could not parse a head.
func (ex *exchange) explainHead(e *fetch.Error) error {
	if e.Kind != fetch.ErrProtocol {
		return e
	}
	ex.mu.Lock()
	received, refusal := ex.received, ex.refusal
	ex.mu.Unlock()
	switch {
	case refusal != nil:
		return refusal
	case errors.Is(e, ErrNotHTTP):
	case len(received) > 0 && !startsAsHTTP(received):
		e.Err = ex.notHTTP(received)
	case bytes.HasSuffix(received, []byte("\n")) && slices.ContainsFunc(members(fields(received), "Transfer-Encoding"), func(c string) bool { return c != "chunked" }):
		e.Err = fmt.Errorf("%w: %w", ErrCoding, e.Err)
	}
	return e
}

// notHTTP returns the error for data that does not start like an HTTP response. It shows the first
// line only: a server that echoes may send back a password.
func (ex *exchange) notHTTP(received []byte) error {
	line, _, _ := bytes.Cut(received, []byte("\n"))
	line = masked(append(line[:len(line):len(line)], '\n'))
	ex.call.hooks.call(func(t *fetch.Trace) { t.Received(line) })
	return fmt.Errorf("%w; it starts with %q", ErrNotHTTP, bytes.TrimSpace(line[:min(len(line), 40)]))
}

// startsAsHTTP reports whether a head, or the beginning of one, starts like an HTTP/1.0 or 1.1
// response: with a version and a status of three digits.
func startsAsHTTP(head []byte) bool {
	const start = "HTTP/1."
	line, _, complete := bytes.Cut(head, []byte("\n"))
	if !bytes.HasPrefix(line, []byte(start[:min(len(start), len(line))])) {
		return false
	}
	words := bytes.Fields(line)
	return !complete || len(words) > 1 && (string(words[0]) == "HTTP/1.0" || string(words[0]) == "HTTP/1.1") &&
		len(words[1]) == 3 && len(bytes.Trim(words[1], "0123456789")) == 0
}
