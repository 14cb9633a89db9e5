// Package fetchafero makes a directory of an FTP server, a gopher site or another tree that
// [remotefs.FS] can list a read-only file system for programs that use afero.
//
//	fsys, err := fetchafero.New(ctx, nil, "ftp://ftp.example.org/pub")
//	if err != nil {
//		return err
//	}
//	defer fsys.Close()
//	text, err := afero.ReadFile(fsys, "/README")
//
// To write, put a file system that can be written on top: afero.NewCopyOnWriteFs(fsys,
// afero.NewMemMapFs()).
//
// This package is a module of its own, so that only programs that import it depend on afero.
package fetchafero

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	// afero is what this package adapts to: an interface of file systems that programs use in place of
	// package os.
	"github.com/spf13/afero"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/remotefs"
)

// An Fs is a remote directory as an [afero.Fs]. Its files are those of a [remotefs.FS]:
// see there for what is requested when.
//
// Names may be absolute ("/a/b"), relative ("a/b", "./a/b"), and use the separator of the operating
// system. None leads out of the root: "../a" is "/a".
//
// Everything that would change a file or directory fails with an error that matches
// [syscall.EPERM] and [fs.ErrPermission], as with [afero.ReadOnlyFs]. So does OpenFile with a flag
// for writing.
//
// An error of a file that does not exist satisfies [os.IsNotExist], which afero uses. Other errors
// are *[fs.PathError]s around *[fetch.Error]s.
//
// Files have Seek with every scheme. ReadAt uses [download.ReaderAt], which fetches only parts of
// the file: ftp and file have it; with other schemes it fails with the kind fetch.ErrUnsupported.
//
// An Fs is safe for concurrent use. A file is not, except its ReadAt.
//
// [fetch.Error]: https://pkg.go.dev/github.com/fetch1738/fetch1738/fetch#Error
type Fs struct {
	ctx  context.Context
	r    *fetch1738.Resolver
	fsys *remotefs.FS
}

var (
	_ afero.Fs        = (*Fs)(nil)
	_ afero.Symlinker = (*Fs)(nil)
)

// New returns the directory at url, whose files r fetches. If r is nil, it is a new Resolver with
// every default. ctx governs everything that is done with the file system and its files. The
// schemes, and the error for others, are those of [remotefs.FS]. Nothing is requested yet.
func New(ctx context.Context, r *fetch1738.Resolver, url string) (*Fs, error) {
	if r == nil {
		r = new(fetch1738.Resolver)
	}
	fsys, err := remotefs.New(ctx, r, url)
	if err != nil {
		return nil, err
	}
	return &Fs{ctx: ctx, r: r, fsys: fsys}, nil
}

// Close closes the sessions that are kept for further requests. The file system can be used again.
func (f *Fs) Close() error { return f.fsys.Close() }

// Name implements [afero.Fs].
func (f *Fs) Name() string { return "fetch1738" }

// Open implements [afero.Fs]. The file is fetched when it is first read.
func (f *Fs) Open(name string) (afero.File, error) {
	opened, err := f.fsys.Open(clean(name))
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &file{fsys: f, File: opened, name: name}, nil
}

// OpenFile implements [afero.Fs].
func (f *Fs) OpenFile(name string, flag int, _ os.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, permissionError("open", name)
	}
	return f.Open(name)
}

// Stat implements [afero.Fs]. It follows symbolic links.
func (f *Fs) Stat(name string) (os.FileInfo, error) {
	info, err := f.fsys.Stat(clean(name))
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return info, nil
}

// LstatIfPossible implements [afero.Lstater].
func (f *Fs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := f.fsys.Lstat(clean(name))
	if err != nil {
		return nil, true, pathError("lstat", name, err)
	}
	return info, true, nil
}

// ReadlinkIfPossible implements [afero.LinkReader].
func (f *Fs) ReadlinkIfPossible(name string) (string, error) {
	link, err := f.fsys.ReadLink(clean(name))
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	return link, nil
}

// SymlinkIfPossible implements [afero.Linker]. It always fails.
func (f *Fs) SymlinkIfPossible(oldname, newname string) error {
	return &os.LinkError{Op: "symlink", Old: oldname, New: newname, Err: syscall.EPERM}
}

// Create implements [afero.Fs]. It always fails.
func (f *Fs) Create(name string) (afero.File, error) { return nil, permissionError("create", name) }

// Mkdir implements [afero.Fs]. It always fails.
func (f *Fs) Mkdir(name string, _ os.FileMode) error { return permissionError("mkdir", name) }

// MkdirAll implements [afero.Fs]. It always fails, also if the directory exists.
func (f *Fs) MkdirAll(name string, _ os.FileMode) error { return permissionError("mkdir", name) }

// Remove implements [afero.Fs]. It always fails.
func (f *Fs) Remove(name string) error { return permissionError("remove", name) }

// RemoveAll implements [afero.Fs]. It always fails.
func (f *Fs) RemoveAll(name string) error { return permissionError("remove", name) }

// Rename implements [afero.Fs]. It always fails.
func (f *Fs) Rename(oldname, newname string) error {
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: syscall.EPERM}
}

// Chmod implements [afero.Fs]. It always fails.
func (f *Fs) Chmod(name string, _ os.FileMode) error { return permissionError("chmod", name) }

// Chown implements [afero.Fs]. It always fails.
func (f *Fs) Chown(name string, _, _ int) error { return permissionError("chown", name) }

// Chtimes implements [afero.Fs]. It always fails.
func (f *Fs) Chtimes(name string, _, _ time.Time) error { return permissionError("chtimes", name) }

// clean is a name as package fs has it.
func clean(name string) string {
	name = path.Clean("/" + filepath.ToSlash(name))[1:]
	if name == "" {
		return "."
	}
	return name
}

func permissionError(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EPERM}
}

// pathError is err for the name that the caller gave. os.IsNotExist looks no deeper than into a
// PathError.
func pathError(op, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fs.ErrNotExist
	default:
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err
		}
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
