// Package visible makes texts from servers, and numbers, safe and fit to be shown.
package visible

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name makes a name from a server safe to show: control characters and those that change the
// direction of text are shown by their code, and octets that are not UTF-8 as Latin-1.
func Name(s string) string { return shown(s, "") }

// Text is Name for text of several lines: line ends and tabs stay. Each of CR LF, CR, LF
// and the form feed between pages is the end of a line.
func Text(s string) string { return shown(s, "\n\r\f\t") }

// shown is Name, except for the control characters in layout.
func shown(s, layout string) string {
	if IsPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			r = rune(s[i])
		}
		i += n
		switch {
		case r >= ' ' && r <= '~':
			b.WriteByte(byte(r))
		case r == '\t' && layout != "":
			b.WriteByte('\t')
		case r <= '\r' && strings.ContainsRune(layout, r):
			if r != '\r' || i == len(s) || s[i] != '\n' {
				b.WriteByte('\n')
			}
		case unicode.IsControl(r), unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp), r == '\ufeff':
			fmt.Fprintf(&b, "<%02X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsPlain reports whether a text has only printable characters of ASCII.
func IsPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Breakable splits a text where a browser may break a line: after the slashes of words that are
// longer than a line of a small screen, and after other marks in what is still too long.
func Breakable(text string) []string {
	const long = 24 // letters of a heading
	parts := []string{""}
	for word := range strings.SplitAfterSeq(text, " ") {
		if len(word) <= long {
			parts[len(parts)-1] += word
			continue
		}
		for name := range strings.SplitAfterSeq(word, "/") {
			begin := 0
			for i := range len(name) {
				if len(name) > long && strings.IndexByte("._-@", name[i]) >= 0 {
					parts, begin = append(parts, name[begin:i+1]), i+1
				}
			}
			parts = append(parts, name[begin:])
		}
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// Size is a number of bytes for people; empty if it is negative, which means unknown.
func Size(n int64) string {
	switch {
	case n < 0:
		return ""
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for ; f >= 999.5 && unit < 5; unit++ {
		f /= 1024
	}
	decimals := 0
	if f < 9.95 {
		decimals = 1
	}
	return strconv.FormatFloat(f, 'f', decimals, 64) + " " + "KMGTPE"[unit:unit+1] + "iB"
}
