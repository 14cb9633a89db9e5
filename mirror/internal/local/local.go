// Package local is the local directory of a copy: the files, the folder with what belongs to the copy
// itself, and what an error of the disk means for a run.
package local

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// Folder is the name of the folder that belongs to the copy itself. It has the parts of files.
const Folder = ".fetch1738"

// PartSuffix is the end of the names of parts.
const PartSuffix = ".part"

// A Dir is the local directory of a copy. Paths are slash-separated and below it.
type Dir struct {
	Disk   disk.Disk
	Name   string      // of the directory
	Root   disk.Folder // nil in a dry run without a directory
	Inner  disk.Folder // Folder; nil in a dry run
	DryRun bool        // nothing is written
}

// Open opens a directory. Unless it is for a dry run, it also creates the directory, and
// Folder in it.
func Open(d disk.Disk, name string, dryRun bool) (*Dir, error) {
	if !dryRun {
		if err := d.MkdirAll(name, 0o777); err != nil {
			return nil, err
		}
	}
	root, err := d.OpenRoot(name)
	switch {
	case dryRun && errors.Is(err, fs.ErrNotExist):
		return &Dir{Disk: d, Name: name, DryRun: true}, nil
	case err != nil:
		return nil, err
	}
	dir := &Dir{Disk: d, Name: name, Root: root, DryRun: dryRun}
	if dryRun {
		return dir, nil
	}
	var inner disk.Folder
	if err = root.Mkdir(Folder, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
		inner, err = root.OpenRoot(Folder)
	}
	if err != nil {
		dir.Close()
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = &fs.PathError{Op: "create", Path: name + "/" + Folder, Err: failed.Err}
		}
		return nil, err
	}
	dir.Inner = inner
	return dir, nil
}

// Close closes what Open has opened.
func (d *Dir) Close() (err error) {
	if d.Inner != nil {
		err = d.Inner.Close()
	}
	if d.Root != nil {
		err = errors.Join(err, d.Root.Close())
	}
	return err
}

// Stat returns the information about a file, or nil if it does not exist. An error means that this
// is not known.
func (d *Dir) Stat(file string) (fs.FileInfo, error) {
	if d.Root == nil {
		return nil, nil
	}
	info, err := d.Root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// Sum returns the checksum of an existing file: of its first size bytes, or of all if size is -1.
// It is an error if the file is shorter.
func (d *Dir) Sum(name string, size int64) (string, error) {
	file, err := d.Root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return Sum(file, size)
}

// Sum returns the SHA-256 of the first size bytes of a file, or of all if size is -1, in
// hexadecimal.
func Sum(file io.Reader, size int64) (string, error) {
	sum := sha256.New()
	var err error
	if size < 0 {
		_, err = io.Copy(sum, file)
	} else {
		_, err = io.CopyN(sum, file, size)
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// SetTime sets the modification time of a file, unless it is unknown.
func SetTime(dir disk.Folder, name string, modified time.Time) error {
	if modified.IsZero() {
		return nil
	}
	return dir.Chtimes(name, modified, modified)
}

// Move moves a complete part to the path of its file.
func (d *Dir) Move(part, file string, info fs.FileInfo) error {
	err := disk.Rename(d.Root, Folder+"/"+part, file, info)
	if dir := path.Dir(file); dir != "." && errors.Is(err, fs.ErrNotExist) {
		err = cmp.Or(d.Root.MkdirAll(dir, 0o777), disk.Rename(d.Root, Folder+"/"+part, file, info))
	}
	return err
}

// Remove removes a file, and the directories that become empty.
func (d *Dir) Remove(name string) error {
	if d.DryRun {
		return nil
	}
	if err := d.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if d.Root.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}

// RemoveParts removes the parts that no later run would resume: all but those with the given names.
func (d *Dir) RemoveParts(wanted iter.Seq[string]) error {
	keep := make(map[string]bool)
	for name := range wanted {
		keep[name] = true
	}
	dir, err := d.Inner.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if strings.HasSuffix(name, PartSuffix) && !keep[name] {
			err = errors.Join(err, d.Inner.Remove(name))
		}
	}
	return err
}

// PartError returns the error of creating or writing the part of a file, marked as one that ends the
// run: no other part could be written either. Only a file that is too large for the file system is a
// failure of its own. The error names the file, as the name of the part says nothing to a user.
func (d *Dir) PartError(file string, err error) error {
	if gone := d.goneError(err); gone != nil {
		return pool.Over(gone)
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: file, Err: failed.Err}
	}
	if errors.Is(err, syscall.EFBIG) {
		return err
	}
	return pool.Over(err)
}

// PlaceError returns the error of giving a file its name or time. It is marked if the disk is full, or
// the directory does not exist any more.
func (d *Dir) PlaceError(err error) error {
	gone := d.goneError(err)
	switch {
	case gone != nil:
		return pool.Over(gone)
	case disk.IsFull(err):
		return pool.Over(err)
	}
	return err
}

// goneError returns an error if the directory does not exist any more. err is what has failed; nil
// means nothing.
func (d *Dir) goneError(err error) error {
	if err == nil {
		return nil
	}
	if _, failed := d.Disk.Stat(d.Name); !errors.Is(failed, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("write %s: the directory was removed or renamed while the mirror ran: %w", d.Name, fs.ErrNotExist)
}
