// Package unitkey has the names of units where only some characters are possible: in subjects and keys
// of NATS, and in the names of files.
package unitkey

import (
	"fmt"
	"strconv"
	"strings"
)

// Of returns the name of a unit, an address or a slot for where only some characters are possible:
// letters, digits, "-" and "." stay, and all others are "=" and two hexadecimal digits. Different
// names have different keys, also if the case of letters is ignored.
func Of(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-',
			c == '.' && i > 0 && i < len(name)-1 && name[i-1] != '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	return b.String()
}

// Name returns the name of a key.
func Name(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		if key[i] == '=' && i+2 < len(key) {
			if c, err := strconv.ParseUint(key[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(key[i])
	}
	return b.String()
}
