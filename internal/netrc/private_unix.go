//go:build unix

package netrc

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// private checks that the file's passwords are its owner's alone.
func private(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: others can read its passwords; run: chmod 600 %s", path, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: it belongs to another user", path)
	}
	return nil
}
