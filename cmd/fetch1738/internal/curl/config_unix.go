//go:build unix

package curl

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// trusted returns an error unless only the user, their group and root can have written the file.
func trusted(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() && info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("%s: file is writable by all users; run: chmod o-w %s", path, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: file belongs to another user", path)
	}
	return nil
}
