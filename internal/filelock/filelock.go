// Package filelock keeps two processes from writing to one file.
package filelock

import "os"

// Take locks file for this process until it is closed. It reports false if another
// process, or another open file of this one, has the lock. On systems that cannot
// lock files it reports true.
func Take(file *os.File) bool { return take(file) }
