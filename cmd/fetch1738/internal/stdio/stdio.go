// Package stdio has the standard streams of the program as values, so that tests
// put their own in place.
package stdio

import (
	"fmt"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// Streams are what a verb reads from and writes to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// MaxMessage bounds a message of the program, in columns.
const MaxMessage = 1000

// Warn writes a warning in one printable line.
func (s Streams) Warn(format string, args ...any) {
	fmt.Fprintf(s.Err, "fetch1738: warning: %s\n", Line(fmt.Sprintf(format, args...)))
}

// Line is text that may be somebody else's as one printable line.
func Line(text string) string { return term.SafeLine(text, MaxMessage) }

// maxFile bounds a file that is read whole, in octets.
const maxFile = 64 << 20

// ReadFile reads a file that is held in memory, of at most 64 MiB.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, name)
}

// ReadIn reads all of In, as ReadFile reads a file.
func (s Streams) ReadIn() ([]byte, error) { return readAll(s.In, "-") }

func readAll(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s: more than %d octets", name, maxFile)
	}
	return b, err
}

// A ReadError is a failure of an input rather than of the output.
type ReadError struct{ error }

// FailedToRead is err as a ReadError.
func FailedToRead(err error) ReadError { return ReadError{err} }
