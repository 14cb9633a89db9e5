//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// OutputWasClosed reports whether the program was started without a standard output. The Go runtime
// then opens the null device in its place, for reading and writing, so that every write succeeds.
//
// A shell that discards the output opens the device for writing only. Some programs open it for
// both when they start another one. That looks the same as a closed output, except in two cases:
// one open file is both the output and another stream (daemon(3), and Python if it discards both
// outputs), or all streams were discarded by opening the device for each (Node.js).
func OutputWasClosed() bool {
	in, out, messages := nullMode(0), nullMode(1), nullMode(2)
	switch {
	case out != unix.O_RDWR:
		return false
	case messages == unix.O_RDWR && (in == unix.O_RDONLY || isOneFile(1, 2)):
		return false
	}
	return in != unix.O_RDWR || !isOneFile(1, 0)
}

// nullMode returns the access mode of a descriptor of the null device, or -1 for other files.
func nullMode(fd int) int {
	var file, null unix.Stat_t
	if unix.Fstat(fd, &file) != nil || unix.Stat(os.DevNull, &null) != nil || file.Dev != null.Dev || file.Ino != null.Ino {
		return -1
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return -1
	}
	return flags & (unix.O_RDONLY | unix.O_WRONLY | unix.O_RDWR)
}

// isOneFile reports whether two descriptors share one open file, and so its flags. O_APPEND, which
// it changes for a moment, has no effect on the null device.
func isOneFile(a, b int) bool {
	flags := func(fd int) int {
		n, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		return n
	}
	set := func(fd, to int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, to) }
	was, before := flags(a), flags(b)
	set(a, was^unix.O_APPEND)
	defer set(a, was)
	return flags(b) != before
}
