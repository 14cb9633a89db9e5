package core

import (
	"bytes"
	"io"
)

// Type A (RFC 959 §3.1.1.1): lines end in LF on this server's disk and in CR LF on the wire.

// ToNetASCII returns a reader that converts LF in r to CR LF. A CR LF in r stays as it is.
func ToNetASCII(r io.Reader) io.Reader { return &netASCII{src: r, convert: addCR} }

// FromNetASCII returns a reader that converts CR LF in r to LF. A CR alone stays.
func FromNetASCII(r io.Reader) io.Reader { return &netASCII{src: r, convert: dropCR} }

type netASCII struct {
	src     io.Reader
	convert func(dst, src []byte, last byte, end bool) (out []byte, newLast byte)
	buf     []byte
	out     []byte // converted, not yet read
	store   []byte
	last    byte // the previous byte
	err     error
}

// textSize is the size of the buffer for text.
const textSize = 16 << 10

// bufferSize returns textSize, or less if the text is known to be shorter.
func bufferSize(r io.Reader) int {
	if l, ok := r.(interface{ Len() int }); ok {
		return min(textSize, l.Len()+1)
	}
	return textSize
}

func (a *netASCII) Read(p []byte) (int, error) {
	for len(a.out) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.buf == nil {
			a.buf = make([]byte, bufferSize(a.src))
		}
		var n int
		n, a.err = a.src.Read(a.buf)
		a.store, a.last = a.convert(a.store[:0], a.buf[:n], a.last, a.err != nil)
		a.out = a.store
	}
	n := copy(p, a.out)
	a.out = a.out[n:]
	return n, nil
}

// addCR puts a CR before each LF that has none. last is the byte before src.
func addCR(dst, src []byte, last byte, _ bool) ([]byte, byte) {
	for len(src) > 0 {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return append(dst, src...), src[len(src)-1]
		}
		if i > 0 {
			last = src[i-1]
		}
		dst = append(dst, src[:i]...)
		if last != '\r' {
			dst = append(dst, '\r')
		}
		dst = append(dst, '\n')
		last, src = '\n', src[i+1:]
	}
	return dst, last
}

// dropCR holds back a CR at the end of src until the next byte is known.
func dropCR(dst, src []byte, last byte, end bool) ([]byte, byte) {
	for _, c := range src {
		if last == '\r' && c != '\n' {
			dst = append(dst, '\r')
		}
		if c != '\r' {
			dst = append(dst, c)
		}
		last = c
	}
	if end && last == '\r' {
		dst, last = append(dst, '\r'), 0
	}
	return dst, last
}
