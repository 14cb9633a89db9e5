package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrLineTooLong is the error of a LineReader for a line that exceeds its limit.
var ErrLineTooLong = errors.New("line too long")

// LineReader reads lines of limited length. It keeps all bytes: a line is returned with its line
// end, and the last one without it if it has none.
type LineReader struct {
	br   *bufio.Reader
	max  int
	line []byte
}

// NewLineReader reads lines of at most max bytes, line end included; 0 means no limit.
func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{br: bufio.NewReader(r), max: max}
}

// ReadLine returns the next line with its LF, or what is left before the end of the input; then
// io.EOF. For a line that exceeds the limit it returns ErrLineTooLong, also at every further call.
// The slice is valid until the next call.
func (r *LineReader) ReadLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.br.ReadSlice('\n')
		if r.max > 0 && len(r.line)+len(part) > r.max {
			r.br.Reset(ErrorReader{ErrLineTooLong})
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

// Read reads what follows the last line, such as a body after a header.
func (r *LineReader) Read(p []byte) (int, error) { return r.br.Read(p) }

// Buffered returns the number of bytes received but not yet read.
func (r *LineReader) Buffered() int { return r.br.Buffered() }

// Waiting returns the bytes that Buffered counts. They are not read; the slice is valid until the next
// call.
func (r *LineReader) Waiting() []byte {
	waiting, _ := r.br.Peek(r.br.Buffered())
	return waiting
}

// Fill waits until at least one byte is buffered; it consumes none. The error is that of the
// underlying reader.
func (r *LineReader) Fill() error {
	_, err := r.br.Peek(1)
	return err
}

// HasLine reports whether ReadLine would return a line without waiting.
func (r *LineReader) HasLine() bool {
	return bytes.IndexByte(r.Waiting(), '\n') >= 0
}

// TrimEOL returns a line without its LF or CR LF.
func TrimEOL(line []byte) []byte {
	line, found := bytes.CutSuffix(line, []byte("\n"))
	if found {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return line
}
