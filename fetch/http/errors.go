package http

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// What errors.Is finds in some errors besides their kind, which is Protocol but
// for ErrRewind.
var (
	// ErrNotHTTP is an answer that does not start as one by HTTP/1 does.
	ErrNotHTTP = errors.New("not an HTTP response")
	// ErrCoding is an unknown coding of a body, or one that is not what it is said
	// to be.
	ErrCoding = errors.New("bad content or transfer coding")
	// ErrFraming is a chunked body that breaks its own rules.
	ErrFraming = errors.New("bad framing")
	// ErrRewind, of kind ErrLocalIO, is a body that would have to be sent again but
	// cannot be, as it is no io.Seeker.
	ErrRewind = errors.New("the body cannot be sent again")
)

// badCoding is the error of a coding.
func (c *call) badCoding(why error) error {
	return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, fmt.Errorf("%w: %w", ErrCoding, why))
}

// explainHead adds to e what was wrong with a head that the transport could not
// read.
func (ex *exchange) explainHead(e *fetch.Error) error {
	if e.Kind != fetch.ErrProtocol {
		return e
	}
	ex.mu.Lock()
	received := ex.received
	ex.mu.Unlock()
	switch {
	case errors.Is(e, ErrNotHTTP):
	case len(received) > 0 && !startsAsHTTP(received):
		e.Err = ex.notHTTP(received)
	case hasTransferCoding(received):
		e.Err = fmt.Errorf("%w: %w", ErrCoding, e.Err)
	}
	return e
}

// notHTTP is the error of what does not start as an answer by HTTP does. Its first
// line is shown, and no more: a server that echoes may send back a password.
func (ex *exchange) notHTTP(received []byte) error {
	line, _, _ := bytes.Cut(received, []byte("\n"))
	line = masked(append(line[:len(line):len(line)], '\n'))
	ex.call.trace.Received(line)
	return fmt.Errorf("%w; it starts with %q", ErrNotHTTP, bytes.TrimSpace(line[:min(len(line), 40)]))
}

// startsAsHTTP reports whether a head, or the beginning of one, is that of an
// answer by HTTP/1.0 or 1.1: version and status of three digits.
func startsAsHTTP(head []byte) bool {
	const start = "HTTP/1."
	line, _, complete := strings.Cut(string(head), "\n")
	if !strings.HasPrefix(line, start[:min(len(start), len(line))]) {
		return false
	}
	words := strings.Fields(line)
	return !complete || len(words) > 1 && (words[0] == "HTTP/1.0" || words[0] == "HTTP/1.1") &&
		len(words[1]) == 3 && strings.Trim(words[1], "0123456789") == ""
}

// hasTransferCoding reports whether a head names a transfer coding other than
// chunked, which is all that the transport knows.
func hasTransferCoding(head []byte) bool {
	for _, f := range fields(head) {
		if strings.EqualFold(f.Name, "Transfer-Encoding") && !strings.EqualFold(f.Value, "chunked") {
			return bytes.HasSuffix(head, []byte("\n"))
		}
	}
	return false
}
