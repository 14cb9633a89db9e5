package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrLineTooLong is what a LineReader gives for a line beyond its bound.
var ErrLineTooLong = errors.New("line too long")

// LineReader reads lines of bounded length. It loses nothing: a line comes with
// its line end, and the last one without if it has none.
type LineReader struct {
	br   *bufio.Reader
	max  int
	line []byte
}

// NewLineReader reads lines of at most max octets, the line end included; 0 is
// no bound.
func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{br: bufio.NewReader(r), max: max}
}

// ReadLine returns the next line with its LF, or what is left before the end of
// the input; then io.EOF. A line beyond the bound gives ErrLineTooLong, and
// again at every further call. The slice is valid until the next call.
func (r *LineReader) ReadLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.br.ReadSlice('\n')
		if r.max > 0 && len(r.line)+len(part) > r.max {
			r.br.Reset(failed{ErrLineTooLong})
			return nil, ErrLineTooLong
		}
		if len(r.line) == 0 && err == nil {
			return part, nil
		}
		r.line = append(r.line, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(r.line) > 0:
			return r.line, nil
		case err != nil:
			return nil, err
		}
		return r.line, nil
	}
}

// Read reads what follows the last line, for a body behind a header.
func (r *LineReader) Read(p []byte) (int, error) { return r.br.Read(p) }

// Buffered is how many octets have been received but not read.
func (r *LineReader) Buffered() int { return r.br.Buffered() }

// Fill waits for an octet to be there; it reads none away. The error is that of
// the reader below.
func (r *LineReader) Fill() error {
	_, err := r.br.Peek(1)
	return err
}

// HasLine tells whether ReadLine would give a line without waiting.
func (r *LineReader) HasLine() bool {
	waiting, _ := r.br.Peek(r.br.Buffered())
	return bytes.IndexByte(waiting, '\n') >= 0
}

// TrimEOL is a line without its LF or CR LF.
func TrimEOL(line []byte) []byte {
	line, found := bytes.CutSuffix(line, []byte("\n"))
	if found {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return line
}
