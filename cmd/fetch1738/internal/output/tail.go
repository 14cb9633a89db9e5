package output

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// Tail returns the last bytes of the Sink's file or, with --retry, of what was written elsewhere. A
// transfer that resumes compares them.
func Tail(s *Sink) ([]byte, error) {
	switch {
	case s.Path == "":
		return s.tail.of(s.Count), nil
	case s.file != nil && !s.opened.Mode().IsRegular():
		return nil, nil
	case s.file != nil && !s.regular():
		return nil, localerr.Errorf(localerr.Resume, "cannot resume: another process has replaced %s", s.Path)
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
	if !s.existing.append || offset <= 0 || s.Path == "" {
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

// A tail has the last bytes of what was written.
type tail struct{ last []byte }

// of returns those of the last n bytes. A nil tail has none.
func (t *tail) of(n int64) []byte {
	if t == nil {
		return nil
	}
	return t.last[max(0, int64(len(t.last))-n):]
}

// add adds what is written next.
func (t *tail) add(p []byte) {
	all := append(t.last, p...)
	t.last = append(t.last[:0], all[max(0, len(all)-resume.Overlap):]...)
}

// tailed is a body whose last bytes are kept.
type tailed struct {
	io.Reader
	tail *tail
}

func (t *tailed) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.tail.add(p[:n])
	return n, err
}
