package transfer

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A source is the data of an upload: a file or standard input. The caller must close it.
type source struct {
	file  io.ReadCloser
	flow  io.Reader     // file, with rate limit and trace
	count *atomic.Int64 // bytes read
}

// newSource opens a file; "-" and "." mean in. The file is read through the reader that
// flow returns, and count is increased by the bytes read.
func newSource(ctx context.Context, name string, in io.Reader, flow func(io.Reader) io.Reader, count *atomic.Int64) (*source, error) {
	if stdio.IsStdin(name) {
		file := stdio.Interruptible(ctx, in)
		return &source{file, flow(file), count}, nil
	}
	f, err := os.Open(name)
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			_ = f.Close()
			err = fmt.Errorf("%s is a directory", name)
		}
	}
	if err != nil {
		return nil, localerr.New(localerr.Read, err)
	}
	return &source{f, flow(f), count}, nil
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.flow.Read(p)
	s.count.Add(int64(n))
	return n, err
}

// Close implements io.Closer.
func (s *source) Close() error { return s.file.Close() }

// Reader returns s, as an io.Seeker if the file is one.
func (s *source) Reader() io.Reader {
	if f, ok := s.file.(*os.File); ok {
		return rewindable{s, f}
	}
	return s
}

// rewindable counts the bytes read since the last Seek.
type rewindable struct {
	*source
	f *os.File
}

func (r rewindable) Seek(offset int64, whence int) (int64, error) {
	r.count.Store(0)
	return r.f.Seek(offset, whence)
}

// File returns the file if its bytes go through nothing else, so that the kernel can send them, and
// nil otherwise. They are not counted.
func (s *source) File() *os.File {
	f, ok := s.file.(*os.File)
	if !ok || s.flow != io.Reader(f) || s.regular() == nil {
		return nil
	}
	return f
}

// Size returns the size of a regular file, or -1 for anything else.
func (s *source) Size() int64 {
	if info := s.regular(); info != nil {
		return info.Size()
	}
	return -1
}

// ModTime returns the modification time of a regular file, or the zero Time for
// anything else.
func (s *source) ModTime() time.Time {
	if info := s.regular(); info != nil {
		return info.ModTime()
	}
	return time.Time{}
}

// regular returns nil unless s is a regular file.
func (s *source) regular() os.FileInfo {
	if f, ok := s.file.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info
		}
	}
	return nil
}

// Skip discards n bytes.
func (s *source) Skip(n int64) error {
	if f, ok := s.file.(*os.File); ok {
		if _, err := f.Seek(n, io.SeekCurrent); err == nil {
			return nil
		}
	}
	if _, err := io.CopyN(io.Discard, s.file, n); err != nil {
		return localerr.Errorf(localerr.Read, "cannot skip %d bytes: %w", n, err)
	}
	return nil
}
