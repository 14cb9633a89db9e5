package mbox

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// A Reader reads the messages of a file.
type Reader struct {
	in     *bufio.Reader
	begins bool // at the beginning of a line
	blank  bool // an empty line came, which is a part of the message only if another line follows
	quotes int  // the ">" at the beginning of a line that are not read yet
	line   []byte
	ended  bool // at a separator or at the end
}

// NewReader returns a Reader. It reads ahead.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReader(r), begins: true, ended: true}
}

// Next skips to the next message and returns the line before it, without its LF. At the end it
// returns io.EOF.
func (r *Reader) Next() (separator string, err error) {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return "", err
	}
	line, err := r.in.ReadString('\n')
	if line == "" && err != nil {
		return "", err
	}
	if !strings.HasPrefix(line, "From ") {
		return "", errNoMessage
	}
	r.begins, r.blank, r.ended = true, false, false
	return strings.TrimSuffix(line, "\n"), nil
}

type formatError string

func (e formatError) Error() string { return string(e) }

// errNoMessage is the error for a file that does not begin with a separator.
const errNoMessage = formatError("not an mbox: it does not begin with \"From \"")

// Read reads from the message, to its end.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		if r.ended {
			return 0, io.EOF
		}
		if err := r.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// more sets line to the next part of the message, which may be empty, or ended.
func (r *Reader) more() error {
	if r.begins {
		next, err := r.in.Peek(5)
		switch {
		case len(next) == 0 && err == io.EOF || string(next) == "From ":
			r.ended = true
			return nil
		case len(next) == 0:
			return err
		case r.blank:
			r.blank, r.line = false, []byte("\n")
			return nil
		case next[0] == '\n':
			_, err := r.in.Discard(1)
			r.blank = true
			return err
		}
		r.begins = false
		r.unquote()
	}
	piece, err := r.in.ReadSlice('\n')
	r.begins = err == nil
	if r.line = append(bytes.Repeat([]byte(">"), r.quotes), piece...); err == bufio.ErrBufferFull {
		err = nil
	}
	r.quotes = 0
	if err == io.EOF {
		r.ended, err = true, nil
	}
	return err
}

// unquote reads each ">" at the beginning of a line, and drops one before "From ".
func (r *Reader) unquote() {
	for c, _ := r.in.Peek(1); string(c) == ">"; c, _ = r.in.Peek(1) {
		_, _ = r.in.Discard(1)
		r.quotes++
	}
	if next, _ := r.in.Peek(5); r.quotes > 0 && string(next) == "From " {
		r.quotes--
	}
}
