package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// document is the resource of an open file, which it takes over.
func (a *access) document(ctx context.Context, file *os.File, info fs.FileInfo) (*fetch.Resource, error) {
	res := &fetch.Resource{Attributes: attributesOf(info), Locator: a.loc}
	if res.Size == 0 && hasOctets(file) {
		res.Size = -1
	}
	left, err := a.window(file, res.Size)
	if err != nil {
		file.Close()
		return nil, err
	}
	room := int64(unbounded)
	if limit := a.env.Limits.Body; limit > 0 {
		room = limit
	}
	if left > room {
		file.Close()
		return nil, a.fail(fetch.OpRead, tooLarge(room))
	}
	b := &body{ctx: ctx, a: a, file: file, left: left, known: res.Size >= 0, room: room, trace: fetch.ContextTrace(ctx)}
	// A device or pipe may keep a read waiting.
	b.stop = context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	res.Body = b
	return res, nil
}

// hasOctets reports whether a file whose size is given as 0 has some all the
// same, as those have that the system makes up when they are read (/proc).
func hasOctets(file *os.File) bool {
	n, _ := file.ReadAt(make([]byte, 1), 0)
	return n > 0
}

// unbounded is more than any file has.
const unbounded = 1 << 62

// window goes to where the request begins and says how many octets it comes to
// at most. The size is -1 for what has none.
func (a *access) window(file *os.File, size int64) (int64, error) {
	offset, length := a.req.Offset, a.req.Length
	if length == 0 {
		length = unbounded
	}
	if size < 0 {
		if offset != 0 {
			return 0, a.fail(fetch.OpSeek, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("an offset into what has no size")})
		}
		return length, nil
	}
	if offset < 0 {
		offset = max(0, size+offset)
	}
	if offset > size {
		return 0, a.fail(fetch.OpSeek, &fetch.Error{Kind: fetch.ErrBadRange, Err: fmt.Errorf("offset %d of a file of %d octets", offset, size)})
	}
	if offset > 0 {
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			return 0, a.fail(fetch.OpSeek, err)
		}
	}
	return min(length, size-offset), nil
}

// body is the octets of a file, as many as it had when it was opened.
type body struct {
	ctx    context.Context
	a      *access
	file   *os.File
	left   int64 // octets wanted
	known  bool  // left is how many there are
	room   int64 // octets that Limits.Body permits
	trace  *fetch.Trace
	stop   func() bool
	closed atomic.Bool
}

func tooLarge(limit int64) error {
	return &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("more than %d octets", limit)}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	n, err := b.file.Read(p[:min(int64(len(p)), b.left, b.room)])
	b.count(int64(n))
	return n, b.ending(err)
}

// check is what a read fails with before it has begun.
func (b *body) check() error {
	switch {
	case b.closed.Load():
		return b.a.fail(fetch.OpRead, fs.ErrClosed)
	case b.ctx.Err() != nil:
		return b.a.fail(fetch.OpRead, b.ctx.Err())
	case b.left == 0:
		return io.EOF
	case b.room == 0:
		return b.a.fail(fetch.OpRead, tooLarge(b.a.env.Limits.Body))
	}
	return nil
}

func (b *body) count(n int64) {
	if n > 0 {
		b.left -= n
		b.room -= n
		b.trace.Body(n)
	}
}

// ending is the error of a read as the caller gets it.
func (b *body) ending(err error) error {
	switch {
	case err == nil:
		return nil
	case b.ctx.Err() != nil:
		return b.a.fail(fetch.OpRead, b.ctx.Err())
	case err == io.EOF && b.known && b.left > 0:
		return b.a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrTruncated, Err: fmt.Errorf("the file lost its last %d octets while it was read", b.left)})
	case err == io.EOF:
		b.left = 0
		return io.EOF
	}
	return b.a.fail(fetch.OpRead, err)
}

// copied is how much is copied between two looks at the context.
const copied = 8 << 20

// WriteTo implements io.WriterTo: between files the system copies by itself.
func (b *body) WriteTo(w io.Writer) (written int64, err error) {
	for {
		if err := b.check(); err == io.EOF {
			return written, nil
		} else if err != nil {
			return written, err
		}
		size := min(copied, b.left, b.room)
		n, err := io.Copy(w, io.LimitReader(b.file, size))
		written += n
		b.count(n)
		if err != nil && !b.mine(err) {
			return written, err
		}
		if err == nil && n < size {
			err = io.EOF
		}
		if err := b.ending(err); err != nil && err != io.EOF {
			return written, err
		}
	}
}

// mine reports whether an error is one of reading the file; else it is the
// output's.
func (b *body) mine(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op == "read" && path.Path == b.file.Name()
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	b.stop()
	return b.file.Close()
}
