//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// open is os.OpenFile without the attempt to use the file in non-blocking mode. That takes five
// system calls, and always fails with a regular file.
func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&syscall.O_NONBLOCK != 0 {
		return os.OpenFile(path, flag, perm) // with os.NewFile it takes one system call more
	}
	for {
		fd, err := syscall.Open(path, flag|syscall.O_CLOEXEC, uint32(perm.Perm()))
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
