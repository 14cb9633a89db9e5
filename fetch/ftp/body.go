package ftp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// body is the octets of a transfer. It ends in io.EOF only when the data
// connection has ended, the server has said that the transfer is complete, and
// as many octets came as it told before. More may come, as a file may grow
// meanwhile. Close may run beside the other methods.
type body struct {
	mu   sync.Mutex
	s    *session
	a    *access
	free func(*session) // gives the session back; nil once that is done
	data *dataConn
	src  io.Reader  // data, or its text with local newlines
	left int64      // what Request.Length leaves; -1: no bound
	due  int64      // octets that the server will send; -1 when not known
	got  int64      // octets that it has sent
	grow int64      // how many more than due it may send
	from int64      // where in the file it began
	size int64      // of the file; -1 when not known
	redo redo       // nil once it has been tried
	swap sync.Mutex // held to change data, beside mu
	err  error      // what every further Read gives
}

func newBody(s *session, a *access, b begun, redo redo, free func(*session)) *body {
	body := &body{s: s, a: a, free: free, data: s.data, left: -1, due: -1, grow: maxGrowth, from: b.offset, size: b.size, redo: redo}
	body.src = readerFunc(body.receive)
	if a.ascii() {
		body.src = newLocalText(body.src)
	} else if b.size >= 0 {
		body.due = b.size - b.offset
	} else if b.offset == 0 {
		body.due = s.ctl.announced
	}
	if a.req.Length > 0 {
		body.left = a.req.Length
	}
	if a.req.Offset < 0 && body.due >= 0 { // so many octets from the end, and the end is told
		body.left = body.due
		if a.req.Length > 0 {
			body.left = min(body.left, a.req.Length)
		}
	}
	return body
}

// maxGrowth is how many octets more than its size a file may have. What a server
// sends beyond has no end.
const maxGrowth = 64 << 20

// receive reads from the data connection and counts.
func (b *body) receive(p []byte) (int, error) {
	n, err := b.data.Read(p)
	b.got += int64(n)
	return n, err
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && b.left == 0 {
		b.err = b.cut()
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.src.Read(p)
	b.count(int64(n))
	b.err = b.ending(err)
	return n, b.err
}

// count notes octets that go to the caller.
func (b *body) count(n int64) {
	if n > 0 {
		b.a.trace.Body(n)
	}
	if b.left > 0 {
		b.left -= n
	}
}

// ending is the error of a read of the data as the caller gets it.
func (b *body) ending(err error) error {
	switch {
	case b.due >= 0 && b.got-b.grow > b.due:
		err := fmt.Errorf("received %d bytes; server announced %d", b.got, b.due)
		return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrProtocol, Err: err})
	case err == nil:
		return nil
	case err == io.EOF:
		return b.complete()
	}
	err = b.data.Cause(err)
	if b.s.ctl.pending() {
		_ = b.s.finish() // the control connection may have ended, too
		if err, ok := b.again(); ok {
			return err
		}
	}
	if kind := fetch.KindOf(err); kind != fetch.ErrTimeout && kind != fetch.ErrCanceled {
		err = &fetch.Error{Kind: fetch.ErrTruncated, Err: err}
	}
	return b.refused(b.a.fail(b.a.verb, err))
}

// refused is err as it is to be understood where it comes before the first octet.
func (b *body) refused(err error) error {
	if b.got > 0 {
		return err
	}
	return b.data.refused(err)
}

// complete is the end of the data: the server has the last word, and nothing may
// be missing.
func (b *body) complete() error {
	if err := b.s.finish(); err != nil {
		if err, ok := b.again(); ok {
			return err
		}
		var e *fetch.Error
		if errors.As(err, &e) && e.Kind != fetch.ErrTimeout && e.Kind != fetch.ErrCanceled && e.Kind != fetch.ErrProtocol {
			e.Kind = fetch.ErrTruncated
		}
		return b.refused(err)
	}
	if b.due >= 0 && b.got < b.due {
		return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: fmt.Errorf("%d of %d octets", b.got, b.due)})
	}
	if err := b.a.quote(b.s, b.a.opt.PostQuote); err != nil {
		return err
	}
	b.release()
	return io.EOF
}

// cut is the end of the part that was wanted. If that is also the end of the
// whole it is checked as such; otherwise the transfer is broken off by Close.
func (b *body) cut() error {
	if b.due < 0 || b.got != b.due {
		return io.EOF
	}
	n, err := b.src.Read(make([]byte, 1))
	if n > 0 {
		return io.EOF
	}
	return b.ending(err)
}

func (b *body) release() {
	if b.free != nil {
		b.free(b.s)
		b.free = nil
	}
}

// Close implements io.Closer. A transfer that is not at its end is broken off,
// which takes a second at most, and its session is not used again.
func (b *body) Close() error {
	b.swap.Lock()
	b.data.Close() // which ends a Read that waits
	b.swap.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = os.ErrClosed
	}
	b.release()
	return nil
}

// WriteTo implements io.WriterTo.
func (b *body) WriteTo(w io.Writer) (total int64, err error) {
	if do := b.way(w); do != nil {
		return b.splice(do, w)
	}
	return wire.Copy(w, b)
}

// leastSplice is the least size of a file for which a splice is worth while: a smaller one
// costs no more calls without, and less than to look whether there can be one.
const leastSplice = 16 << 10

// A move moves so many octets from a connection without having them pass through the
// program; fewer if the connection ends.
type move func(size int64) (int64, error)

// way is the one to w, if there is one and it is worth while.
func (b *body) way(w io.Writer) move {
	if b.due >= 0 && b.due < leastSplice || b.a.ascii() || b.data.secured || !canSplice(b.data.raw) {
		return nil
	}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return b.toFile(f)
		}
	}
	return direct(b.data.raw, w)
}

// toFile is the way to a regular file. Others may refuse octets when it is too late.
func (b *body) toFile(f *os.File) move {
	return func(size int64) (int64, error) { return f.ReadFrom(&io.LimitedReader{R: b.data.raw, N: size}) }
}

// The portions of a splice: after each the progress is told and the time limit
// looked at.
const (
	spliceSize = 4 << 20
	spliceTime = 250 * time.Millisecond
)

// splice is WriteTo by such a way.
func (b *body) splice(do move, w io.Writer) (total int64, err error) {
	progress, data := time.Now(), b.data
	for {
		if data != b.data { // see again
			do, data = b.way(w), b.data
		}
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

// spliceSome moves a portion. That nothing comes is an error when there has been
// no progress for as long as the idle limit.
func (b *body) spliceSome(do move, progress time.Time) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && b.left == 0 {
		b.err = b.cut()
	}
	if b.err == nil {
		b.data.SetTimeout(spliceTime)
		defer b.data.SetTimeout(b.data.idle)
		b.err = b.ending(b.data.Arm())
	}
	if b.err != nil {
		return 0, b.err
	}
	size := int64(spliceSize)
	if b.left > 0 {
		size = min(size, b.left)
	}
	n, err := do(size)
	b.got += n
	b.count(n)
	timeout := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case err == nil && n < size:
		b.err = b.ending(io.EOF)
	case err == nil:
		b.err = b.ending(nil)
	case timeout && errors.Is(b.data.Cause(err), os.ErrDeadlineExceeded) && (n > 0 || b.data.idle == 0 || time.Since(progress) < b.data.idle):
		b.err = b.ending(nil) // the portion was too large for the time; no harm done
	case timeout, connectionError(err):
		b.data.SetTimeout(b.data.idle) // the limit that the error names
		b.err = b.ending(err)
	default:
		return n, err // that of what is written to
	}
	return n, b.err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
