package deploy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
)

// maxIgnore is the maximum size in bytes of IgnoreFile.
const maxIgnore = 1 << 20

// A selection says which paths on the server are those of the tree.
type selection struct {
	filter      filter.Filter
	ignored     func(path string, dir bool) bool // by IgnoreFile
	remoteState string
}

// newSelection returns the selection of an Upload, without the patterns of IgnoreFile.
func newSelection(u *Upload) (s selection, err error) {
	s.remoteState = u.RemoteState
	s.filter, err = filter.New(u.Include, u.Exclude)
	return s, err
}

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

// excludes reports whether a path, whose folder is not excluded, is not part of the tree.
func (s selection) excludes(name string, dir bool) bool {
	switch parts := components(name); {
	case name == state.Folder, name == IgnoreFile:
		return true
	case dir && !s.filter.Dir(parts), !dir && !s.filter.File(parts):
		return true
	}
	return s.ignored(name, dir)
}

// isExcluded reports whether a path at the server is excluded, or below a folder that is.
func (s selection) isExcluded(name string, dir bool) bool {
	for i, c := range name {
		if c == '/' && s.excludes(name[:i], true) {
			return true
		}
	}
	return name == s.remoteState || s.excludes(name, dir)
}
