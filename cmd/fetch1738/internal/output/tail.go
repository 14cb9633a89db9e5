package output

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// Tail returns the last bytes of the Sink's file or, with --retry, of what was written elsewhere. A
// transfer that resumes compares them.
func Tail(s *Sink) ([]byte, error) {
	switch {
	case s.Path == "":
		return s.tail[max(0, int64(len(s.tail))-s.Count):], nil
	case s.file != nil && !s.opened.Mode().IsRegular():
		return nil, nil
	case s.file != nil && !s.regular():
		return nil, fault.Errorf(fault.Resume, "cannot resume: another process has replaced %s", s.Path)
	}
	file, err := s.openPath(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return before(file, info.Size())
}

// Existing returns the last bytes of the file to which -C appends, if it has offset bytes. Another
// process may append to the file meanwhile: those are the bytes before offset even then, and
// opening the Sink reports the new size.
func Existing(s *Sink, offset int64) ([]byte, error) {
	if !s.append || offset <= 0 || s.Path == "" {
		return nil, nil
	}
	info, err := s.stat()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() != offset {
		return nil, nil
	}
	file, err := s.openPath(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return before(file, offset)
}

// before returns the last bytes of a file up to offset end.
func before(file io.ReaderAt, end int64) ([]byte, error) {
	start := max(0, end-resume.Overlap)
	return io.ReadAll(io.NewSectionReader(file, start, end-start))
}

// tailed is a body whose last bytes a Sink keeps.
type tailed struct {
	io.Reader
	s *Sink
}

func (t *tailed) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	all := append(t.s.tail, p[:n]...)
	t.s.tail = append(t.s.tail[:0], all[max(0, len(all)-resume.Overlap):]...)
	return n, err
}
