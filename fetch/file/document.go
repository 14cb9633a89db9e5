package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
)

// document is the resource of an open file, which it takes over.
func (a *access) document(ctx context.Context, file *os.File, info fs.FileInfo) (*fetch.Resource, error) {
	res := &fetch.Resource{Attributes: attributesOf(info), Locator: a.loc}
	left, err := a.window(file, info)
	if err != nil {
		file.Close()
		return nil, err
	}
	if limit := a.env.Limits.Body; limit > 0 && left > limit {
		file.Close()
		return nil, a.fail("read", &fetch.Error{Kind: fetch.TooLarge, Err: fmt.Errorf("more than %d octets", limit)})
	}
	res.Body = &body{ctx: ctx, a: a, file: file, left: left, trace: fetch.ContextTrace(ctx)}
	return res, nil
}

// window goes to where the request begins and says how many octets it comes to,
// or -1 for a device, which has no size.
func (a *access) window(file *os.File, info fs.FileInfo) (int64, error) {
	offset, length := a.req.Offset, a.req.Length
	if !info.Mode().IsRegular() {
		if offset != 0 {
			return 0, a.fail("seek", &fetch.Error{Kind: fetch.BadRange, Err: errors.New("a part of what is no regular file")})
		}
		if length == 0 {
			length = -1
		}
		return length, nil
	}
	size := info.Size()
	if offset < 0 {
		offset = max(0, size+offset)
	}
	if offset > size {
		return 0, a.fail("seek", &fetch.Error{Kind: fetch.BadRange, Err: fmt.Errorf("offset %d of a file of %d octets", offset, size)})
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, a.fail("seek", err)
	}
	if left := size - offset; length == 0 || length > left {
		length = left
	}
	return length, nil
}

// body is the octets of a file, as many as it had when it was opened.
type body struct {
	ctx    context.Context
	a      *access
	file   *os.File
	left   int64 // -1: to the end
	trace  *fetch.Trace
	closed atomic.Bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.file.Read(p)
	b.count(int64(n))
	return n, b.ending(err)
}

// check is what a read fails with before it has begun.
func (b *body) check() error {
	if b.closed.Load() {
		return b.a.fail("read", fs.ErrClosed)
	}
	if err := b.ctx.Err(); err != nil {
		return b.a.fail("read", err)
	}
	return nil
}

func (b *body) count(n int64) {
	if n == 0 {
		return
	}
	b.trace.Body(n)
	if b.left > 0 {
		b.left -= n
	}
}

// ending is the error of a read as the caller gets it.
func (b *body) ending(err error) error {
	switch {
	case err == nil, err == io.EOF && b.left <= 0:
		return err
	case err == io.EOF:
		return b.a.fail("read", &fetch.Error{Kind: fetch.Truncated, Err: fmt.Errorf("the file lost its last %d octets while it was read", b.left)})
	}
	return b.a.fail("read", err)
}

// copied is how much is copied between two looks at the context.
const copied = 8 << 20

// WriteTo implements io.WriterTo: between files the system copies by itself.
func (b *body) WriteTo(w io.Writer) (written int64, err error) {
	for {
		if err := b.check(); err != nil {
			return written, err
		}
		if b.left == 0 {
			return written, nil
		}
		size := int64(copied)
		if b.left > 0 {
			size = min(size, b.left)
		}
		n, err := io.Copy(w, io.LimitReader(b.file, size))
		written += n
		b.count(n)
		switch {
		case err != nil:
			return written, err
		case n < size && b.left <= 0:
			return written, nil
		case n < size:
			return written, b.ending(io.EOF)
		}
	}
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.file.Close()
}
