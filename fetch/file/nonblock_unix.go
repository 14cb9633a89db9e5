//go:build unix

package file

import "syscall"

// nonBlocking keeps open from waiting for the other end of a named pipe that
// took a file's place.
const nonBlocking = syscall.O_NONBLOCK
