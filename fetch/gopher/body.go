package gopher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// body is the Body of a response that is read from a connection.
type body struct {
	ctx   context.Context
	loc   locator.Locator
	conn  *wire.Conn
	trace *fetch.Trace
	src   io.Reader // without framing
	raw   *source   // src if there is no framing, else nil

	room   int64 // how many more bytes Limits.Body permits
	left   int64 // how many more bytes are requested
	err    error // the result of all further reads
	closed atomic.Bool
}

// unbounded means no limit on a number of bytes.
const unbounded = 1 << 62

func newBody(x *exchange) *body {
	limit := x.limits.Body
	if limit == 0 {
		limit = unbounded
	}
	return &body{ctx: x.ctx, loc: x.loc, conn: x.conn, trace: driver.ContextTrace(x.ctx), room: limit, left: unbounded}
}

// receivedBody is a body that has already been received.
type receivedBody struct{ *bytes.Reader }

func newReceivedBody(b []byte) receivedBody { return receivedBody{bytes.NewReader(b)} }

// Close implements io.Closer.
func (receivedBody) Close() error { return nil }

// part skips what comes before offset and ends the body after length octets.
func (b *body) part(offset, length int64) error {
	if offset > 0 {
		skipped, err := io.Copy(io.Discard, io.LimitReader(wire.ReaderFunc(b.read), offset))
		switch {
		case err != nil:
			return err
		case skipped < offset:
			return driver.Fail(fetch.OpRead, b.loc, fetch.ErrBadRange, fmt.Errorf("offset %d is beyond the end; the document has %d bytes", offset, skipped))
		}
	}
	if length > 0 {
		b.left = length
	}
	return nil
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.read(p)
	if n > 0 {
		b.trace.Took(p[:n])
	}
	return n, err
}

var errClosed = errors.New("the body is closed")

// check returns the error with which a read fails before it begins.
func (b *body) check() error {
	switch {
	case b.closed.Load():
		return driver.Fail(fetch.OpRead, b.loc, fetch.ErrConnectionFailed, errClosed)
	case b.err != nil:
		return b.err
	case b.ctx.Err() != nil:
		b.fail(b.ctx.Err())
		return b.err
	case b.left == 0:
		return io.EOF
	}
	return nil
}

// fail sets the result of this read and all further ones.
func (b *body) fail(err error) {
	b.err = io.EOF
	if err != io.EOF {
		b.err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrOther, err)
	} else {
		_ = b.conn.Close() // even if the Resource is kept open
	}
}

// read is Read without a call of the Trace.
func (b *body) read(p []byte) (int, error) {
	if err := b.check(); err != nil || len(p) == 0 {
		return 0, err
	}
	if b.room == 0 {
		return 0, b.endAtLimit()
	}
	n, err := b.src.Read(p[:min(int64(len(p)), b.room, b.left)])
	b.room -= int64(n)
	b.left -= int64(n)
	if err != nil {
		b.fail(err)
		if n > 0 {
			err = nil // the next read returns it
		} else {
			err = b.err
		}
	}
	return n, err
}

// endAtLimit returns io.EOF if the body ends exactly at the limit, else an error.
func (b *body) endAtLimit() error {
	n, err := io.ReadFull(b.src, make([]byte, 1))
	if n > 0 {
		err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrTooLarge, errors.New("the body is longer than the limit"))
	}
	b.fail(err)
	return b.err
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.conn.Close()
}

// rawBody is a body without framing. Its bytes can go to a file without passing through user space.
type rawBody struct{ *body }

// spliced is the maximum number of bytes of one splice.
const spliced = 1 << 20

// WriteTo implements io.WriterTo.
func (b *rawBody) WriteTo(w io.Writer) (written int64, err error) {
	file, isFile := w.(*os.File)
	tcp, isTCP := b.conn.Conn.(*net.TCPConn)
	if !isFile || !isTCP || b.trace.Taps() {
		return io.Copy(w, wire.ReaderFunc(b.Read))
	}
	return b.toFile(file, tcp)
}

// toFile copies from conn, the underlying connection, to a file.
func (b *rawBody) toFile(file *os.File, conn io.Reader) (written int64, err error) {
	for err == nil {
		var n int64
		if len(b.raw.head) > 0 || b.raw.err != nil || b.room == 0 {
			n, err = b.copyHead(file)
		} else {
			n, err = b.splice(file, conn)
		}
		written += n
	}
	if err == io.EOF {
		err = nil
	}
	return written, err
}

// copyHead writes what has already been received.
func (b *rawBody) copyHead(file *os.File) (int64, error) {
	buf := wire.GetBuffer()
	defer wire.PutBuffer(buf)
	n, err := b.Read(buf[:])
	if n > 0 {
		if _, err := file.Write(buf[:n]); err != nil {
			b.err = driver.Fail(fetch.OpWrite, b.loc, fetch.ErrLocalIO, err)
			return 0, b.err
		}
	}
	return int64(n), err
}

// splice lets the kernel move bytes from the connection to a file. It is an error if no byte
// arrives within the time limit.
func (b *rawBody) splice(file *os.File, conn io.Reader) (int64, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	if err := b.conn.Arm(); err != nil {
		b.fail(err)
		return 0, b.err
	}
	want := min(spliced, b.room, b.left)
	n, err := file.ReadFrom(io.LimitReader(conn, want))
	b.room -= n
	b.left -= n
	if n > 0 {
		b.trace.Body(n)
	}
	switch err = b.conn.Cause(err); {
	case err == nil && n < want:
		b.fail(io.EOF)
	case err == nil || n > 0 && errors.Is(err, os.ErrDeadlineExceeded) && b.ctx.Err() == nil:
		return n, nil
	case fetch.KindOf(err) == fetch.ErrOther:
		b.err = driver.Fail(fetch.OpWrite, b.loc, fetch.ErrLocalIO, err)
	default:
		b.fail(err)
	}
	return n, b.err
}
