package disk

import (
	"errors"
	"os"

	// x/sys/windows has LockFileEx, which package syscall lacks. Libraries for locks open the file
	// themselves; here it is open, and keeps its lock while it is renamed.
	"golang.org/x/sys/windows"
)

// lock locks a byte that no file has, because Windows refuses to read and write what is locked.
func lock(file *os.File) bool {
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, at)
	return !errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !errors.Is(err, windows.ERROR_IO_PENDING)
}

// unlock does nothing: closing the file ends its lock.
func unlock(*os.File) {}

// flush closes the file, because Windows does not rename an open one. From then on another process
// can lock it. If one does before the rename, the rename fails.
func flush(file *os.File) error { return file.Close() }

// yield closes the file, because Windows does not replace an open one.
func yield(file *os.File) error { return file.Close() }
