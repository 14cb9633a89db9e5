// Package stdio passes the standard streams of the program, its network and its notes as values, so
// that tests can replace them.
package stdio

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/used"
)

// Streams are the standard streams of a verb, the network that it connects to, and the notes of the
// servers that it uses.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Dial connects in place of the system, as in a simulated network. If nil, the system connects.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Notes are kept for the completion of remote paths. If nil, nothing is noted.
	Notes *used.Notes
}

// MaxMessage is the maximum length of a message, in columns.
const MaxMessage = 1000

// Warn writes a warning to Err, as one printable line.
func (s Streams) Warn(format string, args ...any) {
	fmt.Fprintf(s.Err, "fetch1738: warning: %s\n", Line(fmt.Sprintf(format, args...)))
}

// Complain writes the message of a failure to Err, unless the failure is that nobody reads standard
// output any more.
func (s Streams) Complain(err error, message string) {
	if !Unread(err) {
		fmt.Fprintln(s.Err, message)
	}
}

// Count returns a number of things in words, as in "1 file" and "2 directories".
func Count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Line returns text, which may come from a server, as one printable line.
func Line(text string) string { return term.SafeLine(text, MaxMessage) }

// maxFile is the maximum size of a file that is read into memory, in bytes.
const maxFile = 64 << 20

// ReadFile reads a file of at most 64 MiB into memory.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name)
}

// ReadIn reads all of In, with the limit of [ReadFile].
func (s Streams) ReadIn() ([]byte, error) { return ReadAll(s.In, "-") }

// ReadAll reads all of r, whose name is for errors, with the limit of [ReadFile].
func ReadAll(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s: longer than %d bytes", name, maxFile)
	}
	return b, err
}

// A ReadError is a failure to read the input, as opposed to a failure to write the output.
type ReadError struct{ error }

// FailedToRead returns err as a ReadError.
func FailedToRead(err error) ReadError { return ReadError{err} }
