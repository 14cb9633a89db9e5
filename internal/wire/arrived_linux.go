package wire

import (
	"net"
	"os"
	"syscall"
)

// Arrived waits until bytes arrive on c, as a Read does, and returns how many of len(p) can be read
// without waiting. They stay on the connection; nothing is written to p. If it returns 0 without an
// error, a Read must follow: it finds out what is the matter, such as the end.
func Arrived(c net.Conn, p []byte) (n int, err error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return 0, nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, nil
	}
	closed := raw.Read(func(fd uintptr) bool {
		for {
			// With MSG_TRUNC the kernel counts the bytes and does not copy them (tcp(7)).
			if n, _, err = syscall.Recvfrom(int(fd), p, syscall.MSG_PEEK|syscall.MSG_TRUNC); err != syscall.EINTR {
				return err != syscall.EAGAIN
			}
		}
	})
	switch {
	case closed != nil:
		return 0, nil
	case err != nil: // which the system reports only once
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", err)}
	}
	return n, nil
}
