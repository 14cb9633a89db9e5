//go:build unix

package file

import "syscall"

// nonBlocking keeps open from blocking if a file has been replaced by a named pipe.
const nonBlocking = syscall.O_NONBLOCK
