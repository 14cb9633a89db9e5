package wire

import "net"

// Readable reports whether bytes, or the end, are waiting to be read from c. It is for an idle
// session: bytes that have arrived on it cannot be the answer to a future command. It returns false
// where this cannot be determined, as on some systems and for a net.Conn that is not the system's.
// Bytes that wait below TLS need not be data for the reader.
func Readable(c net.Conn) bool {
	waiting, _ := Look(c)
	return waiting
}

// Silent reports whether nothing is waiting to be read from c. It returns false where this cannot be
// determined.
func Silent(c net.Conn) bool {
	waiting, known := Look(c)
	return known && !waiting
}

// Look reports whether bytes, or the end, are waiting to be read from c, and whether that is known.
func Look(c net.Conn) (waiting, known bool) {
	if c, ok := c.(interface{ Readable() bool }); ok { // a network in memory
		return c.Readable(), true
	}
	return readable(c)
}
