package warc

import (
	"bytes"
	"io"
	"os"
)

// inMemory is how much of a spool is kept in memory. More goes to a temporary file, in parts of
// this size.
const inMemory = 1 << 20

// A spool keeps what is written to it: in a temporary file, and behind that in memory.
type spool struct {
	file   *os.File // nil for a short spool
	named  bool     // the file still has a name
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

// spill moves what is in memory to the temporary file. Where that is possible the file loses its
// name at once, so that nothing is left when the process is killed.
func (s *spool) spill() error {
	if s.file == nil {
		file, err := os.CreateTemp("", "fetch1738-warc-")
		if err != nil {
			return err
		}
		s.file = file
		s.named = os.Remove(file.Name()) != nil
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
	err := s.file.Close()
	if s.named {
		_ = os.Remove(s.file.Name())
	}
	return err
}
