package wire

import "net"

// Readable reports whether octets, or the end, wait to be read from c. It is for
// an idle session: what has come on it answers nothing that will be asked. Where
// that cannot be told, as on some systems and behind a net.Conn that is not the
// system's, it is false. What waits below TLS need not be for the reader.
func Readable(c net.Conn) bool {
	if c, ok := c.(interface{ Readable() bool }); ok { // a network in memory
		return c.Readable()
	}
	return readable(c)
}
