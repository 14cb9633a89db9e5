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
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// document returns the resource of an open file, and takes ownership of the file.
func (a *access) document(ctx context.Context, file *os.File, info fs.FileInfo) (*fetch.Resource, error) {
	res := &fetch.Resource{Attributes: attributesOf(info), Locator: a.loc}
	if res.Size >= 0 && !hasSize(file, res.Size) {
		res.Size = -1
	}
	left, err := a.window(file, res.Size, info.Mode().IsRegular())
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
	b := &body{ctx: ctx, a: a, file: file, left: left, known: res.Size >= 0, room: room, trace: driver.ContextTrace(ctx)}
	// A read from a device or pipe may block.
	b.stop = context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	res.Body = b
	return res, nil
}

// hasSize reports whether a file can have the size that it states. The system generates some files
// when they are read: those in /proc state 0, those in /sys a page.
func hasSize(file *os.File, size int64) bool {
	if size == 0 {
		return !hasByte(file, 0)
	}
	return hasByte(file, size-1)
}

// hasByte reports whether a file reaches beyond an offset, or cannot be read there.
func hasByte(file *os.File, offset int64) bool {
	_, err := file.ReadAt(make([]byte, 1), offset)
	return err != io.EOF
}

// unbounded is greater than the size of any file.
const unbounded = 1 << 62

// window seeks to the start of the requested range and returns its maximum length. size is -1 if
// unknown, as that of files that are not regular, which cannot be read from an offset.
func (a *access) window(file *os.File, size int64, regular bool) (int64, error) {
	offset, length := a.req.Offset, a.req.Length
	if length == 0 {
		length = unbounded
	}
	bad := func(why string) (int64, error) {
		return 0, a.fail(fetch.OpSeek, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New(why)})
	}
	switch {
	case size < 0 && (offset < 0 || offset > 0 && !regular):
		return bad("an offset requires a known file size")
	case size < 0 && offset > 0 && !hasByte(file, offset-1):
		return bad(fmt.Sprintf("offset %d is beyond the end of the file", offset))
	case size >= 0 && offset > size:
		return bad(fmt.Sprintf("offset %d is beyond the end of the file (%d bytes)", offset, size))
	case offset < 0:
		offset = max(0, size+offset)
	}
	if offset > 0 {
		if _, err := file.Seek(offset, io.SeekStart); err != nil {
			return 0, a.fail(fetch.OpSeek, err)
		}
	}
	if size < 0 {
		return length, nil
	}
	return min(length, size-offset), nil
}

// body is the Body of a file. It ends at the size that the file had when it was opened.
type body struct {
	ctx    context.Context
	a      *access
	file   *os.File
	left   int64 // bytes left in the requested range
	known  bool  // the file has at least left more bytes
	room   int64 // bytes left of Limits.Body
	trace  *fetch.Trace
	stop   func() bool
	closed atomic.Bool
}

// tooLarge returns the error of a document that is larger than Limits.Body.
func tooLarge(limit int64) error {
	return &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("more than %d bytes", limit)}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	n, err := b.file.Read(p[:min(int64(len(p)), b.left, b.room)])
	b.count(int64(n))
	if n > 0 {
		b.trace.Octets(p[:n])
	}
	return n, b.endError(err)
}

// check returns the error of a read that must not start.
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

// count records n bytes that are returned to the caller.
func (b *body) count(n int64) {
	if n > 0 {
		b.left -= n
		b.room -= n
		b.trace.Body(n)
	}
}

// endError returns the error that the caller of Read gets.
func (b *body) endError(err error) error {
	switch {
	case err == nil:
		return nil
	case b.ctx.Err() != nil:
		return b.a.fail(fetch.OpRead, b.ctx.Err())
	case err == io.EOF && b.known && b.left > 0:
		return b.a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrTruncated, Err: fmt.Errorf("the file shrank while it was read; %d bytes are missing", b.left)})
	case err == io.EOF:
		b.left = 0
		return io.EOF
	}
	return b.a.fail(fetch.OpRead, err)
}

// copied is the number of bytes copied between two checks of the context.
const copied = 8 << 20

// WriteTo implements io.WriterTo. If w is a file, the system may copy without passing the bytes
// through the program.
func (b *body) WriteTo(w io.Writer) (written int64, err error) {
	if b.trace.Taps() {
		return wire.Copy(w, b)
	}
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
		if err != nil && !b.isReadError(err) {
			return written, err
		}
		if err == nil && n < size {
			err = io.EOF
		}
		if err := b.endError(err); err != nil && err != io.EOF {
			return written, err
		}
	}
}

// isReadError reports whether an error is from reading the file, and not from writing the output.
func (b *body) isReadError(err error) bool {
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
