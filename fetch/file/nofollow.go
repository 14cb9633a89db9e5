package file

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// split divides a path before its last n parts, or after its root if it has fewer. It does not resolve
// "..", which is the system's to do: a part may be a link.
func split(path string, n int) (start string, parts []string) {
	for ; n > 0; n-- {
		trimmed := strings.TrimRight(path, separator)
		i := strings.LastIndexByte(trimmed, os.PathSeparator)
		if i < 0 {
			break
		}
		path, parts = trimmed[:i+1], append(parts, trimmed[i+1:])
	}
	slices.Reverse(parts)
	return path, parts
}

// descend opens the directory of the path. Of its last directories, as many as Options.NoFollow says must
// not be links: each is opened in the one above, and is the same as before.
func (a *access) descend() (disk.Folder, error) {
	start, parts := split(a.path, a.opt.NoFollow)
	in, err := a.disk.OpenRoot(start)
	for _, name := range parts {
		if err != nil {
			return nil, err
		}
		var next disk.Folder
		next, err = within(in, name)
		in.Close()
		in = next
	}
	return in, err
}

// within opens the directory name in a folder, which must not be a link.
func within(in disk.Folder, name string) (disk.Folder, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, notDirectory(name, before.Mode())
	}
	next, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := next.Stat(".")
	if err == nil && !disk.SameFile(before, now) {
		err = notDirectory(name, fs.ModeSymlink)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// notDirectory returns the error of a directory that has been exchanged for something else.
func notDirectory(name string, mode fs.FileMode) error {
	return &fetch.Error{Kind: fetch.ErrOther, Err: fmt.Errorf("%q is %s now, not a directory", name, describe(mode))}
}

// openDirectory is descend, for a listing.
func (a *access) openDirectory() (*os.File, error) {
	in, err := a.descend()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file, err := in.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if list, ok := file.(*os.File); ok {
		return list, nil
	}
	file.Close()
	return nil, fmt.Errorf("%s is not on the disk of the system", a.path)
}
