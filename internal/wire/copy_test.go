package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// short is a writer that writes less than it is given and returns no error.
type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }

// Copy writes all that was read before an error, and returns the errors of both sides.
func TestCopy(t *testing.T) {
	cause := errors.New("cause")
	for _, size := range []int{0, 1, BufferSize, BufferSize + 1, 3*mostCopy + 7} {
		text := strings.Repeat("x", size)
		for name, end := range map[string]error{"whole": nil, "cut": cause} {
			r := io.Reader(strings.NewReader(text))
			if end != nil {
				r = io.MultiReader(r, iotest.ErrReader(end))
			}
			var to bytes.Buffer
			if n, err := Copy(&to, r); err != end || n != int64(size) || to.String() != text {
				t.Errorf("%s, %d bytes: %d, %v", name, size, n, err)
			}
		}
	}
	if n, err := Copy(short{}, strings.NewReader("xyz")); err != io.ErrShortWrite || n != 2 {
		t.Errorf("to a writer that writes less: %d, %v", n, err)
	}
}
