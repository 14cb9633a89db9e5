//go:build unix

package netrc

import (
	"io/fs"
	"syscall"
)

// ownedBy reports whether a file belongs to the user uid.
func ownedBy(info fs.FileInfo, uid int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == uid
}

// exposedBy reports whether the mode of a file gives access to users other than its owner.
func exposedBy(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
