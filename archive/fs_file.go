package archive

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/archive/cdx"
)

// A cursor moves forward through the lines of an archive.
type cursor struct {
	archive *Archive
	next    func() (line, error, bool)
	stop    func()
	line    line // the current one
}

// maxSteps is how many lines a cursor reads before it searches.
const maxSteps = 20

// seek returns the first line that does not sort before from. Its Line is nil after the last one.
func (c *cursor) seek(from string) (line, error) {
	for n := 0; n < maxSteps && c.next != nil && c.line.Line != nil; n++ {
		if c.line.Key+" " >= from {
			return c.line, nil
		}
		if err := c.step(); err != nil {
			return line{}, err
		}
	}
	if c.next != nil && (c.line.Line == nil || c.line.Key+" " >= from) {
		return c.line, nil
	}
	c.close()
	c.next, c.stop = iter.Pull2(c.archive.linesFrom(from, ""))
	err := c.step()
	return c.line, err
}

func (c *cursor) step() error {
	l, err, ok := c.next()
	if !ok || err != nil {
		l = line{}
	}
	c.line = l
	return err
}

func (c *cursor) close() {
	if c.stop != nil {
		c.stop()
	}
}

// An entry is a file or a folder of a tree.
type entry struct {
	tree       *tree
	name, path string
	folder     *folder  // nil for a file
	key        string   // of a file whose capture is not known yet
	capture    *Capture // of a file
}

// Name implements fs.DirEntry.
func (e *entry) Name() string { return e.name }

// IsDir implements fs.DirEntry.
func (e *entry) IsDir() bool { return e.folder != nil }

// Type implements fs.DirEntry.
func (e *entry) Type() fs.FileMode {
	if e.folder != nil {
		return fs.ModeDir
	}
	return 0
}

// Info implements fs.DirEntry.
func (e *entry) Info() (fs.FileInfo, error) {
	if e.folder != nil {
		return &info{name: e.name, mode: fs.ModeDir | 0o555, modified: e.tree.at}, nil
	}
	c, a := e.capture, e.tree.archive
	if c == nil {
		var err error
		if c, err = a.findKey(e.key, "", e.tree.at, func(*cdx.Line) bool { return true }); err != nil {
			return nil, err
		}
		if c, err = a.resolved(c); err != nil {
			return nil, err
		}
		if c == nil {
			return nil, fs.ErrNotExist
		}
	}
	i := &info{name: e.name, mode: 0o444, modified: c.Modified, size: c.Size, capture: c}
	if i.modified.IsZero() {
		i.modified = c.Time
	}
	if i.size < 0 {
		doc, err := a.Open(c)
		if err == nil {
			i.size, err = io.Copy(io.Discard, doc.Body)
			err = errors.Join(err, doc.Body.Close())
		}
		if err != nil && c.Truncated == "" {
			return nil, err
		}
	}
	return i, nil
}

// info implements fs.FileInfo.
type info struct {
	name     string
	mode     fs.FileMode
	modified time.Time
	size     int64
	capture  *Capture
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) Mode() fs.FileMode  { return i.mode }
func (i *info) ModTime() time.Time { return i.modified }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any {
	if i.capture == nil {
		return nil
	}
	return i.capture
}

// A dirFile is an open folder.
type dirFile struct {
	entry *entry

	mu   sync.Mutex
	left []*entry
	read bool
}

// Stat implements fs.File.
func (d *dirFile) Stat() (fs.FileInfo, error) { return d.entry.Info() }

// Read implements fs.File.
func (d *dirFile) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.entry.path, Err: errors.New("is a directory")}
}

// Close implements fs.File.
func (d *dirFile) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (d *dirFile) ReadDir(n int) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.read {
		all, err := d.entry.entries()
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: d.entry.path, Err: err}
		}
		d.left, d.read = all, true
	}
	if n <= 0 || n > len(d.left) {
		if n > 0 && len(d.left) == 0 {
			return nil, io.EOF
		}
		n = len(d.left)
	}
	list := make([]fs.DirEntry, n)
	for i := range list {
		list[i] = d.left[i]
	}
	d.left = d.left[n:]
	return list, nil
}

// A docFile is an open document. Seek only notes where to read, and a document is read from its
// beginning to go back.
type docFile struct {
	info    fs.FileInfo
	archive *Archive

	body io.ReadCloser // nil until the first Read
	read int64         // of body
	at   int64
}

// Stat implements fs.File.
func (d *docFile) Stat() (fs.FileInfo, error) { return d.info, nil }

// Read implements fs.File.
func (d *docFile) Read(p []byte) (int, error) {
	if d.body != nil && d.at < d.read {
		if err := d.Close(); err != nil {
			return 0, err
		}
	}
	if d.body == nil {
		doc, err := d.archive.Open(d.info.Sys().(*Capture))
		if err != nil {
			return 0, err
		}
		d.body, d.read = doc.Body, 0
	}
	if d.read < d.at {
		n, err := io.CopyN(io.Discard, d.body, d.at-d.read)
		if d.read += n; err != nil {
			return 0, err
		}
	}
	n, err := d.body.Read(p)
	d.read += int64(n)
	d.at = d.read
	return n, err
}

// Seek implements io.Seeker.
func (d *docFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += d.at
	case io.SeekEnd:
		offset += d.info.Size()
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	d.at = offset
	return offset, nil
}

// Close implements fs.File.
func (d *docFile) Close() error {
	body := d.body
	if d.body = nil; body == nil {
		return nil
	}
	return body.Close()
}
