package wire

import (
	"net"
	"time"
)

// stall is how long a read waits before it requests acknowledgements. After a shorter pause the
// server is not waiting for us. To acknowledge each piece of a fast stream makes the pieces smaller
// and costs both sides more than it saves.
const stall = time.Millisecond

// belowAll returns the TCP connection below TLS and similar layers, or nil.
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
