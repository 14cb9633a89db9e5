package gopher

import (
	"bytes"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// textReader removes the framing of RFC 1436 §3.1 from a text or a menu: the last line ".", and the
// dot that a server puts before a line that begins with a dot. Line ends are not changed.
//
// Half of the servers do neither, and some send the last line but do not stuff dots. So a text is
// read until the connection closes, a "." before that is text, and the end decides:
//
//   - without a last line ".", every dot is text;
//   - with one, each line that begins with ".." loses a dot, unless the text contains a line that a
//     server which stuffs dots cannot have sent: "." (then no line loses one) or ".x" (then only a
//     line ".." does: UMN gopherd 2.3 stuffs only that).
//
// So the text is held back from the first line that begins with ".." until its end or such a line.
// If more than maxHeld bytes are held back, they are returned unchanged.
//
// A menu ends at its line ".", and its lines do not begin with dots.
type textReader struct {
	src    io.Reader
	menu   bool
	marked bool // the line "." is required: without it the text is truncated
	info   *Info
	note   func(string)

	buf         []byte
	next, ready int   // buf[next:ready] can be returned
	seen        int   // buf[:seen] has been examined
	midLine     bool  // seen is not at the start of a line
	holding     bool  // text is held back
	hold        int   // where it begins in buf
	alone       int   // where in buf the first line ".." held back is, or -1
	dotted      bool  // there was a line ".x"
	verbatim    bool  // every dot is text
	err         error // the result after buf[:ready]
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

// fill receives more data and determines how much of it can be returned.
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
	t.scan(err == io.EOF)
	if last := t.buf[t.seen:]; errors.Is(err, wire.ErrNoNotice) && bytes.Equal(wire.TrimEOL(last), []byte(".")) && len(last) > 1 {
		err = io.EOF // the line "." marks the end
	}
	if err == io.EOF && t.err == nil {
		t.end()
		return
	}
	if t.err == nil {
		t.err = err // if not nil, text held back is lost
	}
	if t.holding && len(t.buf)-t.hold > maxHeld {
		t.note("the text is too long to detect doubled dots; lines that begin with two dots are left unchanged")
		t.verbatim, t.holding = true, false
	}
	t.ready = t.seen
	if t.holding {
		t.ready = t.hold
	}
}

// scan examines new data. Lines without a leading dot are skipped quickly.
func (t *textReader) scan(ended bool) {
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

// dotLine examines the first line of rest, which begins with a dot. It returns false if it needs
// more data.
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
		return false // it is the last line, unless more data follows
	case dots == 1 && alone:
		t.verbatim, t.holding = true, false
	case dots == 1:
		t.dotted = true
		if t.holding {
			// Lines "..x" keep their dots; for lines ".." that is still open.
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

// lineEnd returns the length of the line end at the beginning of s, or -1 if there is no line end.
// The end of the text is a line end of length 0. known is false if more data may change the result.
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

// end processes the text held back, at the end of the text.
func (t *textReader) end() {
	t.err = io.EOF
	last := t.buf[t.seen:]
	if t.marked && !bytes.HasSuffix(last, []byte("\n")) {
		// A "." without a line end may be the beginning of a longer line.
		t.err = io.ErrUnexpectedEOF
		t.ready = t.seen
		return
	}
	if len(last) > 0 { // a line "."
		// Without a line end, it may be the beginning of a longer line.
		t.info.Complete = bytes.HasSuffix(last, []byte("\n"))
		t.buf = t.buf[:t.seen]
		if t.holding {
			held := unstuff(t.buf[t.hold:], t.dotted)
			t.buf = t.buf[:t.hold+len(held)]
		}
	}
	t.ready = len(t.buf)
}

// unstuff removes a dot from each line that begins with two, in place. With aloneOnly, it does so
// only for lines that are "..".
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
