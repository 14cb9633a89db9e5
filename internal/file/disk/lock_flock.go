//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

// lock locks the file. It returns false if the file is locked already. File systems without locks
// do not fail.
func lock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK
}

// unlock ends the lock. Closing the file is not enough: a child process has a duplicate of the descriptor
// between fork and exec.
func unlock(file *os.File) {
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
}

// flush closes a duplicate of the descriptor: network file systems report errors of writing when a
// file is closed, and the lock lasts until all duplicates are closed.
func flush(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		syscall.ForkLock.RLock() // a child process must not get the duplicate
		defer syscall.ForkLock.RUnlock()
		duplicate, err := syscall.Dup(int(fd))
		if err == nil {
			err = syscall.Close(duplicate)
		}
		failed = os.NewSyscallError("close", err)
	})
	return errors.Join(err, failed)
}

// yield does nothing, because an open file can be replaced.
func yield(*os.File) error { return nil }
