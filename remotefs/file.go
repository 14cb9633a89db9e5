package remotefs

import (
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// An openDir is an open directory, whose listing is requested when it is first read.
type openDir struct {
	fsys *FS
	path string
	info *entry

	mu     sync.Mutex
	listed bool
	left   []fs.DirEntry
	err    error
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error)   { return 0, pathError("read", d.path, errIsDir) }

// ReadDir implements [fs.ReadDirFile].
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.listed {
		d.left, d.err = d.fsys.ReadDir(d.path)
		d.listed = true
	}
	if n <= 0 || n >= len(d.left) && d.err != nil {
		list, err := d.left, d.err
		d.left, d.err = nil, nil
		return list, err
	}
	if len(d.left) == 0 {
		return nil, io.EOF
	}
	list := d.left[:min(n, len(d.left))]
	d.left = d.left[len(list):]
	return list, nil
}

// An openFile is an open file. It is fetched from where it is read.
type openFile struct {
	fsys *FS
	path string
	info *entry
	size int64 // -1 if it is not known

	mu      sync.Mutex
	pos     int64         // of the next Read
	body    io.ReadCloser // of the document from at on, or nil
	at      int64
	begin   []byte // the first bytes, which are often read twice
	keep    int    // of them
	edition resume.Edition
	fetched bool
	sized   bool // size is that of the document, not that in a listing, which may be older
	closed  bool
}

// The first bytes of a file are kept: of one whose bytes must be counted all of a short document,
// else as many as package net/http reads to find the type before it seeks to the beginning.
const (
	keepBegin = 512
	keepShort = 64 << 10
)

// Stat implements [fs.File].
func (f *openFile) Stat() (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.info.mu.Lock()
	known := f.info.counted || f.info.item.Size >= 0
	f.info.mu.Unlock()
	if !known {
		if f.size < 0 {
			if err := f.count(); err != nil {
				return nil, pathError("stat", f.path, err)
			}
		}
		f.info.mu.Lock()
		f.info.counted, f.info.bytes = true, f.size
		f.info.mu.Unlock()
	}
	return f.info, nil
}

// Read implements [io.Reader].
func (f *openFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.read(p)
	if err != nil && err != io.EOF {
		err = pathError("read", f.path, err)
	}
	return n, err
}

// read is Read without the type of its errors.
func (f *openFile) read(p []byte) (int, error) {
	switch {
	case f.closed:
		return 0, fs.ErrClosed
	case len(p) == 0:
		return 0, nil
	case f.pos < int64(len(f.begin)):
		n := copy(p, f.begin[f.pos:])
		f.pos += int64(n)
		return n, nil
	case f.sized && f.pos >= f.size:
		return 0, io.EOF
	}
	if err := f.open(); err != nil {
		return 0, err
	}
	n, err := f.body.Read(p)
	if keep := max(f.keep, keepBegin); f.at == int64(len(f.begin)) && len(f.begin) < keep {
		f.begin = append(f.begin, p[:min(n, keep-len(f.begin))]...)
	}
	f.at += int64(n)
	f.pos = f.at
	if err == io.EOF {
		f.size, f.sized = f.at, true
	}
	return n, err
}

// open fetches the document from pos on, if that is not what is being read.
func (f *openFile) open() error {
	if f.body != nil && f.at == f.pos {
		return nil
	}
	if f.body != nil {
		_ = f.body.Close()
		f.body = nil
	}
	res, err := f.fsys.fetch(f.info.at, f.pos)
	if err != nil {
		return err
	}
	edition := resume.Of(res)
	switch {
	case res.Kind != fetch.KindDocument:
		_ = res.Close()
		return errIsDir
	case f.fetched && (edition != f.edition || f.sized && res.Size >= 0 && f.size != res.Size):
		_ = res.Close()
		return errAgain
	}
	f.body, f.at, f.fetched, f.edition = res.Body, f.pos, true, edition
	if res.Size >= 0 {
		f.size, f.sized = res.Size, true
	}
	return nil
}

// Seek implements [io.Seeker]. To find the end of a file whose size is not known it reads all of
// it.
func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pos, err := f.seek(offset, whence)
	if err != nil {
		return 0, pathError("seek", f.path, err)
	}
	f.pos = pos
	return pos, nil
}

// seek is Seek without the type of its errors.
func (f *openFile) seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		if f.size < 0 {
			if err := f.count(); err != nil {
				return 0, err
			}
		}
		offset += f.size
	}
	switch {
	case f.closed:
		return 0, fs.ErrClosed
	case offset < 0 || whence < io.SeekStart || whence > io.SeekEnd:
		return 0, fs.ErrInvalid
	}
	return offset, nil
}

// count reads to the end.
func (f *openFile) count() error {
	defer func(pos int64, keep int) { f.pos, f.keep = pos, keep }(f.pos, f.keep)
	f.keep = keepShort
	buf := make([]byte, 32<<10)
	for {
		if _, err := f.read(buf); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Close implements [fs.File].
func (f *openFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return pathError("close", f.path, fs.ErrClosed)
	case f.body != nil:
		_ = f.body.Close() // what was not read need not be whole
	}
	f.closed = true
	return nil
}
