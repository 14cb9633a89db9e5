package term

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// A Screen passes on what draws on a terminal: text, cursor movements, colours, and the
// modes of full-screen programs. It drops:
//
//   - sequences to which a terminal replies as if the user typed (reports, answerback)
//   - sequences that affect more than the screen (titles, the clipboard, printers,
//     strings for the terminal itself)
//   - control characters that do not draw
//   - C1 controls, of one byte or two; the text after them is shown
//
// It is for interactive sessions; [Writer] is for text.
type Screen struct {
	w     io.Writer
	state screenState
	seq   []byte // an incomplete sequence or character
	drew  bool
}

type screenState uint8

const (
	screenText   screenState = iota
	screenEscape             // after ESC, with intermediates
	screenCSI                // after ESC [
	screenString             // in a string that ends in ST or BEL
)

// maxSequence is the longest sequence that is passed on.
const maxSequence = 64

// NewScreen returns a Screen on w.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Write implements io.Writer. It buffers incomplete sequences.
func (s *Screen) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+len(s.seq))
	for _, c := range p {
		out = s.octet(out, c)
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Reset restores what an interrupted program may have changed: colours, the cursor, mouse
// reports, bracketed paste, the alternate screen. It does nothing if no sequence has been
// passed on.
func (s *Screen) Reset() error {
	s.state, s.seq = screenText, nil
	if !s.drew {
		return nil
	}
	s.drew = false
	_, err := io.WriteString(s.w, "\x1b[0m\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1049l\x1b>\x1b(B\x0f")
	return err
}

// octet handles a byte. CAN and SUB end a sequence.
func (s *Screen) octet(out []byte, c byte) []byte {
	const cancel, substitute, escape = 0x18, 0x1A, 0x1B
	switch {
	case c == escape:
		if s.state == screenText {
			out = s.cut(out)
		}
		s.state, s.seq = screenEscape, append(s.seq[:0], c)
		return out
	case s.state == screenText:
		return s.text(out, c)
	case c == cancel || c == substitute:
		s.state, s.seq = screenText, s.seq[:0]
		return out
	case s.state == screenString:
		if c == '\a' {
			s.state = screenText
		}
		return out
	case c < ' ': // executed within a sequence
		return append(out, drawing(c)...)
	case c >= 0x7F: // not part of any sequence
		s.state, s.seq = screenText, s.seq[:0]
		return out
	}
	if len(s.seq) <= maxSequence {
		s.seq = append(s.seq, c)
	}
	if s.state == screenCSI {
		return s.csi(out, c)
	}
	return s.escape(out, c)
}

// text handles a byte outside of sequences.
func (s *Screen) text(out []byte, c byte) []byte {
	if utf8.RuneStart(c) {
		out = s.cut(out)
	}
	switch {
	case c < ' ':
		return append(out, drawing(c)...)
	case c < 0x7F:
		return append(out, c)
	}
	if s.seq = append(s.seq, c); !utf8.FullRune(s.seq) {
		return out
	}
	r, size := utf8.DecodeRune(s.seq)
	if r == utf8.RuneError && size == 1 {
		return s.cut(out)
	}
	if r > 0x9F {
		out = append(out, s.seq...)
	}
	s.seq = s.seq[:0]
	return out
}

// cut reads an invalid UTF-8 character as Latin-1.
func (s *Screen) cut(out []byte) []byte {
	for _, c := range s.seq {
		if c > 0x9F {
			out = utf8.AppendRune(out, rune(c))
		}
	}
	s.seq = s.seq[:0]
	return out
}

// drawing returns c if it is a control character that draws.
func drawing(c byte) []byte {
	switch c {
	case '\a', '\b', '\t', '\n', '\v', '\f', '\r', 0x0E, 0x0F:
		return []byte{c}
	}
	return nil
}

// escape handles a byte after ESC.
func (s *Screen) escape(out []byte, c byte) []byte {
	switch {
	case c < '0': // intermediate
		return out
	case c == '[' && len(s.seq) == 2:
		s.state = screenCSI
		return out
	case bytes.IndexByte([]byte("]PX^_k"), c) >= 0 && len(s.seq) == 2: // OSC, DCS, SOS, PM, APC, a title
		s.state = screenString
		return out
	}
	s.state = screenText
	alone := len(s.seq) == 2 && bytes.IndexByte([]byte("78DEMH=>"), c) >= 0
	charset := len(s.seq) == 3 && bytes.IndexByte([]byte("()*+#"), s.seq[1]) >= 0
	return s.pass(out, alone || charset)
}

// csi handles a byte after CSI. The final byte decides.
func (s *Screen) csi(out []byte, c byte) []byte {
	if c < '@' {
		return out
	}
	s.state = screenText
	parameters := s.seq[2 : len(s.seq)-1]
	private := len(parameters) > 0 && parameters[0] >= '<'
	intermediate := bytes.ContainsAny(parameters, " !\"#$%&'()*+,-./")
	finals := "ABCDEFGHIJKLMPSTXZ@`abdefghlmrsu"
	if private {
		finals = "hlJK"
	}
	shape := string(parameters) != "" && parameters[len(parameters)-1] == ' ' && c == 'q' && !private // of the cursor
	return s.pass(out, shape || !intermediate && bytes.IndexByte([]byte(finals), c) >= 0)
}

// pass ends a sequence.
func (s *Screen) pass(out []byte, allowed bool) []byte {
	if allowed && len(s.seq) <= maxSequence {
		s.drew = true
		out = append(out, s.seq...)
	}
	s.seq = s.seq[:0]
	return out
}
