package ftp

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// WriteTo implements io.WriterTo.
func (b *body) WriteTo(w io.Writer) (total int64, err error) {
	if do := b.direct(w); do != nil {
		b.repeat.seen = nil
		return b.splice(do, w)
	}
	return wire.Copy(w, b)
}

// compareMax is the size in bytes from which a file is moved although the port of the next transfer
// would be requested otherwise: what is moved cannot be compared by retry.
const compareMax = 1 << 20

// direct returns a Move to w. It returns nil if that is not possible, or the file is too small.
func (b *body) direct(w io.Writer) wire.Move {
	if b.asks && b.tally.expected < compareMax || b.tally.known() && b.tally.expected < wire.MoveMin || b.a.ascii() || b.data.secured || b.a.trace.Taps() || !wire.CanMove(b.data.raw) {
		return nil
	}
	if f := wire.RegularFile(w); f != nil {
		return b.moveTo(f)
	}
	if response, ok := w.(httpResponse); ok {
		return b.moveTo(response)
	}
	return wire.DirectMove(b.data.raw, w)
}

// An httpResponse is an http.ResponseWriter that can move bytes from a connection to its client. If
// the length of the response is known, that of net/http does it in the kernel.
type httpResponse interface {
	io.ReaderFrom
	WriteHeader(statusCode int)
}

// moveTo returns a Move to a regular file or a response.
func (b *body) moveTo(w io.ReaderFrom) wire.Move {
	return func(size int64) (int64, error) { return w.ReadFrom(&io.LimitedReader{R: b.data.raw, N: size}) }
}

// spliceSize is the maximum size of one call of a move, which takes at most lookInterval. After each
// call, progress is reported and the time limit checked.
const spliceSize = 4 << 20

// splice implements WriteTo with a Move.
func (b *body) splice(do wire.Move, w io.Writer) (total int64, err error) {
	if total, err = io.CopyN(w, b, int64(len(b.ahead.held))); err != nil {
		return total, err
	}
	progress := time.Now()
	for {
		n, err := b.spliceSome(do, progress)
		total += n
		if n > 0 {
			progress = time.Now()
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// spliceSome calls do once. It fails if there has been no progress for the time of the idle limit.
func (b *body) spliceSome(do wire.Move, progress time.Time) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && (b.tally.left == 0 || b.ahead.end != nil) {
		b.err = b.endOfRange()
	}
	if b.err == nil {
		b.data.limit(time.Since(progress))
		b.err = b.readError(b.data.Arm())
	}
	if b.err != nil {
		return 0, b.err
	}
	size := int64(spliceSize)
	if b.tally.left > 0 {
		size = min(size, b.tally.left)
	}
	n, err := do(size)
	b.tally.received += n
	b.returned(n)
	timeout := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case err == nil && n < size:
		b.err = b.readError(io.EOF)
	case err == nil, timeout && n > 0:
		b.err = b.readError(nil)
	case timeout:
		b.err = b.readError(b.data.look(progress))
	case wire.OfConnection(err):
		b.err = b.readError(err)
	default:
		return n, err // from the file that is written
	}
	return n, b.err
}
