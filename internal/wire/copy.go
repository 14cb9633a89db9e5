package wire

import "io"

// mostCopy is the maximum size of the buffer of Copy. The buffer has BufferSize bytes at first, and
// grows while reads fill it, so that there are fewer calls.
const mostCopy = 128 << 10

// Copy copies r to w to its end, as io.Copy does, but never by a WriteTo of r or a ReadFrom of w.
// For a small document the buffer stays small.
func Copy(w io.Writer, r io.Reader) (written int64, err error) {
	first := GetBuffer()
	defer PutBuffer(first)
	buf := first[:]
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
