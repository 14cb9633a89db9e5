//go:build unix

package ftp

import (
	"errors"
	"net"
	"syscall"
)

// canSplice tells whether the kernel can move octets from c to a file.
func canSplice(c net.Conn) bool {
	_, ok := c.(*net.TCPConn)
	return ok
}

// connectionError tells the errors of a connection from those of the file that
// its octets go to; a splice gives either.
func connectionError(err error) bool {
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
