package output

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// The part of a Sink's path that a server chose stays below the directory that the user
// named, and symbolic links in it are not followed: an earlier transfer may have created
// them. The part that the user typed may lead anywhere.

// openPath opens or creates the Sink's file. It does not empty it.
func (s *Sink) openPath(flags int) (f disk.File, err error) {
	err = s.inFolder(s.existing.mkdirs, func(dir disk.Folder, name string) (err error) {
		f, err = openIn(s, dir, name, flags)
		return err
	})
	return f, err
}

// openIn opens or creates the Sink's file. If a server chose the name, it must be a regular one.
func openIn(s *Sink, dir disk.Folder, name string, flags int) (disk.File, error) {
	if s.Served == "" {
		return dir.OpenFile(name, flags, 0o666)
	}
	before, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := dir.OpenFile(name, flags|os.O_EXCL, 0o666)
		if flags&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		// Another process has created it.
	case err != nil:
		return nil, err
	case flags&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case !before.Mode().IsRegular():
		return nil, irregular(s)
	}
	return dir.OpenFile(name, flags, 0o666) // openLocked finds out if a link has replaced it
}

// irregular returns the error of a path that is not a regular file, to which a server's
// document must not be written.
func irregular(s *Sink) error {
	return localerr.Errorf(localerr.Write, "%s is not a regular file; use -o to write to it", s.Path)
}

// stat returns the FileInfo of the Sink's path. If a server chose the name, a link is not
// followed.
func (s *Sink) stat() (info fs.FileInfo, err error) {
	err = s.inFolder(false, func(dir disk.Folder, name string) (err error) {
		if s.Served == "" {
			info, err = dir.Stat(name)
		} else {
			info, err = dir.Lstat(name)
		}
		return err
	})
	return info, err
}

// inFolder calls do with the directory of the Sink's file and the name in it. A directory
// that a server chose must not be a link. If the user typed the path, the directory is the Disk.
func (s *Sink) inFolder(mkdirs bool, do func(dir disk.Folder, name string) error) error {
	d := disk.Or(s.disk)
	if s.Served == "" {
		return do(d, s.Path)
	}
	dir, err := d.OpenRoot(cmp.Or(strings.TrimSuffix(s.Path, s.Served), "."))
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	parents := strings.Split(s.Served, "/")
	name := parents[len(parents)-1]
	for _, parent := range parents[:len(parents)-1] {
		if mkdirs {
			if err := dir.Mkdir(parent, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
				return located(s, err)
			}
		}
		info, err := dir.Lstat(parent)
		if err == nil && !info.IsDir() {
			return localerr.Errorf(localerr.Write, "%s: %s is not a directory", s.Path, parent)
		}
		inner := dir
		if err == nil {
			inner, err = dir.OpenRoot(parent)
		}
		if err != nil {
			return located(s, err)
		}
		dir.Close()
		dir = inner
	}
	return located(s, do(dir, name))
}

// located returns an error of the file system with the whole path.
func located(s *Sink, err error) error {
	if known, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: strings.TrimSuffix(known.Op, "at"), Path: s.Path, Err: known.Err}
	}
	return err
}
