// Package term is what the command line does on a terminal: it makes remote
// text harmless to look at, asks for passwords, and knows the window's width.
package term

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Safe is s with everything made visible that a terminal would obey instead of
// showing: control characters but for "\n" and "\t", those of C1, the marks
// that change the direction of text, and line separators. CR LF becomes LF, and
// what is no UTF-8 is taken for Latin-1. Safe(Safe(s)) is Safe(s).
func Safe(s string) string {
	var b strings.Builder
	w := NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Flush()
	return b.String()
}

// SafeLine is Safe for one line of at most columns: line ends and tabs are made
// visible too, and a longer line ends in "…".
func SafeLine(s string, columns int) string {
	var b strings.Builder
	for _, r := range strings.NewReplacer("\n", "␊", "\t", "␉").Replace(Safe(s)) {
		b.WriteRune(r)
		if columns -= columnsOf(r); columns < 0 {
			return cut(b.String(), 1-columns) + "…"
		}
	}
	return b.String()
}

// Fit is SafeLine filled with spaces to exactly columns.
func Fit(s string, columns int) string {
	s = SafeLine(s, columns)
	return s + strings.Repeat(" ", max(0, columns-Width(s)))
}

// Width is how many columns a text takes up, at most.
func Width(s string) (columns int) {
	for _, r := range s {
		columns += columnsOf(r)
	}
	return columns
}

// cut removes characters from the end of s that take up n columns or more.
func cut(s string, n int) string {
	for n > 0 && s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		n -= columnsOf(r)
	}
	return s
}

// columnsOf is how many columns a character takes up, at most.
func columnsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Writer makes text harmless on its way to a terminal, as [Safe] does.
type Writer struct {
	w    io.Writer
	held []byte // an incomplete character, or a CR, at the end of the last Write
}

// NewWriter is a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write holds back octets whose meaning depends on those to come; see
// [Writer.Flush].
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.held, p...)
	n := complete(text)
	w.held = append([]byte(nil), text[n:]...)
	if _, err := w.w.Write(appendSafe(nil, text[:n])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back.
func (w *Writer) Flush() error {
	text := w.held
	w.held = nil
	_, err := w.w.Write(appendSafe(nil, text))
	return err
}

// complete is the length of text without a CR or an unfinished character at its
// end.
func complete(text []byte) int {
	n := len(text)
	if n > 0 && text[n-1] == '\r' {
		return n - 1
	}
	for i := n - 1; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return n
}

func appendSafe(out, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out = appendOctet(out, text[0])
		case r == '\r' && len(text) > 1 && text[1] == '\n':
		default:
			out = appendRune(out, r)
		}
		text = text[size:]
	}
	return out
}

// appendOctet shows an octet that is no UTF-8.
func appendOctet(out []byte, c byte) []byte {
	if c < 0xA0 {
		return fmt.Appendf(out, `\x%02x`, c)
	}
	return utf8.AppendRune(out, rune(c))
}

func appendRune(out []byte, r rune) []byte {
	switch {
	case r == '\n' || r == '\t':
	case r < ' ':
		r += '␀'
	case r == 0x7F:
		r = '␡'
	case r < 0xA0 && r > 0x7F, r == 0x061C, r == 0x200E, r == 0x200F,
		0x2028 <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
		return fmt.Appendf(out, "<U+%04X>", r)
	}
	return utf8.AppendRune(out, r)
}
