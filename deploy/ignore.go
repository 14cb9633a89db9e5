package deploy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
)

// IgnoreFile is the file in Dir with patterns of what is not sent, in the syntax of .gitignore. It
// is not sent either.
const IgnoreFile = ".fetch1738ignore"

// maxIgnore is the maximum size in bytes of IgnoreFile.
const maxIgnore = 1 << 20

// readIgnore returns a function that reports whether IgnoreFile excludes a path.
func readIgnore(root disk.Folder) (func(path string, dir bool) bool, error) {
	f, err := root.OpenFile(IgnoreFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func(string, bool) bool { return false }, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxIgnore {
		return nil, fmt.Errorf("%s has more than %d bytes", IgnoreFile, maxIgnore)
	}
	ignored, err := filter.Ignore(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s, %w", IgnoreFile, err)
	}
	return ignored, nil
}
