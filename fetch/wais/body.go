package wais

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// sliceSize is the number of bytes in one request. waissearch and lynx use the same number.
const sliceSize = 10000

// unbounded is larger than any document.
const unbounded = 1 << 62

var (
	errClosed  = errors.New("the body is closed")
	errFromEnd = fmt.Errorf("%w: the length of the document is unknown, so there is no offset from the end", fetch.ErrUnsupported)
	errTooMuch = errors.New("the server sent more bytes than requested")
	errNoText  = errors.New("the document ended")
)

// slice returns the request for one slice of the document, from start up to until at most.
func (d *document) slice(start, until int64) *z3950.Search {
	return z3950.NewRetrieval(d.database, d.id, d.typ, start, min(until, start+sliceSize))
}

// span returns where the requested range begins and ends. A size of -1 means that it is unknown.
func span(size, offset, length int64) (start, until int64, err error) {
	until = unbounded
	if size >= 0 {
		until = size
	}
	switch {
	case offset < 0 && size < 0:
		return 0, 0, errFromEnd
	case offset < 0:
		offset = max(0, size+offset)
	case offset > until:
		return 0, 0, fmt.Errorf("%w: offset %d is beyond the end of the document (%d bytes)", fetch.ErrBadRange, offset, size)
	}
	if length > 0 && length < until-offset {
		until = offset + length
	}
	return offset, until, nil
}

// body is the Body of a document. It requests one slice after the other. Positions count from the
// start of the document.
type body struct {
	*session
	doc    document
	start  int64  // where the body begins
	at     int64  // where text ends
	until  int64  // where the body ends, or an upper limit
	text   []byte // received and not yet read
	ended  bool   // the server has reported that the document ends at the position at
	read   int64  // bytes read from the body
	err    error  // returned by every further Read
	closed atomic.Bool
}

// newBody returns the Body of a range of a document. It requests nothing.
func (s *session) newBody(doc document, offset, length int64) (*body, error) {
	start, until, err := span(doc.length, offset, length)
	if err != nil {
		return nil, driver.Fail("retrieve", s.loc, fetch.KindOf(err), err)
	}
	return &body{session: s, doc: doc, start: start, at: start, until: until}, nil
}

// readText returns the text of a document, truncated after max bytes.
func (s *session) readText(doc document, max int64) (text []byte, err error) {
	b := &body{session: s, doc: doc, until: max}
	for err == nil {
		text = append(text, b.text...)
		err = b.next()
	}
	if err == io.EOF {
		err = nil
	}
	return text, err
}

// begin gets the first slice.
func (b *body) begin() error {
	if b.at == b.until {
		return nil // the range is empty
	}
	err := b.next()
	if err == io.EOF {
		b.ended = true
		return nil
	}
	return err
}

// complete reports whether the whole document has been received.
func (b *body) complete() bool { return b.ended || b.at == b.doc.length }

// next gets the next slice. It returns io.EOF at the end of the document.
func (b *body) next() error {
	switch {
	case b.at == b.until:
		return io.EOF
	case b.ended:
		return b.endError(nil, true)
	}
	asked := b.doc.slice(b.at, b.until)
	r, err := b.ask("retrieve", asked)
	if err != nil {
		return err
	}
	b.text = textOf(r)
	if int64(len(b.text)) > min(b.until-b.at, sliceSize) {
		b.text = nil
		return driver.Fail("retrieve", b.loc, fetch.ErrProtocol, errTooMuch)
	}
	b.at += int64(len(b.text))
	d := failure(r)
	if len(b.text) > 0 {
		// Text with a diagnostic about the range is the last slice.
		b.ended = d != nil && d.beyond()
		return nil
	}
	return b.endError(d, b.text != nil)
}

// textOf returns the text in a response.
func textOf(r *z3950.SearchResponse) []byte {
	for d := range r.Documents() {
		if d.Text != nil {
			return d.Text
		}
	}
	return nil
}

// endError returns the error for a response without text, or with an empty text. An empty text can
// be a whole document; a response without text cannot.
func (b *body) endError(d *Diagnostic, answered bool) error {
	first := b.at == b.start
	switch {
	case d != nil && !d.beyond() && first:
		return driver.Fail("retrieve", b.loc, d.kind(), d)
	case d != nil && !d.beyond():
		return driver.Fail("retrieve", b.loc, fetch.ErrTruncated, d)
	case d != nil && first && b.start > 0:
		return driver.Fail("retrieve", b.loc, fetch.ErrBadRange, d)
	case d != nil && first && !answered:
		return driver.Fail("retrieve", b.loc, fetch.ErrNotFound, d)
	case b.doc.length >= 0:
		return driver.Fail("retrieve", b.loc, fetch.ErrTruncated,
			fmt.Errorf("%w after %d of %d bytes", errNoText, b.at, b.doc.length))
	}
	return io.EOF
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if err := b.ready(); err != nil || len(p) == 0 {
		return 0, err
	}
	n := copy(p, b.text)
	b.text = b.text[n:]
	b.read += int64(n)
	b.trace.Took(p[:n])
	return n, nil
}

// ready waits until there is text to read.
func (b *body) ready() error {
	switch {
	case b.closed.Load():
		return driver.Fail(fetch.OpRead, b.loc, fetch.ErrConnectionFailed, errClosed)
	case b.err != nil:
		return b.err
	case b.ctx.Err() != nil:
		b.err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrOther, b.ctx.Err())
		return b.err
	case len(b.text) > 0:
		return nil
	}
	if b.err = b.next(); b.err == nil {
		return b.checkLimit()
	}
	if errors.Is(b.err, errNoAnswer) {
		b.err = &fetch.Error{Op: fetch.OpRead, URL: b.loc.Redacted(), Kind: fetch.ErrTruncated, Err: errNoAnswer}
	}
	return b.err
}

// checkLimit enforces Limits.Body.
func (b *body) checkLimit() error {
	limit := b.limits.Body
	if limit == 0 || b.read+int64(len(b.text)) <= limit {
		return nil
	}
	b.err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrTooLarge, fmt.Errorf("the document is longer than %d bytes", limit))
	return b.err
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.conn.Close()
}
