// Package ansi reads the escape sequences of terminals (ECMA-48) in texts for people: the colours and
// the emphasis that they set. All other sequences are removed. Libraries for terminals keep hundreds of
// sequences and have no 16 colours as their result; this is the part that a page needs.
package ansi

import "strings"

// A Run is a part of a text in one style.
type Run struct {
	Text  string
	Style Style
}

// A Reader reads a text in parts. What a part sets applies to the parts after it, and a sequence may
// begin in one part and end in another. The zero value is ready for use.
type Reader struct {
	// Columns is the width of the screen that a picture was made for: longer lines are wrapped, and
	// the sequence that moves the cursor to the right becomes spaces. If 0, neither is done.
	Columns int
	// DOS says that the end-of-file character of DOS ends the text. Pictures have their author and title
	// behind it.
	DOS bool

	style  Style
	state  state
	params []byte // of the sequence, up to maxParams
	long   int    // bytes of the string in a sequence
	column int
	spaces int // that moves of the cursor have made
	ended  bool
}

// The limits of sequences, which keep a part of a sequence from hiding the rest of the text, and a short
// text from becoming a long one.
const (
	maxParams = 128
	maxString = 1 << 10
	maxSpaces = 1 << 20
)

// A state says in which part of a sequence a Reader is.
type state int

const (
	ground     state = iota
	escaped          // behind ESC
	between          // behind ESC and a byte that others follow
	control          // behind ESC [
	inString         // in a string that ST or BEL ends, such as the title of a window
	stringEnds       // behind ESC in such a string
)

// EndOfFile is the character that ends texts of DOS.
const EndOfFile = 0x1a

const (
	bel = '\a'
	can = 0x18
	esc = 0x1b
)

// Has reports whether a text has a sequence that sets a colour or an emphasis.
func Has(text string) bool {
	for {
		_, after, ok := strings.Cut(text, "\x1b[")
		if !ok {
			return false
		}
		end := strings.TrimLeft(after, "0123456789;:")
		if end != "" && end[0] == 'm' {
			return true
		}
		text = after
	}
}

// Plain returns a text without its sequences.
func Plain(text string) string {
	if strings.IndexByte(text, esc) < 0 {
		return text
	}
	var plain strings.Builder
	for _, run := range new(Reader).Read(text) {
		plain.WriteString(run.Text)
	}
	return plain.String()
}

// Reset ends what the text has set, and an incomplete sequence.
func (r *Reader) Reset() { r.style, r.state = Style{}, ground }

// Read returns a part of the text, which is UTF-8, as runs without sequences. Neighbours differ in
// their styles. The time is linear in the length of the part.
func (r *Reader) Read(text string) []Run {
	to := writer{reader: r}
	for i := 0; i < len(text) && !r.ended; i++ {
		b := text[i]
		if r.state == ground && b != esc {
			r.plain(&to, b)
		} else if r.sequence(b, &to) {
			i-- // the byte ends the sequence, but is not part of it
		}
	}
	to.end()
	return to.runs
}

// A writer makes runs of what a Reader shows.
type writer struct {
	reader *Reader
	runs   []Run
	now    strings.Builder
	style  Style // of now
}

// write writes a byte in the style of the reader. A run ends here, not when the style changes,
// because the style may change back before anything is written.
func (w *writer) write(b byte) {
	if w.style != w.reader.style {
		w.end()
		w.style = w.reader.style
	}
	w.now.WriteByte(b)
}

// end ends the current run.
func (w *writer) end() {
	if w.now.Len() > 0 {
		w.runs = append(w.runs, Run{w.now.String(), w.style})
		w.now.Reset()
	}
}

// Line is Read for a line without its end, which also ends an incomplete sequence.
func (r *Reader) Line(text string) []Run {
	runs := r.Read(text)
	r.state, r.column = ground, 0
	return runs
}

// plain adds a byte that is in no sequence.
func (r *Reader) plain(to *writer, b byte) {
	switch {
	case b == '\n' || b == '\r':
		r.column = 0
	case b == EndOfFile && r.DOS:
		r.ended = true
		return
	case b&0xC0 != 0x80: // not within a character
		r.wrap(to)
		r.column++
	}
	to.write(b)
}

// wrap begins the next line behind the last column.
func (r *Reader) wrap(to *writer) {
	if r.Columns > 0 && r.column == r.Columns {
		to.write('\n')
		r.column = 0
	}
}

// sequence takes the next byte of a sequence, or the ESC that begins one. It reports whether the byte is
// not part of it.
func (r *Reader) sequence(b byte, to *writer) (again bool) {
	switch {
	case b == esc && r.state != inString:
		r.state = escaped
		return false
	case b == can || b == EndOfFile && r.state != ground:
		r.state = ground
		return false
	}
	switch r.state {
	case escaped:
		switch b {
		case '[':
			r.state, r.params = control, r.params[:0]
		case ']', 'P', 'X', '^', '_':
			r.state, r.long = inString, 0
		default:
			return r.simple(b)
		}
	case between:
		return r.simple(b)
	case control:
		return r.parameter(b, to)
	case inString:
		r.long++
		switch {
		case b == esc:
			r.state = stringEnds
		case b == bel:
			r.state = ground
		case b == '\n' || b == '\r' || r.long > maxString:
			r.state = ground
			return true
		}
	case stringEnds: // "\", or the beginning of another sequence
		r.state = escaped
		if b == '\\' {
			r.state = ground
			return false
		}
		return true
	}
	return false
}

// simple takes a byte of a sequence without parameters.
func (r *Reader) simple(b byte) (again bool) {
	switch {
	case b >= ' ' && b <= '/':
		r.state = between
		return false
	default:
		r.state = ground
		return b < '0' || b > '~'
	}
}

// parameter takes a byte of a control sequence behind "ESC [".
func (r *Reader) parameter(b byte, to *writer) (again bool) {
	switch {
	case b >= ' ' && b <= '?':
		if r.params = append(r.params, b); len(r.params) > maxParams {
			r.state = ground // no program writes this
		}
		return false
	case b < '@' || b > '~':
		r.state = ground
		return true
	}
	r.state = ground
	switch b {
	case 'm':
		r.style.set(string(r.params))
	case 'C':
		r.right(to)
	}
	return false
}

// right moves the cursor to the right.
func (r *Reader) right(to *writer) {
	if r.Columns == 0 {
		return
	}
	n := 1
	if params := numbers(string(r.params)); len(params) > 0 && params[0].value > 0 {
		n = params[0].value
	}
	r.wrap(to)
	for ; n > 0 && r.column < r.Columns-1 && r.spaces < maxSpaces; n-- {
		to.write(' ')
		r.column++
		r.spaces++
	}
}
