//go:build unix

package netrc

import (
	"io/fs"
	"syscall"
)

// ownedBy reports whether a file belongs to a user.
func ownedBy(info fs.FileInfo, uid int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == uid
}

// exposedBy reports whether a file's mode lets others than its owner at it.
func exposedBy(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
