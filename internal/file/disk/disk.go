// Package disk is the local files that downloads, copies of trees, and the outputs of the command
// are kept in. What is kept goes through a [Disk], so that a test can put a simulated one in its
// place.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Folder is where names lead to files. Its methods are those of [os.Root], with the same errors.
type Folder interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	OpenRoot(name string) (Folder, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Rename(from, to string) error
	Link(from, to string) error
	Symlink(target, name string) error
	Readlink(name string) (string, error)
	Remove(name string) error
	Chtimes(name string, accessed, modified time.Time) error
	Close() error
}

// SyncNames makes the names in a directory of f outlast a loss of power, on systems where that is
// possible.
func SyncNames(f Folder, dir string) {
	if list, err := f.OpenFile(dir, os.O_RDONLY, 0); err == nil {
		_ = list.Sync()
		_ = list.Close()
	}
}

// A Disk is the Folder of all files of a system. A name may lead anywhere, also through links.
// Closing it does nothing.
type Disk interface {
	Folder
	// EvalSymlinks is [filepath.EvalSymlinks].
	EvalSymlinks(path string) (string, error)
}

// A File is an open file. The ones of the system are *os.File, which the kernel can move bytes
// into.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Truncate(size int64) error
	Sync() error
	Readdirnames(n int) ([]string, error)
}

type key struct{}

// With returns a copy of ctx for which [Of] returns d.
func With(ctx context.Context, d Disk) context.Context { return context.WithValue(ctx, key{}, d) }

// Of returns the Disk of a context. By default it is [System].
func Of(ctx context.Context) Disk {
	if d, ok := ctx.Value(key{}).(Disk); ok {
		return d
	}
	return System()
}

// Or returns d, or [System] if d is nil.
func Or(d Disk) Disk {
	if d == nil {
		return System()
	}
	return d
}

// System returns the Disk of the operating system.
func System() Disk { return (*system)(nil) }

type system struct{}

func (*system) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return opened(open(name, flag, perm))
}

func (*system) Chtimes(name string, accessed, modified time.Time) error {
	return os.Chtimes(name, accessed, modified)
}

func (*system) OpenRoot(name string) (Folder, error)         { return rooted(os.OpenRoot(name)) }
func (*system) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (*system) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (*system) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (*system) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (*system) Rename(from, to string) error                 { return os.Rename(from, to) }
func (*system) Link(from, to string) error                   { return os.Link(from, to) }
func (*system) Symlink(target, name string) error            { return os.Symlink(target, name) }
func (*system) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (*system) Remove(name string) error                     { return os.Remove(name) }
func (*system) EvalSymlinks(path string) (string, error)     { return filepath.EvalSymlinks(path) }
func (*system) Close() error                                 { return nil }

// opened returns a nil File for a nil *os.File.
func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// rooted returns a nil Folder for a nil *os.Root.
func rooted(r *os.Root, err error) (Folder, error) {
	if err != nil {
		return nil, err
	}
	return root{r}, nil
}

// root is a directory of the system that names cannot leave.
type root struct{ *os.Root }

func (r root) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return opened(r.Root.OpenFile(name, flag, perm))
}

func (r root) OpenRoot(name string) (Folder, error) { return rooted(r.Root.OpenRoot(name)) }

// Verify fails unless a name leads to an open file, and not through a link. Another program may
// have renamed or replaced the file.
func Verify(f File, in Folder, name string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = same(f, opened, func() (fs.FileInfo, error) { return in.Lstat(name) })
	return err
}

// Rename renames the file that info is of. It fails, too, if another program puts something else in
// its place in the last moment, such as a link, which then has the new name.
func Rename(in Folder, from, to string, info fs.FileInfo) error {
	return name(in, from, to, info, in.Rename)
}

// Link is like Rename, but keeps the old name, and fails if the new one exists.
func Link(in Folder, from, to string, info fs.FileInfo) error {
	return name(in, from, to, info, in.Link)
}

// name gives a file another name.
func name(in Folder, from, to string, info fs.FileInfo, do func(from, to string) error) error {
	before, err := in.Lstat(from)
	if err == nil && !SameFile(before, info) {
		err = fmt.Errorf("%s: %w", from, ErrReplaced)
	}
	if err == nil {
		err = do(from, to)
	}
	if err != nil {
		return err
	}
	now, err := in.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !SameFile(now, before) && !isLike(now, before) {
		return fmt.Errorf("%s: %w", to, ErrReplaced)
	}
	return err
}

// isLike reports whether two regular files have the same size and time. On some file systems, such as
// FAT on Windows, a file that is renamed is another one for the system.
func isLike(a, b fs.FileInfo) bool {
	return a.Mode().IsRegular() && b.Mode().IsRegular() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// ErrReplaced means that the file which got a name is not the one that was meant.
var ErrReplaced = errors.New("another program has replaced or removed the file")

// same returns the FileInfo of a name, which must be that of the open file f.
func same(f File, opened fs.FileInfo, stat func() (fs.FileInfo, error)) (fs.FileInfo, error) {
	now, err := stat()
	if errors.Is(err, fs.ErrNotExist) || err == nil && !SameFile(now, opened) {
		return nil, fmt.Errorf("%s: %w", f.Name(), errMoved)
	}
	return now, err
}

// SameFile is [os.SameFile].
func SameFile(a, b fs.FileInfo) bool {
	if a, ok := a.(interface{ Same(fs.FileInfo) bool }); ok {
		return a.Same(b)
	}
	return os.SameFile(a, b)
}
