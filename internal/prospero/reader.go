package prospero

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// How the text is broken.
var (
	// ErrCut means that the text ends within a line or within quotes.
	ErrCut = errors.New("the text ends within a line")
	// ErrLong means that a line is longer than the Reader's bound.
	ErrLong = errors.New("line too long")
)

// Reader reads lines of tokens. A line ends in LF, CR or CR LF outside quotes;
// empty lines are passed over. Memory is bounded by the bound of a line.
type Reader struct {
	br    *bufio.Reader
	max   int
	plain bool

	raw    []byte // of the current line, as far as it has been read
	cr     bool   // the last line ended in CR: an LF that follows belongs to it
	inLine bool   // the current line has not been read to its end
	err    error
}

// NewReader reads lines of at most max octets each; 0 is no bound. With plain
// it reads the lines of version 1, which know no quotes.
func NewReader(r io.Reader, max int, plain bool) *Reader {
	return &Reader{br: bufio.NewReader(r), max: max, plain: plain}
}

// ReadLine returns the tokens of the next line that is not empty, or what is
// left of a line begun with ReadToken. After the last line it returns io.EOF. A
// line that lacks its end gives its tokens with ErrCut, as a server of 1994 ends
// one of its answers so. Other errors come without tokens, and again at every
// further call.
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

// Raw is the current line, or the one read last, as it came and with its end;
// valid until the next read. What Stream gave out is not in it.
func (r *Reader) Raw() []byte { return r.raw }

// Rest reads the text behind the lines read so far.
func (r *Reader) Rest() io.Reader { return r.br }

// ReadToken returns the next token of the current line, or of the next one at
// the end of a line; ok is false, with a nil error, where a line ends.
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
			return string(b), true, nil // the next call tells
		case err != nil:
			return "", false, err
		case quoted && c == '\'':
			if !r.next('\'') {
				quoted = false
				continue
			}
		case quoted:
		case c == '\'':
			quoted = true
			continue
		case blank(c) || eol(c):
			r.unread()
			return string(b), true, nil
		}
		b = append(b, c)
	}
}

// plainToken reads a token of version 1. One wrapped in quotes may hold blanks.
func (r *Reader) plainToken() (string, bool, error) {
	wrapped := r.next('\'')
	var b []byte
	for {
		c, err := r.octet()
		switch {
		case err == io.EOF:
			return string(b), true, nil
		case err != nil:
			return "", false, err
		case eol(c), blank(c) && !wrapped:
			r.unread()
			return string(b), true, nil
		case c == '\'' && wrapped && r.atBlank():
			return string(b), true, nil
		}
		b = append(b, c)
	}
}

// Stream reads the next token of the current line, of any length. It ends in
// io.EOF at the token's end and in ErrCut where the text ends before.
func (r *Reader) Stream() io.Reader {
	if err := r.blanks(); err != nil {
		return failing{err}
	}
	return &stream{r: r}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type stream struct {
	r      *Reader
	quoted bool
	done   bool
}

// Read implements io.Reader. It gives what is there and does not wait for more.
func (s *stream) Read(p []byte) (n int, err error) {
	br := s.r.br
	for n < len(p) && !s.done {
		if n > 0 && br.Buffered() < 2 { // a quote needs the octet behind it
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
		case c == '\'' && !s.doubled():
			s.quoted = false
			continue
		case !s.quoted && (blank(c) || eol(c)):
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

// doubled passes over a second quote.
func (s *stream) doubled() bool {
	next, err := s.r.br.Peek(1)
	if err != nil || next[0] != '\'' {
		return false
	}
	_, _ = s.r.br.Discard(1)
	return true
}

// run copies what is buffered up to the next quote.
func (s *stream) run(p []byte) int {
	here, _ := s.r.br.Peek(min(len(p), s.r.br.Buffered()))
	if i := bytes.IndexByte(here, '\''); i >= 0 {
		here = here[:i]
	}
	n := copy(p, here)
	_, _ = s.r.br.Discard(n)
	return n
}

// blanks passes over blanks, and before the first token of a line over the end
// of the line before.
func (r *Reader) blanks() error {
	if r.err != nil {
		return r.err
	}
	if !r.inLine {
		r.raw = r.raw[:0]
		if r.cr && r.next('\n') {
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
		if !blank(c) {
			r.unread()
			return nil
		}
	}
}

// atEnd passes over the end of a line, if that comes next.
func (r *Reader) atEnd() bool {
	if r.next('\n') {
		return true
	}
	r.cr = r.next('\r')
	return r.cr
}

// octet reads the next octet of the line.
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

// unread takes back the octet read last.
func (r *Reader) unread() {
	_ = r.br.UnreadByte()
	r.raw = r.raw[:len(r.raw)-1]
}

// next passes over c, if that comes next.
func (r *Reader) next(c byte) bool {
	here, err := r.br.Peek(1)
	if err != nil || here[0] != c {
		return false
	}
	_, err = r.octet()
	return err == nil
}

// atBlank tells whether a token may end here.
func (r *Reader) atBlank() bool {
	here, err := r.br.Peek(1)
	return err != nil || blank(here[0]) || eol(here[0])
}

func blank(c byte) bool { return c == ' ' || c == '\t' }
func eol(c byte) bool   { return c == '\n' || c == '\r' }
