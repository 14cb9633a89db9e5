// Package natural compares names in the order in which people look for them.
package natural

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Compare compares two names. Letters are compared without their case, and digits as numbers:
// "file-2" is before "File-10". Names that differ only in case or in zeros before a number are
// compared byte by byte, so that only equal names are equal.
func Compare(a, b string) int {
	for x, y := a, b; ; {
		if x == "" || y == "" {
			return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
		}
		if isDigit(x[0]) && isDigit(y[0]) {
			var m, n string
			m, x = number(x)
			n, y = number(y)
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			continue
		}
		r, i := utf8.DecodeRuneInString(x)
		s, j := utf8.DecodeRuneInString(y)
		if c := cmp.Compare(unicode.ToLower(r), unicode.ToLower(s)); c != 0 {
			return c
		}
		x, y = x[i:], y[j:]
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number splits the number at the beginning of s off, without its leading zeros.
func number(s string) (digits, rest string) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}
