package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// maxNumbered is the number of further names that --no-clobber tries, as in curl.
const maxNumbered = 99

// existing is what is permitted at the path of a file, and with what is there.
type existing struct {
	mkdirs  bool // directories are created
	append  bool // to the existing file
	clobber plan.Clobber
}

// openFile creates the file, or opens the existing one if that may be overwritten, and
// locks it. It may change the name of the file.
func openFile(s *Sink) (file *disk.Locked, err error) {
	err = claim(s, func(exclusive int) (err error) {
		file, err = openLocked(s, os.O_WRONLY|os.O_CREATE|exclusive)
		return err
	})
	return file, err
}

// openLocked is openPath for a file that no other process may write to.
func openLocked(s *Sink, flags int) (*disk.Locked, error) {
	return disk.Lock(func() (disk.File, error) { return s.openPath(flags) }, s.stat)
}

// claim calls create, which creates the file or opens the existing one. exclusive is
// os.O_EXCL if an existing one must not be overwritten, and else 0. claim may change the
// name of the file and call create again.
func claim(s *Sink, create func(exclusive int) error) error {
	numbered := s.existing.clobber == plan.ClobberNever
	if s.existing.append || !numbered && !s.keeps() {
		return create(0)
	}
	err := create(os.O_EXCL)
	if !numbered && errors.Is(err, fs.ErrExist) {
		return kept(s)
	}
	name, served := s.Path, s.Served
	for n := 1; numbered && errors.Is(err, fs.ErrExist) && n <= maxNumbered; n++ {
		s.Path = fmt.Sprintf("%s.%d", name, n)
		if served != "" {
			s.Served = fmt.Sprintf("%s.%d", served, n)
		}
		err = create(os.O_EXCL)
	}
	if numbered && errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists, as do %s.1 to %s.%d", name, name, name, maxNumbered)
	}
	return err
}

// keeps reports whether an existing file is not overwritten: a server chose its name,
// and --clobber is not given.
func (s *Sink) keeps() bool {
	return s.Served != "" && !s.existing.append && s.existing.clobber == plan.ClobberTyped
}

// kept returns the error of a file that is not overwritten.
func kept(s *Sink) error {
	return localerr.Errorf(localerr.Write, "%s exists, and the server chose this name; --clobber overwrites it, --skip-existing skips it", s.Path)
}

// Skips reports whether the transfer is skipped because the file exists; existing means
// --skip-existing. It fails for a file that must not be written.
func (s *Sink) Skips(existing bool) (bool, error) {
	if s.Path == "" || !existing && s.Served == "" {
		return false, nil
	}
	info, err := s.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case existing:
		return true, nil
	case s.keeps():
		return false, kept(s)
	case s.existing.clobber != plan.ClobberNever && !info.Mode().IsRegular():
		return false, irregular(s)
	}
	return false, nil
}

// Remove removes the file, or the file of --segments, if it has been opened and has not
// been replaced.
func (s *Sink) Remove() error {
	if s.part != nil {
		return s.part.Remove()
	}
	if s.file == nil || !s.regular() {
		return nil
	}
	return s.inFolder(false, disk.Folder.Remove)
}

// SetTime sets the modification time of the file, if it has been opened and has not been
// replaced.
func (s *Sink) SetTime(modified time.Time) error {
	if s.file == nil || !s.regular() {
		return nil
	}
	return s.inFolder(false, func(dir disk.Folder, name string) error { return dir.Chtimes(name, time.Time{}, modified) })
}

// regular reports whether the file at the path is still the one that was written, and is
// a regular file.
func (s *Sink) regular() bool {
	info, err := s.stat()
	return err == nil && info.Mode().IsRegular() && disk.SameFile(info, s.opened)
}

// Folders resolves the paths of files. It caches the last directory, as successive files
// are usually in the same one. The zero value is ready to use; it is for one goroutine.
type Folders struct{ folder, place string }

// Place returns the canonical path of the Sink's file, or "" for a file that several
// transfers may write to, such as /dev/null.
func (f *Folders) Place(s *Sink) string {
	if s.Path == "" {
		return ""
	}
	d := disk.Or(s.disk)
	switch info, err := d.Lstat(s.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Join(f.find(d, filepath.Dir(s.Path)), filepath.Base(s.Path))
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		info, err = d.Stat(s.Path)
		if err == nil && !info.Mode().IsRegular() {
			return ""
		}
	case err == nil && !info.Mode().IsRegular():
		return ""
	}
	return placeOfFile(d, s.Path)
}

// find returns the canonical path of a directory. It caches that of an existing one.
func (f *Folders) find(d disk.Disk, folder string) string {
	if f.place == "" || f.folder != folder {
		place, err := d.EvalSymlinks(folder)
		if err != nil {
			return absolute(folder)
		}
		f.folder, f.place = folder, absolute(place)
	}
	return f.place
}

// placeOfFile returns the canonical path of a file.
func placeOfFile(d disk.Disk, path string) string {
	if file, err := d.EvalSymlinks(path); err == nil {
		path = file
	} else if dir, err := d.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return absolute(path)
}

// absolute returns the absolute path, or the cleaned path if that is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
