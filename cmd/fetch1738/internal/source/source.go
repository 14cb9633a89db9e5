// Package source is what is uploaded: a file, or what standard input has.
package source

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A Source is what is uploaded. Close it.
type Source struct {
	file  io.ReadCloser
	flow  io.Reader     // file, as it is to be read
	count *atomic.Int64 // of what has been read
}

// Open opens a file; "-" and "." are in. It is read by what flow makes of it, and
// what is read is counted by count.
func Open(ctx context.Context, name string, in io.Reader, flow func(io.Reader) io.Reader, count *atomic.Int64) (*Source, error) {
	if stdio.IsStdin(name) {
		file := stdio.Interruptible(ctx, in)
		return &Source{file, flow(file), count}, nil
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
		return nil, fault.New(fault.Read, err)
	}
	return &Source{f, flow(f), count}, nil
}

// Read implements io.Reader.
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.flow.Read(p)
	s.count.Add(int64(n))
	return n, err
}

// Close implements io.Closer.
func (s *Source) Close() error { return s.file.Close() }

// Reader is s, as one that can be rewound if the file can.
func (s *Source) Reader() io.Reader {
	if f, ok := s.file.(*os.File); ok {
		return rewindable{s, f}
	}
	return s
}

// rewindable counts what is read since it was rewound last.
type rewindable struct {
	*Source
	f *os.File
}

func (r rewindable) Seek(offset int64, whence int) (int64, error) {
	r.count.Store(0)
	return r.f.Seek(offset, whence)
}

// Size is how much a regular file has to give; -1 for anything else.
func (s *Source) Size() int64 {
	if info := s.regular(); info != nil {
		return info.Size()
	}
	return -1
}

// ModTime is when a regular file was modified; zero for anything else.
func (s *Source) ModTime() time.Time {
	if info := s.regular(); info != nil {
		return info.ModTime()
	}
	return time.Time{}
}

// regular is nil unless s is a regular file.
func (s *Source) regular() os.FileInfo {
	if f, ok := s.file.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info
		}
	}
	return nil
}

// Skip passes over n octets.
func (s *Source) Skip(n int64) error {
	if f, ok := s.file.(*os.File); ok {
		if _, err := f.Seek(n, io.SeekCurrent); err == nil {
			return nil
		}
	}
	if _, err := io.CopyN(io.Discard, s.file, n); err != nil {
		return fault.Errorf(fault.Read, "cannot pass over %d octets: %w", n, err)
	}
	return nil
}
