package nntp

import (
	"errors"
	"io"
	"iter"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// body is the Body of a Resource.
type body struct {
	s   *session // nil after its release
	op  fetch.Op
	src io.Reader
	err error // returned by every further Read
}

// newBody returns the body that is one block.
func newBody(b *block) *body { return &body{s: b.s, op: b.op, src: b} }

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.readFrom(b.src, p)
	if err == io.EOF {
		b.finish()
	}
	return n, err
}

// readFrom reads from a part of the body, whose end is not an error of the body.
func (b *body) readFrom(part io.Reader, p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := part.Read(p)
	if n > 0 {
		b.s.Trace.Took(p[:n])
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// finish ends a body that is complete.
func (b *body) finish() {
	b.err = io.EOF
	b.release()
}

// release ends the use of the session. Further calls do nothing.
func (b *body) release() {
	if b.s != nil {
		b.s.access.f.release(b.s)
		b.s = nil
	}
}

// Close implements io.Closer. If the rest of a single block has already arrived, Close reads it.
// Otherwise it closes the connection, because NNTP has no command to abort a block, and a series of
// articles has more replies on the way.
func (b *body) Close() error {
	if b.err == nil {
		b.err = b.s.access.fail(b.op, &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: os.ErrClosed})
		b.s.state = receiving
		if block, ok := b.src.(*block); ok && b.s.Err == nil && block.dots.Ends() {
			b.s.state = ready
		}
	}
	b.release()
	return nil
}

// block is the block after a reply. The errors of its methods are io.EOF and those of the access.
type block struct {
	s    *session
	op   fetch.Op
	dots *wire.DotReader
}

// openBlock returns the block after the reply just received.
func openBlock(s *session, op fetch.Op) *block {
	s.state = receiving
	return &block{s, op, s.Block()}
}

// listing prepares b for a listing (see [wire.DotReader.Listing]).
func (b *block) listing() *block {
	b.dots.Listing()
	return b
}

// Read implements io.Reader.
func (b *block) Read(p []byte) (int, error) {
	if err := b.s.canceled(b.op); err != nil {
		return 0, err
	}
	n, err := b.dots.Read(p)
	return n, b.ended(err)
}

// readLine returns the next whole line. A line that is cut off is skipped; the next read returns the
// error.
func (b *block) readLine() ([]byte, error) {
	for {
		line, err := b.dots.ReadLine()
		if err != nil || line[len(line)-1] == '\n' {
			return line, b.ended(err)
		}
	}
}

// lines yields the lines, without their ends.
func (b *block) lines() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for {
			line, err := b.readLine()
			if err == io.EOF || !yield(string(wire.TrimEOL(line)), err) || err != nil {
				return
			}
		}
	}
}

// header reads the header of an article. If the block ends with it, the error is io.EOF.
func (b *block) header() (header, error) {
	h, err := readHeader(b.dots.ReadLine, b.s.Limits.Header)
	return h, b.ended(err)
}

// ended returns the error for that of a read. After any but io.EOF the data is incomplete.
func (b *block) ended(err error) error {
	switch err {
	case nil:
		return nil
	case io.EOF:
		b.s.state = ready
		return err
	}
	_ = b.s.Fail(err)
	switch kind := fetch.KindOf(err); {
	case errors.Is(err, wire.ErrLineTooLong):
		err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &fetch.Error{Kind: fetch.ErrTruncated, Err: errors.New("the connection ended before the final dot")}
	case kind != fetch.ErrTimeout && kind != fetch.ErrCanceled && kind != fetch.ErrTooLarge && kind != fetch.ErrProtocol:
		err = &fetch.Error{Kind: fetch.ErrTruncated, Err: err}
	}
	return b.s.access.fail(b.op, err)
}

// portion is how many bytes the fill of a text appends at a time, or a little more.
const portion = 16 << 10

// text reads what fill appends to a slice. What fill has appended before an error comes first.
type text struct {
	s       *session
	op      fetch.Op
	fill    func(to []byte) ([]byte, error)
	pending []byte
	store   []byte // pending is a part of it
	err     error
}

// newText returns a body that is made of the replies to many commands.
func newText(s *session, op fetch.Op, fill func([]byte) ([]byte, error)) *body {
	return &body{s: s, op: op, src: &text{s: s, op: op, fill: fill}}
}

// Read implements io.Reader.
func (t *text) Read(p []byte) (int, error) {
	for len(t.pending) == 0 && t.err == nil {
		if t.err = t.s.canceled(t.op); t.err == nil {
			t.pending, t.err = t.fill(t.store[:0])
			t.store = t.pending
		}
	}
	if len(t.pending) == 0 {
		return 0, t.err
	}
	n := copy(p, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}
