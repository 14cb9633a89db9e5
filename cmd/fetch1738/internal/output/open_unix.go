//go:build unix

package output

import (
	"io/fs"
	"os"
	"syscall"
)

// open is os.OpenFile without the attempt to use the file in non-blocking mode. That takes five
// system calls, and always fails with a regular file.
func open(path string, flags int) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0o666)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
