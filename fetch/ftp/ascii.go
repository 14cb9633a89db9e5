package ftp

import (
	"io"
	"runtime"

	// x/text/transform buffers what the conversions of line ends read and return.
	"golang.org/x/text/transform"
)

// localCRLF reports whether the newline of this system is CR LF, as in type A.
const localCRLF = runtime.GOOS == "windows"

// newLocalText returns a reader of data of type A, whose lines end in CR LF (RFC 959 §3.1.1.1), with
// local line ends.
func newLocalText(r io.Reader) io.Reader {
	if localCRLF {
		return r
	}
	return transform.NewReader(r, withoutCR{})
}

// newNetText returns a reader of local text as data of type A.
func newNetText(r io.Reader) io.Reader {
	if localCRLF {
		return r
	}
	return addCR(r)
}

// addCR returns a reader of r with CR LF in place of each LF.
func addCR(r io.Reader) io.Reader { return transform.NewReader(r, new(withCR)) }

// withoutCR converts CR LF to LF. It keeps a CR that is not followed by LF.
type withoutCR struct{ transform.NopResetter }

// Transform implements [transform.Transformer].
func (withoutCR) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for i, c := range src {
		if c == '\r' && i+1 == len(src) && !atEOF {
			return nDst, nSrc, transform.ErrShortSrc
		}
		if c != '\r' || i+1 == len(src) || src[i+1] != '\n' {
			if nDst == len(dst) {
				return nDst, nSrc, transform.ErrShortDst
			}
			dst[nDst] = c
			nDst++
		}
		nSrc++
	}
	return nDst, nSrc, nil
}

// withCR converts LF to CR LF. It keeps an existing CR LF.
type withCR struct{ afterCR bool }

// Reset implements [transform.Transformer].
func (w *withCR) Reset() { w.afterCR = false }

// Transform implements [transform.Transformer].
func (w *withCR) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for _, c := range src {
		if nDst+2 > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		if c == '\n' && !w.afterCR {
			dst[nDst] = '\r'
			nDst++
		}
		dst[nDst], w.afterCR = c, c == '\r'
		nDst++
		nSrc++
	}
	return nDst, nSrc, nil
}

// copySize is the size of the buffer for data that is not spliced.
const copySize = 128 << 10
