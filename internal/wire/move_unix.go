//go:build unix

package wire

import (
	"errors"
	"net"
	"syscall"
)

// CanMove reports whether the kernel can move bytes from c to a file.
func CanMove(c net.Conn) bool {
	_, ok := c.(*net.TCPConn)
	return ok
}

// OfConnection reports whether err, from a move, is an error of the connection. A move returns
// errors of the connection and errors of the file.
func OfConnection(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) {
		return true
	}
	for _, errno := range []syscall.Errno{syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENOTCONN} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return errors.Is(err, net.ErrClosed)
}
