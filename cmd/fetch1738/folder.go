package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The part of a sink's path that a server chose stays in the folder that the user
// named, and is not followed through symbolic links: another server, or the same
// one earlier, may have led to one. A path that the user typed may go anywhere.

// openPath opens the sink's file, or makes it.
func (s *sink) openPath(flags int) (f *os.File, err error) {
	if s.served == "" {
		return os.OpenFile(s.path, flags, 0o666)
	}
	err = s.inFolder(s.mkdirs, func(dir *os.Root, name string) (err error) {
		f, err = s.openIn(dir, name, flags)
		return err
	})
	return f, err
}

// openIn opens the file of that name, which must be a regular one.
func (s *sink) openIn(dir *os.Root, name string, flags int) (*os.File, error) {
	before, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir.OpenFile(name, flags|os.O_EXCL, 0o666)
	case err != nil:
		return nil, err
	case flags&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case !before.Mode().IsRegular():
		return nil, s.irregular()
	}
	f, err := dir.OpenFile(name, flags&^os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(before, now) {
		err = s.irregular() // a link has taken its place
	}
	if err == nil && flags&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// irregular is the error of a name at which there is something that a server's
// document must not be written to.
func (s *sink) irregular() error {
	return &codedError{exitWrite, fmt.Errorf("%s is not a regular file; use -o to write to it", s.path)}
}

// stat tells about what is at the sink's path. A link counts as itself where a
// server chose the name.
func (s *sink) stat() (info fs.FileInfo, err error) {
	if s.served == "" {
		return os.Stat(s.path)
	}
	err = s.inFolder(false, func(dir *os.Root, name string) (err error) {
		info, err = dir.Lstat(name)
		return err
	})
	return info, err
}

// inFolder calls do with the folder that the sink's file is in and its name there.
// None of the folders that a server chose may be a link.
func (s *sink) inFolder(mkdirs bool, do func(dir *os.Root, name string) error) error {
	dir, err := os.OpenRoot(cmp.Or(strings.TrimSuffix(s.path, s.served), "."))
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	parents := strings.Split(s.served, "/")
	name := parents[len(parents)-1]
	for _, parent := range parents[:len(parents)-1] {
		if mkdirs {
			if err := dir.Mkdir(parent, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
				return s.located(err)
			}
		}
		info, err := dir.Lstat(parent)
		if err == nil && !info.IsDir() {
			return &codedError{exitWrite, fmt.Errorf("%s: %s is not a directory", s.path, parent)}
		}
		inner := dir
		if err == nil {
			inner, err = dir.OpenRoot(parent)
		}
		if err != nil {
			return s.located(err)
		}
		dir.Close()
		dir = inner
	}
	return s.located(do(dir, name))
}

// located has an error of the file system name the whole path.
func (s *sink) located(err error) error {
	if known, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: strings.TrimSuffix(known.Op, "at"), Path: s.path, Err: known.Err}
	}
	return err
}
