package wais

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/z3950"
)

// sliceSize is how many octets are asked for at once. It is what waissearch and
// lynx ask for.
const sliceSize = 10000

// unbounded is more than any document has.
const unbounded = 1 << 62

var (
	errClosed  = errors.New("the body is closed")
	errFromEnd = fmt.Errorf("%w: the length is not known, to count from the end", fetch.ErrUnsupported)
	errTooMuch = errors.New("the server's answer has more octets than were asked for")
	errNoText  = errors.New("the server has nothing more to give")
)

// slice asks for the octets from start on, as many as come at once.
func (d *document) slice(start, until int64) *z3950.Search {
	return z3950.NewRetrieval(d.database, d.id, d.typ, start, min(until, start+sliceSize))
}

// span is where the octets wanted begin and end. A length of -1 is unknown.
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
		return 0, 0, fmt.Errorf("%w: offset %d is beyond the end, which is at %d", fetch.ErrBadRange, offset, size)
	}
	if length > 0 && length < until-offset {
		until = offset + length
	}
	return offset, until, nil
}

// body is the Body of a document. It asks for one slice after the other.
type body struct {
	*session
	doc    document
	start  int64 // where in the document it begins
	at     int64 // where in the document text ends
	until  int64 // where it ends, at the latest
	text   []byte
	ended  bool  // the server says that the document ends at at
	given  int64 // octets that were read
	err    error // of all further reads
	closed atomic.Bool
}

func (s *session) newBody(doc document, offset, length int64) (*body, error) {
	start, until, err := span(doc.length, offset, length)
	if err != nil {
		return nil, fetch.Fail(fetch.OpRetrieve, s.loc, fetch.KindOf(err), err)
	}
	return &body{session: s, doc: doc, start: start, at: start, until: until}, nil
}

// whole is a document in one piece, cut after max octets.
func (s *session) whole(doc document, max int64) (text []byte, err error) {
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

// begin gets the first octets.
func (b *body) begin() error {
	if b.at == b.until {
		return nil // and need not ask
	}
	err := b.next()
	if err == io.EOF {
		b.ended = true
		return nil
	}
	return err
}

// complete reports whether all of the document is there to be read.
func (b *body) complete() bool { return b.ended || b.at == b.doc.length }

// next gets more octets. Its error is io.EOF at the end of the document.
func (b *body) next() error {
	switch {
	case b.at == b.until:
		return io.EOF
	case b.ended:
		return b.end(nil, true)
	}
	asked := b.doc.slice(b.at, b.until)
	r, err := b.ask(fetch.OpRetrieve, asked)
	if err != nil {
		return err
	}
	b.text = textOf(r)
	if int64(len(b.text)) > min(b.until-b.at, sliceSize) {
		b.text = nil
		return fetch.Fail(fetch.OpRetrieve, b.loc, fetch.ErrProtocol, errTooMuch)
	}
	b.at += int64(len(b.text))
	d := complaint(r)
	if len(b.text) > 0 {
		// Text with a complaint about the range is the last.
		b.ended = d != nil && d.beyond()
		return nil
	}
	return b.end(d, b.text != nil)
}

// textOf is the text in an answer.
func textOf(r *z3950.SearchResponse) []byte {
	for record := range r.Records() {
		if record.Text != nil {
			return record.Text
		}
	}
	return nil
}

// end judges an answer without text, or with a text of no octets: only the
// latter is the document.
func (b *body) end(d *Diagnostic, answered bool) error {
	first := b.at == b.start
	switch {
	case d != nil && !d.beyond() && first:
		return fetch.Fail(fetch.OpRetrieve, b.loc, d.kind(), d)
	case d != nil && !d.beyond():
		return fetch.Fail(fetch.OpRetrieve, b.loc, fetch.ErrTruncated, d)
	case d != nil && first && b.start > 0:
		return fetch.Fail(fetch.OpRetrieve, b.loc, fetch.ErrBadRange, d)
	case d != nil && first && !answered:
		return fetch.Fail(fetch.OpRetrieve, b.loc, fetch.ErrNotFound, d)
	case b.doc.length >= 0:
		return fetch.Fail(fetch.OpRetrieve, b.loc, fetch.ErrTruncated,
			fmt.Errorf("%w after octet %d of %d", errNoText, b.at, b.doc.length))
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
	b.given += int64(n)
	b.trace.Body(int64(n))
	return n, nil
}

// ready waits until there is text to be read.
func (b *body) ready() error {
	switch {
	case b.closed.Load():
		return fetch.Fail(fetch.OpRead, b.loc, fetch.ErrConnectionFailed, errClosed)
	case b.err != nil:
		return b.err
	case b.ctx.Err() != nil:
		b.err = fetch.Fail(fetch.OpRead, b.loc, fetch.ErrOther, b.ctx.Err())
		return b.err
	case len(b.text) > 0:
		return nil
	}
	if b.err = b.next(); b.err == nil {
		return b.bounded()
	}
	if errors.Is(b.err, errNoAnswer) {
		b.err = &fetch.Error{Op: fetch.OpRead, URL: b.loc.Redacted(), Kind: fetch.ErrTruncated, Err: errNoAnswer}
	}
	return b.err
}

// bounded holds Limits.Body.
func (b *body) bounded() error {
	limit := b.limits.Body
	if limit == 0 || b.given+int64(len(b.text)) <= limit {
		return nil
	}
	b.err = fetch.Fail(fetch.OpRead, b.loc, fetch.ErrTooLarge, fmt.Errorf("the document is longer than %d octets", limit))
	return b.err
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.conn.Close()
}
