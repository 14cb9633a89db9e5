package ftp

import (
	"errors"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A source reads the data to upload. It records its own error.
type source struct {
	r     io.Reader
	file  *os.File // r, if it is a regular file, which the kernel can send
	start int64    // the offset in r, or -1 if it cannot be read again
	n     int64
	err   error
	trace *fetch.Trace
}

// newSource returns a source of r. One that can seek starts at its current position.
func newSource(r io.Reader, trace *fetch.Trace) *source {
	s := &source{r: r, start: -1, trace: trace}
	if f, ok := r.(*os.File); ok {
		s.file = wire.RegularFile(f)
	}
	if seeker, ok := r.(io.Seeker); ok {
		if at, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			s.start = at
		}
	}
	return s
}

// rewind returns to the start, for another attempt.
func (s *source) rewind() error {
	if s.n == 0 {
		return nil
	}
	if s.start < 0 {
		return errors.New("the data to upload cannot be read again")
	}
	s.n = 0
	_, err := s.r.(io.Seeker).Seek(s.start, io.SeekStart)
	return err
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.count(int64(n))
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// count records n bytes that were read.
func (s *source) count(n int64) {
	s.n += n
	if n > 0 {
		s.trace.Body(n)
	}
}
