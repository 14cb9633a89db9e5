//go:build unix

package wire

import (
	"net"
	"syscall"
)

func readable(c net.Conn) (waiting, known bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false, false
	}
	if err := raw.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		waiting = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK && err != syscall.EINTR
	}); err != nil {
		return false, false
	}
	return waiting, true
}
