//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mirror

import (
	"os"
	"syscall"
)

// lock takes a file for this process, until it is closed. A system that cannot
// lock is no reason to stop.
func lock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != syscall.EWOULDBLOCK
}
