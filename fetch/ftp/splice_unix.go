//go:build unix

package ftp

import (
	"errors"
	"net"
	"syscall"
)

// canSplice reports whether the kernel can move bytes from c to a file.
func canSplice(c net.Conn) bool {
	_, ok := c.(*net.TCPConn)
	return ok
}

// connectionError reports whether err is an error of the connection. A splice returns
// errors of the connection and errors of the file.
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
