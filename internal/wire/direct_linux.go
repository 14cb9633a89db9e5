package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// DirectMove returns a Move from a connection to a pipe, io.Discard or /dev/null. It
// returns nil for any other writer.
func DirectMove(c net.Conn, w io.Writer) Move {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	if w == io.Discard {
		return receiving(tcp, "recvfrom", discard())
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
		// Standard output is in blocking mode: the kernel waits until the pipe can take
		// data. A pipe in non-blocking mode is left to package os.
		to, err := f.SyscallConn()
		if err != nil || f.SetWriteDeadline(time.Time{}) == nil {
			return nil
		}
		_ = to.Control(growPipe)
		return receiving(tcp, "splice", func(fd, size int) (n int64, err error) {
			splice := func(pipe uintptr) {
				moved, failed := syscall.Splice(fd, nil, int(pipe), nil, size, 0)
				n, err = int64(moved), failed // its type depends on the processor
			}
			if closed := to.Control(splice); closed != nil {
				return 0, closed
			}
			return max(n, 0), err
		})
	case info.Mode()&os.ModeCharDevice != 0:
		null, err := os.Stat(os.DevNull)
		if _, closed := f.Write(nil); err == nil && closed == nil && os.SameFile(info, null) {
			return receiving(tcp, "recvfrom", discard())
		}
	}
	return nil
}

// growPipe sets the capacity of a pipe to pipeSize bytes instead of 64 KiB, if the system
// allows it. Reader and writer then wait less often.
func growPipe(pipe uintptr) {
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, pipe, setPipeSize, pipeSize)
}

const (
	setPipeSize = 1031 // F_SETPIPE_SZ, which is not in package syscall
	pipeSize    = 1 << 20
)

// discard returns a system call that discards received bytes in the kernel (tcp(7),
// MSG_TRUNC). Nothing is written to the buffer; only its length matters.
func discard() func(fd, size int) (int64, error) {
	buf := make([]byte, 1<<20)
	return func(fd, size int) (int64, error) {
		n, _, err := syscall.Recvfrom(fd, buf[:min(size, len(buf))], syscall.MSG_TRUNC)
		return int64(max(n, 0)), err
	}
}

// receiving returns a Move that repeats a system call. The call takes at most size bytes
// from a connection.
func receiving(from *net.TCPConn, name string, call func(fd, size int) (int64, error)) Move {
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
