// Package filelock prevents two processes from writing to one file.
package filelock

import "os"

// Take locks file for this process until file is closed. It returns false if another process, or
// another open file of this one, holds the lock. On systems that cannot lock files it returns true.
func Take(file *os.File) bool { return take(file) }
