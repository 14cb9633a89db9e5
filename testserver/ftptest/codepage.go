package ftptest

import (
	"slices"
	"strings"
)

// codePage means that names are in the code page 1252 of Windows. Otherwise they are octets.
type codePage bool

// windows1252 are the characters of the octets 80 to 9F in the code page 1252 of Windows. The octets
// from A0 on are those of ISO 8859-1.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// decode returns a command as the server reads it.
func (on codePage) decode(line string) string {
	if !on {
		return line
	}
	var b strings.Builder
	for _, c := range []byte(line) {
		r := rune(c)
		if i := int(c) - 0x80; i >= 0 && i < len(windows1252) {
			r = windows1252[i]
		}
		b.WriteRune(r)
	}
	return b.String()
}

// encode returns a reply, or a line of a listing, as the server sends it. A character that the code
// page does not have becomes a question mark.
func (on codePage) encode(text string) string {
	if !on {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch i := slices.Index(windows1252, r); {
		case i >= 0:
			b.WriteByte(byte(0x80 + i))
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			b.WriteByte(byte(r))
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
