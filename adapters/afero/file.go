package fetchafero

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
)

// A file is an open file or directory.
type file struct {
	fs.File // an io.Seeker, or an fs.ReadDirFile
	fsys    *Fs
	name    string

	mu     sync.Mutex
	doc    *download.Document // for ReadAt, when it was first called
	closed bool
}

// Name returns the name that Open was called with.
func (f *file) Name() string { return f.name }

func (f *file) Stat() (os.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return nil, pathError("stat", f.name, err)
	}
	return info, nil
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if err != nil && err != io.EOF {
		err = pathError("read", f.name, err)
	}
	return n, err
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	seeker, ok := f.File.(io.Seeker)
	if !ok {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: errIsDir}
	}
	at, err := seeker.Seek(offset, whence)
	if err != nil {
		return 0, pathError("seek", f.name, err)
	}
	return at, nil
}

var errIsDir = errors.New("is a directory")

// ReadAt reads at any place with [download.ReaderAt], which fetches blocks and keeps the last
// ones. It fails with the kind fetch.ErrUnsupported where that does, such as over gopher.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	doc, err := f.document()
	if err != nil {
		return 0, pathError("read", f.name, err)
	}
	n, err := doc.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = pathError("read", f.name, err)
	}
	return n, err
}

// document opens the document when it is first read.
func (f *file) document() (*download.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, fs.ErrClosed
	case f.doc != nil:
		return f.doc, nil
	}
	if _, ok := f.File.(fs.ReadDirFile); ok {
		return nil, errIsDir
	}
	info, err := f.fsys.fsys.Stat(clean(f.name)) // File.Stat may fetch the file to count its bytes
	if err != nil {
		return nil, err
	}
	doc, err := download.ReaderAt(f.fsys.ctx, f.fsys.r, info.Sys().(*fetch.Item).Locator.String())
	if err != nil {
		return nil, err
	}
	f.doc = doc
	return doc, nil
}

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.doc != nil {
		_ = f.doc.Close()
	}
	if err := f.File.Close(); err != nil {
		return pathError("close", f.name, err)
	}
	return nil
}

// ReadDir implements [fs.ReadDirFile], which makes [afero.IOFS] list a directory without the
// attributes of its files.
func (f *file) ReadDir(n int) ([]fs.DirEntry, error) {
	dir, ok := f.File.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: f.name, Err: errNotDir}
	}
	list, err := dir.ReadDir(n)
	if err != nil && err != io.EOF {
		err = pathError("readdir", f.name, err)
	}
	return list, err
}

var errNotDir = errors.New("not a directory")

// Readdir returns the entries that came before an error with the error, as [os.File] does.
func (f *file) Readdir(n int) ([]os.FileInfo, error) {
	list, err := f.ReadDir(n)
	infos := make([]os.FileInfo, 0, len(list))
	for _, entry := range list {
		info, infoErr := entry.Info()
		if infoErr != nil {
			return infos, errors.Join(pathError("readdir", f.name, infoErr), err)
		}
		infos = append(infos, info)
	}
	return infos, err
}

func (f *file) Readdirnames(n int) ([]string, error) {
	list, err := f.ReadDir(n)
	names := make([]string, len(list))
	for i, entry := range list {
		names[i] = entry.Name()
	}
	return names, err
}

func (f *file) Sync() error                        { return nil }
func (f *file) Truncate(int64) error               { return permissionError("truncate", f.name) }
func (f *file) Write([]byte) (int, error)          { return 0, permissionError("write", f.name) }
func (f *file) WriteAt([]byte, int64) (int, error) { return 0, permissionError("write", f.name) }
func (f *file) WriteString(string) (int, error)    { return 0, permissionError("write", f.name) }
