package formdata

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A segment is a part of a body: a text, or a file.
type segment struct {
	text []byte
	file string
	size int64
}

// A reader reads segments one after the other.
type reader struct {
	segments []segment
	size     int64 // of all
	at       int64 // in all
	open     *os.File
	name     string // of open
}

// Read implements io.Reader. It opens a file when it comes to it, and closes it at its end.
func (r *reader) Read(p []byte) (int, error) {
	from := r.at
	for _, s := range r.segments {
		if from >= s.size {
			from -= s.size
			continue
		}
		p = p[:min(int64(len(p)), s.size-from)]
		n, err := r.readSegment(s, p, from)
		r.at += int64(n)
		return n, err
	}
	r.close()
	return 0, io.EOF
}

// readSegment reads from an offset of a segment.
func (r *reader) readSegment(s segment, p []byte, from int64) (int, error) {
	if s.file == "" {
		return copy(p, s.text[from:]), nil
	}
	if r.open == nil || r.name != s.file {
		r.close()
		f, err := os.Open(s.file)
		if err != nil {
			return 0, err
		}
		r.open, r.name = f, s.file
	}
	n, err := r.open.ReadAt(p, from)
	switch {
	case n > 0:
		return n, nil
	case err == io.EOF:
		return 0, fmt.Errorf("%s has become shorter while it was sent", s.file)
	}
	return n, err
}

// close closes the file that is open.
func (r *reader) close() {
	if r.open != nil {
		_ = r.open.Close()
		r.open = nil
	}
}

// Seek implements io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("negative offset")
	}
	r.close()
	r.at = offset
	return offset, nil
}
