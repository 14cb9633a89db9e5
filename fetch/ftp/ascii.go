package ftp

import (
	"bytes"
	"io"
	"runtime"
)

// localCRLF reports whether the newline of this system is CR LF, as in type A.
const localCRLF = runtime.GOOS == "windows"

// localText reads data of type A, whose lines end in CR LF (RFC 959 §3.1.1.1), and
// converts line ends to the local newline. It keeps a CR that is not followed by LF.
type localText struct {
	r   io.Reader
	buf []byte
	out []byte // the part of buf that is converted but not read yet
	cr  bool   // a CR is held back until the next byte is known
	err error
}

// newLocalText returns a reader of r with local line ends. If these are CR LF, it returns r.
func newLocalText(r io.Reader) io.Reader {
	if localCRLF {
		return r
	}
	return &localText{r: r, buf: make([]byte, copySize)}
}

func (t *localText) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// fill reads once into buf. It holds back a CR at the end until the next byte is known.
func (t *localText) fill() {
	start := 0
	if t.cr {
		t.buf[0], start = '\r', 1
	}
	n, err := t.r.Read(t.buf[start:])
	in := t.buf[:start+n]
	t.err = err
	t.cr = err != io.EOF && bytes.HasSuffix(in, []byte("\r"))
	if t.cr {
		in = in[:len(in)-1]
	}
	t.out = dropCR(in)
}

// dropCR converts CR LF to LF, in place.
func dropCR(b []byte) []byte {
	i := bytes.Index(b, []byte("\r\n"))
	if i < 0 {
		return b
	}
	out := b[:i]
	for rest := b[i+1:]; ; {
		line, after, more := bytes.Cut(rest, []byte("\r\n"))
		out = append(out, line...)
		if !more {
			return out
		}
		out = append(out, '\n')
		rest = after
	}
}

// netText reads local text and converts line ends to CR LF. It keeps an existing CR LF.
type netText struct {
	r    io.Reader
	buf  []byte
	out  []byte
	last byte // the byte before buf
	err  error
}

// newNetText returns a reader of local text as data of type A. If local line ends are CR LF, it
// returns r.
func newNetText(r io.Reader) io.Reader {
	if localCRLF {
		return r
	}
	return withCR(r)
}

// withCR returns a reader of r that converts line ends to CR LF.
func withCR(r io.Reader) io.Reader { return &netText{r: r, buf: make([]byte, copySize/2)} }

func (t *netText) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		var n int
		n, t.err = t.r.Read(t.buf)
		t.out = t.addCR(t.out[:0], t.buf[:n])
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// addCR appends in to out, with a CR before each LF that has none.
func (t *netText) addCR(out, in []byte) []byte {
	for _, c := range in {
		if c == '\n' && t.last != '\r' {
			out = append(out, '\r')
		}
		out = append(out, c)
		t.last = c
	}
	return out
}

// copySize is the size of the buffer for data that is not spliced.
const copySize = 128 << 10
