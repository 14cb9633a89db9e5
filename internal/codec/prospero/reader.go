package prospero

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// Errors of the text.
var (
	// ErrCut means that the text ends inside a line or inside quotes.
	ErrCut = errors.New("the text ends inside a line")
	// ErrLong means that a line is longer than the Reader's limit.
	ErrLong = errors.New("line too long")
)

// Reader reads lines of tokens. A line ends in LF, CR or CR LF outside quotes. Empty lines are
// skipped. The limit of a line also limits the memory in use.
type Reader struct {
	br    *bufio.Reader
	max   int
	plain bool

	raw    []byte // the part of the current line that has been read
	cr     bool   // the last line ended in CR; an LF that follows belongs to it
	inLine bool   // the current line has not been read to its end
	err    error
}

// NewReader returns a Reader for lines of at most max bytes; zero means no limit. If plain is set,
// it reads the lines of version 1, which have no quotes.
func NewReader(r io.Reader, max int, plain bool) *Reader {
	return &Reader{br: bufio.NewReader(r), max: max, plain: plain}
}

// ReadLine returns the tokens of the next line that is not empty, or the remaining tokens of a line
// begun with ReadToken. After the last line it returns io.EOF. For a line without an end it returns
// the tokens and ErrCut, because a server of 1994 ends one of its answers like that. Other errors
// come without tokens and are returned by every further call.
func (r *Reader) ReadLine() (tokens []string, err error) {
	for {
		token, ok, err := r.ReadToken()
		switch {
		case ok:
			tokens = append(tokens, token)
		case err != nil && err != ErrCut:
			return nil, err
		case len(tokens) > 0 || err != nil:
			return tokens, err
		}
	}
}

// Raw returns the current line, or the last one read, as received and with its end. It is valid
// until the next read. It does not include tokens read by Stream.
func (r *Reader) Raw() []byte { return r.raw }

// Rest returns a reader for the text after the lines read so far.
func (r *Reader) Rest() io.Reader { return r.br }

// ReadToken returns the next token of the current line. At the end of a line, ok is false and err
// is nil; the next call returns the first token of the next line.
func (r *Reader) ReadToken() (token string, ok bool, err error) {
	if err := r.blanks(); err != nil {
		return "", false, err
	}
	if r.inLine = !r.atEnd(); !r.inLine {
		return "", false, nil
	}
	if r.plain {
		return r.plainToken()
	}
	var b []byte
	quoted := false
	for {
		c, err := r.octet()
		switch {
		case err == io.EOF && quoted:
			r.err = ErrCut
			return "", false, r.err
		case err == io.EOF:
			return string(b), true, nil // the next call returns the error
		case err != nil:
			return "", false, err
		case quoted && c == '\'':
			if !r.skip('\'') {
				quoted = false
				continue
			}
		case quoted:
		case c == '\'':
			quoted = true
			continue
		case isBlank(c) || isEOL(c):
			r.unread()
			return string(b), true, nil
		}
		b = append(b, c)
	}
}

// plainToken reads a token of version 1. A token in quotes may contain blanks.
func (r *Reader) plainToken() (string, bool, error) {
	wrapped := r.skip('\'')
	var b []byte
	for {
		c, err := r.octet()
		switch {
		case err == io.EOF:
			return string(b), true, nil
		case err != nil:
			return "", false, err
		case isEOL(c), isBlank(c) && !wrapped:
			r.unread()
			return string(b), true, nil
		case c == '\'' && wrapped && r.atBlank():
			return string(b), true, nil
		}
		b = append(b, c)
	}
}

// Stream returns a reader for the next token of the current line, which may have any length. It
// ends in io.EOF at the token's end, and in ErrCut if the text ends before that.
func (r *Reader) Stream() io.Reader {
	if err := r.blanks(); err != nil {
		return wire.ErrorReader{Err: err}
	}
	return &stream{r: r}
}

type stream struct {
	r      *Reader
	quoted bool
	done   bool
}

// Read implements io.Reader. It returns the data that is available and does not wait for more.
func (s *stream) Read(p []byte) (n int, err error) {
	br := s.r.br
	for n < len(p) && !s.done {
		if n > 0 && br.Buffered() < 2 { // to interpret a quote, the next byte is required
			break
		}
		c, err := br.ReadByte()
		switch {
		case err == io.EOF:
			s.r.err = ErrCut
			return n, ErrCut
		case err != nil:
			s.r.err = err
			return n, err
		case c == '\'' && !s.quoted:
			s.quoted = true
			continue
		case c == '\'' && !s.skipQuote():
			s.quoted = false
			continue
		case !s.quoted && (isBlank(c) || isEOL(c)):
			_ = br.UnreadByte()
			s.done = true
			continue
		}
		p[n] = c
		n++
		if s.quoted {
			n += s.run(p[n:])
		}
	}
	if n == 0 && s.done {
		return 0, io.EOF
	}
	return n, nil
}

// skipQuote skips a second quote. It reports whether there is one.
func (s *stream) skipQuote() bool {
	next, err := s.r.br.Peek(1)
	if err != nil || next[0] != '\'' {
		return false
	}
	_, _ = s.r.br.Discard(1)
	return true
}

// run copies the buffered data up to the next quote.
func (s *stream) run(p []byte) int {
	here, _ := s.r.br.Peek(min(len(p), s.r.br.Buffered()))
	if i := bytes.IndexByte(here, '\''); i >= 0 {
		here = here[:i]
	}
	n := copy(p, here)
	_, _ = s.r.br.Discard(n)
	return n
}

// blanks skips blanks. Before the first token of a line it also skips the end of the previous line.
func (r *Reader) blanks() error {
	if r.err != nil {
		return r.err
	}
	if !r.inLine {
		r.raw = r.raw[:0]
		if r.cr && r.skip('\n') {
			r.raw = r.raw[:0] // it belonged to the CR
		}
		r.cr = false
	}
	for {
		c, err := r.octet()
		if err == io.EOF {
			if r.err = io.EOF; r.inLine || len(r.raw) > 0 {
				r.inLine, r.err = false, ErrCut
			}
			err := r.err
			r.err = io.EOF
			return err
		}
		if err != nil {
			return err
		}
		if !isBlank(c) {
			r.unread()
			return nil
		}
	}
}

// atEnd skips the end of a line. It reports whether there is one.
func (r *Reader) atEnd() bool {
	if r.skip('\n') {
		return true
	}
	r.cr = r.skip('\r')
	return r.cr
}

// octet reads the next byte of the line.
func (r *Reader) octet() (byte, error) {
	c, err := r.br.ReadByte()
	if err != nil {
		if err != io.EOF {
			r.err = err
		}
		return 0, err
	}
	if r.max > 0 && len(r.raw) >= r.max {
		r.err = ErrLong
		return 0, r.err
	}
	r.raw = append(r.raw, c)
	return c, nil
}

// unread unreads the last byte.
func (r *Reader) unread() {
	_ = r.br.UnreadByte()
	r.raw = r.raw[:len(r.raw)-1]
}

// skip skips c. It reports whether c comes next.
func (r *Reader) skip(c byte) bool {
	here, err := r.br.Peek(1)
	if err != nil || here[0] != c {
		return false
	}
	_, err = r.octet()
	return err == nil
}

// atBlank reports whether a token may end here.
func (r *Reader) atBlank() bool {
	here, err := r.br.Peek(1)
	return err != nil || isBlank(here[0]) || isEOL(here[0])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isEOL(c byte) bool   { return c == '\n' || c == '\r' }
