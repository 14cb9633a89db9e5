package tree

import (
	"io"
	"io/fs"
)

// FS returns the tree for reading. What is forbidden is there.
func (t *Tree) FS() fs.FS { return treeFS{t} }

type treeFS struct{ t *Tree }

// Open implements fs.FS.
func (f treeFS) Open(name string) (fs.File, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return file, nil
}

// open is Open with errors that do not have the name.
func (f treeFS) open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	name = Clean(name)
	e, err := f.t.Stat(name)
	if err != nil {
		return nil, err
	}
	if !e.Dir {
		file, e, err := f.t.open(name)
		return treeFile{file, e}, err
	}
	entries, err := f.t.list(name)
	if err != nil {
		return nil, err
	}
	return &treeDir{entry: e, rest: entries}, nil
}

// A treeFile is a file of a treeFS.
type treeFile struct {
	fs.File
	entry Entry
}

func (f treeFile) Stat() (fs.FileInfo, error) { return f.entry.Info(), nil }

// A treeDir is a directory of a treeFS.
type treeDir struct {
	entry Entry
	rest  []Entry
}

func (d *treeDir) Stat() (fs.FileInfo, error) { return d.entry.Info(), nil }
func (d *treeDir) Read([]byte) (int, error)   { return 0, ErrIsDir }
func (d *treeDir) Close() error               { return nil }

// ReadDir implements fs.ReadDirFile.
func (d *treeDir) ReadDir(n int) (list []fs.DirEntry, err error) {
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		err = io.EOF
	}
	n = min(n, len(d.rest))
	for _, e := range d.rest[:n] {
		list = append(list, fs.FileInfoToDirEntry(e.Info()))
	}
	d.rest = d.rest[n:]
	return list, err
}
