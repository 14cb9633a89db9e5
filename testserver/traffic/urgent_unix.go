//go:build unix

package traffic

import (
	"net"
	"syscall"
)

// ReceiveUrgent makes the urgent byte of TCP part of what is read. Clients send ABOR, or the Telnet
// commands before it, as urgent data (RFC 959 §4.1.3); its last byte would be lost otherwise.
func ReceiveUrgent(nc net.Conn) {
	c, ok := nc.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_OOBINLINE, 1) })
	}
}
