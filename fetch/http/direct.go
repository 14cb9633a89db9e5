package http

import (
	"errors"
	"io"
	"net"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A loan is a file that a body lends to its connection, with a buffer. When net/http has the
// connection read a part of the body into this buffer, the connection moves the bytes to the file
// instead, without passing them through the program, and returns their number. net/http counts them
// and does not look at them. Bytes that net/http reads in another way, such as those that came with
// the head, go to the buffer as usual. So a version of net/http that reads in other ways would only
// be slower.
type loan struct {
	file   *os.File
	buf    []byte
	body   *body
	moved  int   // bytes of the last read that are in the file; buf has the others, behind them
	total  int64 // bytes of all reads that were moved
	stored int64 // bytes of all reads that are in the file
	err    error // of the file
}

// moveMax is the maximum size of the buffer. The system provides memory for those parts that are
// written to.
const moveMax = 1 << 20

var errLostCount = errors.New("net/http does not count bytes as expected")

// WriteTo implements io.WriterTo.
func (b *body) WriteTo(w io.Writer) (int64, error) {
	size := b.to - b.at
	if b.to < 0 {
		size = moveMax
	}
	if size >= wire.MoveMin && !b.call.hooks.to.Taps() && wire.CanMove(b.exchange.current().Conn) {
		if f := wire.RegularFile(w); f != nil {
			return b.copyTo(&loan{file: f, buf: make([]byte, min(size, moveMax))})
		}
	}
	return wire.Copy(w, b)
}

// copyTo writes b to the file of l.
func (b *body) copyTo(l *loan) (written int64, err error) {
	l.body, b.loan = b, l
	defer func() { b.exchange.lend(nil) }()
	for err == nil {
		b.exchange.lend(l)
		l.moved = 0
		var n int
		n, err = b.Read(l.buf)
		written += int64(l.moved)
		switch {
		case l.err != nil:
			return written, l.err
		case n < l.moved:
			return written, fetch.Fail(b.call.method, b.call.locator, fetch.ErrOther, errLostCount)
		case n > l.moved:
			n, failed := l.file.Write(l.buf[l.moved:n])
			written += int64(n)
			l.stored += int64(n)
			if failed != nil {
				return written, failed
			}
		}
	}
	if err == io.EOF {
		err = nil
	}
	return written, err
}

// lend makes l the loan of the connection. nil ends the loan.
func (ex *exchange) lend(l *loan) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.loan = l
}

// borrowed returns the loan if a read of c into p, which has not begun, is one of the body into its
// buffer.
func (ex *exchange) borrowed(c *conn, p []byte) *loan {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.loan == nil || ex.conn != c || len(p) == 0 || &p[0] != &ex.loan.buf[0] {
		return nil
	}
	if body, ok := ex.framing.body.(*counted); !ok || body.left < int64(len(p)) {
		return nil
	}
	return ex.loan
}

// read moves bytes from c to the file, at most len(p). It waits for them as a Read does. If it
// returns 0 without an error, a Read must follow.
func (l *loan) read(c net.Conn, p []byte) (int, error) {
	n, err := wire.Arrived(c, p)
	if n == 0 || err != nil {
		return 0, err
	}
	if l.body.idle != nil {
		l.body.idle.Stop() // the file may take its time
	}
	moved, err := l.file.ReadFrom(&io.LimitedReader{R: c, N: int64(n)})
	l.moved = int(moved)
	l.total += moved
	l.stored += moved
	if err != nil && !wire.OfConnection(err) {
		l.err = err
	}
	return l.moved, err
}

// last returns the last bytes of the file, at most n. The file must be readable.
func (l *loan) last(n int) ([]byte, error) {
	end, err := l.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	last := make([]byte, min(int64(n), l.stored))
	_, err = l.file.ReadAt(last, end-int64(len(last)))
	return last, err
}
