package wire

import (
	"net"
	"syscall"
)

// QuickAck asks the kernel to acknowledge what c receives next at once. A
// server that writes its reply in small pieces waits for the acknowledgement
// of each (Nagle's algorithm), which a client that has nothing to say delays
// by 40 ms. Linux forgets the wish soon: ask after every send. What c lies over, such
// as the connection below TLS, is asked.
func QuickAck(c net.Conn) {
	tcp := belowAll(c)
	if tcp == nil {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		// A refusal costs speed only.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	})
}
