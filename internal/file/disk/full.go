package disk

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
)

// IsFull reports whether an error of writing is one of the whole disk: it is full, the quota of the user
// is used up, it may only be read, or it is broken.
func IsFull(err error) bool {
	ends := []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO}
	if runtime.GOOS == "windows" { // ERROR_WRITE_PROTECT, ERROR_NOT_READY, ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
		ends = append(ends, 19, 21, 39, 112)
	}
	return slices.ContainsFunc(ends, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
}
