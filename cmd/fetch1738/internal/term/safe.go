// Package term has the terminal functions of the command line: it makes text from servers
// safe to show, prompts for passwords, and returns the size of the window.
package term

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	// x/text/width tells which characters take two columns, by the table of Unicode. It is kept by the
	// authors of Go, and linked already for the charsets.
	"golang.org/x/text/width"
)

// Safe returns s with everything made visible that a terminal would execute: control
// characters except "\n" and "\t", those of C1, the marks that change the direction of
// text, and line separators. CR LF becomes LF. Bytes that are not UTF-8 are read as
// Latin-1. Safe(Safe(s)) is Safe(s).
func Safe(s string) string {
	var b strings.Builder
	w := NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Flush()
	return b.String()
}

// SafeLine is Safe for one line of at most columns: line ends and tabs are made visible
// too, and a longer line is cut and ends in "…".
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

// Width returns how many columns a text takes at most.
func Width(s string) (columns int) {
	for _, r := range s {
		columns += columnsOf(r)
	}
	return columns
}

// cut removes characters that take n columns or more from the end of s.
func cut(s string, n int) string {
	for n > 0 && s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		n -= columnsOf(r)
	}
	return s
}

// columnsOf returns how many columns a character takes at most.
func columnsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// A Writer applies [Safe] to text for a terminal.
type Writer struct {
	w    io.Writer
	held []byte // an incomplete character, or a CR, at the end of the last Write
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write buffers bytes whose meaning depends on those that follow; see [Writer.Flush].
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.held, p...)
	n := complete(text)
	w.held = append([]byte(nil), text[n:]...)
	if _, err := w.w.Write(appendSafe(nil, text[:n])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	text := w.held
	w.held = nil
	_, err := w.w.Write(appendSafe(nil, text))
	return err
}

// complete returns the length of text without a CR or an incomplete character at its
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

// appendSafe appends text, which has no incomplete character at its end, as Safe shows it.
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

// appendOctet shows a byte that is not UTF-8.
func appendOctet(out []byte, c byte) []byte {
	if c < 0xA0 {
		return fmt.Appendf(out, `\x%02x`, c)
	}
	return utf8.AppendRune(out, rune(c))
}

// appendRune appends a character, or a visible one in its place.
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
