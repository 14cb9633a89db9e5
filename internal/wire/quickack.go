package wire

import (
	"net"
	"time"
)

// stall is how long a read waits before it asks for acknowledgements. A pause as
// short as this is no server that waits for us, and to acknowledge each piece of a
// fast stream makes the pieces smaller and costs both sides more than it saves.
const stall = time.Millisecond

// belowAll is the TCP connection below TLS and the like, or nil if there is none.
func belowAll(c net.Conn) *net.TCPConn {
	for {
		switch below := c.(type) {
		case *net.TCPConn:
			return below
		case interface{ NetConn() net.Conn }:
			c = below.NetConn()
		default:
			return nil
		}
	}
}
