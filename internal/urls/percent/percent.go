// Package percent writes octets as "%XX" and reads them again, where net/url cannot: for any set of
// octets, and for texts in which a "%" may mean itself.
package percent

import (
	"strconv"
	"strings"
)

// Encode writes the octets of text that odd selects as "%" and two hexadecimal digits in upper case.
func Encode(text string, odd func(octet byte) bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(text) {
		if odd(c) {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Decode replaces each "%" and two hexadecimal digits by the octet. All else means itself.
func Decode(text string) string {
	var b strings.Builder
	for text != "" {
		if text[0] == '%' && len(text) > 2 {
			if c, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				text = text[3:]
				continue
			}
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}
