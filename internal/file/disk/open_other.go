//go:build !unix

package disk

import (
	"io/fs"
	"os"
)

func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
