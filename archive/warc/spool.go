package warc

import (
	"bytes"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// inMemory is how much of a spool is kept in memory. More goes to a temporary file, in parts of
// this size.
const inMemory = 1 << 20

// A spool keeps what is written to it: in a temporary file, and behind that in memory.
type spool struct {
	file   *os.File // nil for a short spool
	size   int64    // of the file
	memory bytes.Buffer
}

// Write implements io.Writer. After an error the content is not complete.
func (s *spool) Write(p []byte) (int, error) {
	if s.memory.Len()+len(p) > inMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	return s.memory.Write(p)
}

// spill moves what is in memory to the temporary file.
func (s *spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = disk.TempFile(); err != nil {
			return err
		}
	}
	n, err := s.memory.WriteTo(s.file)
	s.size += n
	return err
}

// content returns a reader of the content.
func (s *spool) content() io.Reader {
	memory := bytes.NewReader(s.memory.Bytes())
	if s.file == nil {
		return memory
	}
	return io.MultiReader(io.NewSectionReader(s.file, 0, s.size), memory)
}

// close removes the temporary file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return disk.RemoveTemp(s.file)
}
