package wire

import (
	"net"
	"syscall"
)

// QuickAck makes the kernel acknowledge what c receives next at once. A server that writes its
// reply in small pieces waits for the acknowledgement of each (Nagle's algorithm). A client that
// has nothing to send delays that by 40 ms. Linux soon returns to delayed acknowledgements, so call
// QuickAck after every send. If c is a layer such as TLS, the TCP connection below it is used.
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
		// If this fails, it only costs speed.
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	})
}
