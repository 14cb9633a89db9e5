package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// maxNumbered is how many other names --no-clobber tries, as in curl.
const maxNumbered = 99

// openFile makes the file, or opens the one that is there where that may be
// written to. The file's name may turn out to be another then.
func (s *Sink) openFile(flags int) (*os.File, error) {
	numbered := s.clobber == plan.ClobberNever
	if s.append || !numbered && !s.keeps() {
		return s.openPath(flags)
	}
	flags |= os.O_EXCL
	f, err := s.openPath(flags)
	if !numbered && errors.Is(err, fs.ErrExist) {
		return nil, kept(s)
	}
	name, served := s.Path, s.Served
	for n := 1; numbered && errors.Is(err, fs.ErrExist) && n <= maxNumbered; n++ {
		s.Path = fmt.Sprintf("%s.%d", name, n)
		if served != "" {
			s.Served = fmt.Sprintf("%s.%d", served, n)
		}
		f, err = s.openPath(flags)
	}
	if numbered && errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists, as do %s.1 to %s.%d", name, name, name, maxNumbered)
	}
	return f, err
}

// keeps reports whether a file that is there stays: its name is a server's
// choice, and nobody has said that it may be replaced.
func (s *Sink) keeps() bool {
	return s.Served != "" && !s.append && s.clobber == plan.ClobberTyped
}

// kept is the error of a file that stays.
func kept(s *Sink) error {
	return fault.Errorf(fault.Write, "%s exists, and the server chose this name; --clobber overwrites it, --skip-existing skips it", s.Path)
}

// Skips reports whether there is a file that stays, so that the transfer is not
// wanted; existing says that any file is. It fails for a file that must not be
// written.
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
	case s.clobber != plan.ClobberNever && !info.Mode().IsRegular():
		return false, irregular(s)
	}
	return false, nil
}

// Remove removes the file, or its part, if it has been opened and no other has taken
// its place.
func (s *Sink) Remove() error {
	if s.part != nil {
		return s.part.Remove()
	}
	if s.file == nil || !s.regular() {
		return nil
	}
	if s.Served == "" {
		return os.Remove(s.Path)
	}
	return s.inFolder(false, func(dir *os.Root, name string) error { return dir.Remove(name) })
}

// SetTime gives the file a time of modification, if it has been opened and no other
// has taken its place.
func (s *Sink) SetTime(modified time.Time) error {
	if s.file == nil || !s.regular() {
		return nil
	}
	if s.Served == "" {
		return os.Chtimes(s.Path, time.Time{}, modified)
	}
	return s.inFolder(false, func(dir *os.Root, name string) error { return dir.Chtimes(name, time.Time{}, modified) })
}

// regular reports whether what the Sink has written to is still there and is a
// regular file.
func (s *Sink) regular() bool {
	info, err := s.stat()
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, s.opened)
}

// Folders finds out where files are. It remembers the folder it looked at last, as
// one file after the other goes to the same as a rule. The zero value is ready; it is
// for one goroutine.
type Folders struct{ folder, place string }

// Place is the one path of the Sink's file, whatever links and spellings lead to it;
// "" if many may write there at once, as to /dev/null.
func (f *Folders) Place(s *Sink) string {
	if s.Path == "" {
		return ""
	}
	switch info, err := os.Lstat(s.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Join(f.find(filepath.Dir(s.Path)), filepath.Base(s.Path))
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		info, err = os.Stat(s.Path)
		if err == nil && !info.Mode().IsRegular() {
			return ""
		}
	case err == nil && !info.Mode().IsRegular():
		return ""
	}
	return placeOfFile(s.Path)
}

// find is the one path of a folder; only of one that is there it is remembered.
func (f *Folders) find(folder string) string {
	if f.place == "" || f.folder != folder {
		place, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return absolute(folder)
		}
		f.folder, f.place = folder, absolute(place)
	}
	return f.place
}

// placeOfFile is the one path of a file, whatever links and spellings lead to it.
func placeOfFile(path string) string {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return absolute(path)
}

// absolute is a path from the root; where there is none it stays as it is.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
