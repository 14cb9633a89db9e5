package report

import (
	"bytes"
	"fmt"
)

// The lines of --trace and --trace-ascii begin with the offset of their first byte, as in curl.

// The number of bytes per line.
const (
	hexWidth   = 16
	asciiWidth = 64
)

// appendHex appends to b lines such as
//
//	0000: 48 65 6c 6c 6f                                  Hello
func appendHex(b, octets []byte) []byte {
	for at := 0; at < len(octets); at += hexWidth {
		row := octets[at:min(at+hexWidth, len(octets))]
		b = fmt.Appendf(b, "%04x: %-*s", at, 3*hexWidth, fmt.Sprintf("% x", row))
		b = append(appendPrintable(b, row), '\n')
	}
	return b
}

// appendASCII appends to b lines of text. A line ends at CR LF or after 64 bytes.
func appendASCII(b, octets []byte) []byte {
	for at := 0; at < len(octets); {
		row := octets[at:min(at+asciiWidth, len(octets))]
		next := at + len(row)
		if end := bytes.Index(octets[at:min(next+2, len(octets))], []byte("\r\n")); end >= 0 {
			row, next = octets[at:at+end], at+end+2
		}
		b = fmt.Appendf(b, "%04x: ", at)
		b = append(appendPrintable(b, row), '\n')
		at = next
	}
	return b
}

// appendPrintable appends octets, with a dot for each that is not printable ASCII.
func appendPrintable(b, octets []byte) []byte {
	for _, c := range octets {
		if c < ' ' || c > '~' {
			c = '.'
		}
		b = append(b, c)
	}
	return b
}
