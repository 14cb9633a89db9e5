package gopher

import (
	"bytes"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// textReader takes the framing of RFC 1436 §3.1 off a text or a menu: the last
// line ".", and the dot that a server puts before a line that begins with one.
// Line ends stay as they came.
//
// Half of the servers know nothing of either, and some send the last line but
// stuff no dots, so that a text is read to the close of the connection, a "."
// further up is text, and the end decides:
//
//   - without a last line ".", every dot is text;
//   - with one, a line that begins with ".." loses a dot, unless the text holds a
//     line that a server which stuffs cannot have sent: "." (then no line loses
//     one) or ".x" (then only a line ".." does: UMN gopherd 2.3 stuffs that one
//     alone).
//
// So from the first line that begins with ".." on the text is held back, until
// its end or such a line. When that comes to more than maxHeld octets they are
// given as they are.
//
// A menu ends at its line ".", and its lines do not begin with dots.
type textReader struct {
	src    io.Reader
	menu   bool
	marked bool // the line "." is sure to come: without it the text is cut short
	info   *Info
	note   func(string)

	buf         []byte
	next, ready int   // buf[next:ready] can be given out
	seen        int   // buf[:seen] has been looked at
	midLine     bool  // seen is not at the start of a line
	holding     bool  // something is held back
	hold        int   // where that begins
	alone       int   // where in it the first line ".." is, or -1
	dotted      bool  // there was a line ".x"
	verbatim    bool  // every dot is text
	err         error // what comes after buf[:ready]
}

// maxHeld bounds how much text is held back.
const maxHeld = 1 << 20

// Read implements io.Reader.
func (t *textReader) Read(p []byte) (int, error) {
	for t.next == t.ready {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.buf[t.next:t.ready])
	t.next += n
	return n, nil
}

// fill receives more and finds out what of it can be given out.
func (t *textReader) fill() {
	if n := t.next; n > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[n:])]
		t.seen, t.hold, t.alone = t.seen-n, t.hold-n, t.alone-n
		t.next, t.ready = 0, 0
	}
	if len(t.buf) == cap(t.buf) {
		t.buf = append(make([]byte, 0, 2*cap(t.buf)+headSize), t.buf...)
	}
	n, err := t.src.Read(t.buf[len(t.buf):cap(t.buf)])
	t.buf = t.buf[:len(t.buf)+n]
	t.look(err == io.EOF)
	if last := t.buf[t.seen:]; errors.Is(err, wire.ErrNoNotice) && bytes.Equal(wire.TrimEOL(last), []byte(".")) && len(last) > 1 {
		err = io.EOF // the text says itself that it ends here
	}
	if err == io.EOF && t.err == nil {
		t.end()
		return
	}
	if t.err == nil {
		t.err = err // if there is one; what is uncertain is lost then
	}
	if t.holding && len(t.buf)-t.hold > maxHeld {
		t.note("the text has lines that begin with two dots and is too long to wait for its end: they are left as they came")
		t.verbatim, t.holding = true, false
	}
	t.ready = t.seen
	if t.holding {
		t.ready = t.hold
	}
}

// look looks at what is new, line by line where dots are.
func (t *textReader) look(ended bool) {
	for t.seen < len(t.buf) && t.err == nil {
		rest := t.buf[t.seen:]
		if t.midLine || rest[0] != '.' {
			i := bytes.Index(rest, []byte("\n."))
			if i < 0 {
				t.seen, t.midLine = len(t.buf), rest[len(rest)-1] != '\n'
				return
			}
			t.seen, t.midLine = t.seen+i+1, false
			continue
		}
		if !t.dotLine(rest, ended) {
			return
		}
	}
}

// dotLine looks at the line that rest begins with, which begins with a dot. It
// is false when more is needed.
func (t *textReader) dotLine(rest []byte, ended bool) bool {
	dots := 1
	if len(rest) > 1 && rest[1] == '.' {
		dots = 2
	}
	eol, known := lineEnd(rest[dots:], ended)
	alone := eol >= 0
	switch {
	case !known:
		return false
	case dots == 1 && alone && t.menu:
		t.info.Complete = true
		t.err = io.EOF
		return true
	case dots == 1 && alone && len(rest) == dots+eol:
		return false // the last line, or else there is more to come
	case dots == 1 && alone:
		t.verbatim, t.holding = true, false
	case dots == 1:
		t.dotted = true
		if t.holding {
			// Lines "..x" are settled now, lines ".." are not.
			t.hold, t.holding = t.alone, t.alone >= 0
		}
	case t.menu || t.verbatim || t.dotted && !alone:
	default:
		if !t.holding {
			t.hold, t.holding, t.alone = t.seen, true, -1
		}
		if alone && t.alone < 0 {
			t.alone = t.seen
		}
	}
	t.seen += dots + max(eol, 0)
	t.midLine = !alone
	return true
}

// lineEnd is the length of the line end that s begins with, or -1 if it begins
// with none; the end of the text is one of length 0. It is not known while more
// may come that matters.
func lineEnd(s []byte, ended bool) (length int, known bool) {
	switch {
	case len(s) == 0 || len(s) == 1 && s[0] == '\r':
		return len(s), ended
	case s[0] == '\n':
		return 1, true
	case s[0] == '\r' && s[1] == '\n':
		return 2, true
	}
	return -1, true
}

// end decides about what is held back: the text has come to its end.
func (t *textReader) end() {
	t.err = io.EOF
	last := t.buf[t.seen:]
	if t.marked && !bytes.HasSuffix(last, []byte("\n")) {
		// A line "." without its end may be the first octet of another.
		t.err = io.ErrUnexpectedEOF
		t.ready = t.seen
		return
	}
	if len(last) > 0 { // a line "."
		// Without its line end it may be the first octet of another.
		t.info.Complete = bytes.HasSuffix(last, []byte("\n"))
		t.buf = t.buf[:t.seen]
		if t.holding {
			held := unstuff(t.buf[t.hold:], t.dotted)
			t.buf = t.buf[:t.hold+len(held)]
		}
	}
	t.ready = len(t.buf)
}

// unstuff removes a dot from each line that begins with two, in place; with
// aloneOnly from lines ".." only.
func unstuff(text []byte, aloneOnly bool) []byte {
	out := text[:0]
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		line := text[:end]
		if bytes.HasPrefix(line, []byte("..")) && (!aloneOnly || len(wire.TrimEOL(line)) == 2) {
			line = line[1:]
		}
		out = append(out, line...)
		text = text[end:]
	}
	return out
}
