package wire

import (
	"io"
	"sync"
)

// The buffer of Copy has leastCopy bytes at first. While reads fill it, it grows up to mostCopy, so
// that there are fewer calls.
const (
	leastCopy = 16 << 10
	mostCopy  = 128 << 10
)

// buffers holds the first buffers of calls of Copy that have ended. With a new one for each of many
// small documents, the garbage collector would run three times as often.
var buffers = sync.Pool{New: func() any { return new([leastCopy]byte) }}

// Copy copies r to w to its end, as io.Copy does, but never by a WriteTo of r or a ReadFrom of w.
// For a small document the buffer stays small.
func Copy(w io.Writer, r io.Reader) (written int64, err error) {
	least := buffers.Get().(*[leastCopy]byte)
	defer buffers.Put(least)
	buf := least[:]
	for {
		n, err := r.Read(buf)
		if n > 0 {
			m, failed := w.Write(buf[:n])
			written += int64(m)
			if failed == nil && m < n {
				failed = io.ErrShortWrite
			}
			if failed != nil {
				return written, failed
			}
		}
		switch {
		case err == io.EOF:
			return written, nil
		case err != nil:
			return written, err
		case n == len(buf) && n < mostCopy:
			buf = make([]byte, mostCopy)
		}
	}
}
