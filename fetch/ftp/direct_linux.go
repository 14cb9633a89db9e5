package ftp

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// direct is how octets get from a connection to what is no regular file without
// passing through the program: to a pipe, or nowhere at all. It is nil where there is
// no such way.
func direct(c net.Conn, w io.Writer) move {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	if w == io.Discard {
		return receiving(tcp, "recvfrom", drop())
	}
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil
	case info.Mode()&os.ModeNamedPipe != 0:
		// A write to standard output waits in the kernel for room. One that does not is
		// left to package os.
		to, err := f.SyscallConn()
		if err != nil || f.SetWriteDeadline(time.Time{}) == nil {
			return nil
		}
		_ = to.Control(widen)
		return receiving(tcp, "splice", func(fd, size int) (n int64, err error) {
			if closed := to.Control(func(pipe uintptr) { n, err = syscall.Splice(fd, nil, int(pipe), nil, size, 0) }); closed != nil {
				return 0, closed
			}
			return max(n, 0), err
		})
	case info.Mode()&os.ModeCharDevice != 0:
		null, err := os.Stat(os.DevNull)
		if _, closed := f.Write(nil); err == nil && closed == nil && os.SameFile(info, null) {
			return receiving(tcp, "recvfrom", drop())
		}
	}
	return nil
}

// widen gives a pipe room for pipeSize octets instead of 64 KiB, if the system allows
// it: both ends wait less often.
func widen(pipe uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, pipe, setPipeSize, pipeSize) }

const (
	setPipeSize = 1031 // F_SETPIPE_SZ, which package syscall does not have
	pipeSize    = 1 << 20
)

// drop has the kernel forget octets (tcp(7), MSG_TRUNC). Nothing is written to the
// buffer, whose length is what counts.
func drop() func(fd, size int) (int64, error) {
	buf := make([]byte, 1<<20)
	return func(fd, size int) (int64, error) {
		n, _, err := syscall.Recvfrom(fd, buf[:min(size, len(buf))], syscall.MSG_TRUNC)
		return int64(max(n, 0)), err
	}
}

// receiving is the way that a system call goes, which takes so many octets at most
// from a connection. It is called again and again.
func receiving(from *net.TCPConn, name string, call func(fd, size int) (int64, error)) move {
	return func(size int64) (moved int64, err error) {
		conn, err := from.SyscallConn()
		if err != nil {
			return 0, err
		}
		for moved < size {
			var n int64
			waited := conn.Read(func(fd uintptr) bool {
				for {
					if n, err = call(int(fd), int(size-moved)); err != syscall.EINTR {
						return err != syscall.EAGAIN
					}
				}
			})
			moved += n
			switch {
			case waited != nil:
				return moved, waited
			case err != nil:
				return moved, os.NewSyscallError(name, err)
			case n == 0:
				return moved, nil
			}
		}
		return moved, nil
	}
}
