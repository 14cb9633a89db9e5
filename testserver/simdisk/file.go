package simdisk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"
)

// A file is an open file or directory.
type file struct {
	p      *Process
	node   *inode
	name   string // that it was opened with
	flag   int
	pos    int64
	names  []string // of a directory, that are still to be listed; nil before the first one
	closed bool
}

// do calls the hook, and then effect if the file is open. It returns errors as *os.File does.
func (f *file) do(op string, n int, effect func() error) error {
	return f.wrap(op, f.p.do(f.call(op, n), func() error {
		if f.closed {
			return fs.ErrClosed
		}
		return effect()
	}))
}

// call returns the Call for the hook. It is empty without a hook.
func (f *file) call(op string, n int) Call {
	if f.p.before == nil {
		return Call{}
	}
	f.p.disk.mu.Lock()
	defer f.p.disk.mu.Unlock()
	name, open := f.p.opened[f]
	if !open {
		name = f.name
	}
	return Call{Op: op, Name: name, N: n}
}

// wrap returns the error that *os.File returns.
func (f *file) wrap(op string, err error) error {
	switch op {
	case "list":
		op = "readdirent"
	case "flush":
		op = "close"
	}
	if err == nil || err == io.EOF {
		return err
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// Name implements [disk.File].
func (f *file) Name() string { return f.name }

// Read implements [disk.File].
func (f *file) Read(p []byte) (n int, err error) {
	err = f.do("read", len(p), func() error {
		if len(p) == 0 {
			return nil
		}
		n, err = f.read(p, f.pos)
		f.pos += int64(n)
		return err
	})
	return n, err
}

// ReadAt implements [disk.File].
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	switch {
	case off < 0:
		return 0, &fs.PathError{Op: "readat", Path: f.name, Err: errors.New("negative offset")}
	case len(p) == 0:
		return 0, nil
	}
	err = f.do("read", len(p), func() error {
		if n, err = f.read(p, off); err == nil && n < len(p) {
			err = io.EOF
		}
		return err
	})
	return n, err
}

func (f *file) read(p []byte, off int64) (int, error) {
	switch {
	case f.flag&os.O_WRONLY != 0:
		return 0, syscall.EBADF
	case f.node.mode.IsDir():
		return 0, syscall.EISDIR
	case off >= int64(len(f.node.data)):
		return 0, io.EOF
	}
	return copy(p, f.node.data[off:]), nil
}

// Write implements [disk.File].
func (f *file) Write(p []byte) (int, error) {
	return f.write(p, func() *int64 {
		if f.flag&os.O_APPEND != 0 && len(p) > 0 {
			f.pos = int64(len(f.node.data))
		}
		return &f.pos
	})
}

// WriteAt implements [disk.File].
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	switch {
	case f.flag&os.O_APPEND != 0:
		return 0, errors.New("os: invalid use of WriteAt on file opened with O_APPEND")
	case off < 0:
		return 0, &fs.PathError{Op: "writeat", Path: f.name, Err: errors.New("negative offset")}
	case len(p) == 0:
		return 0, nil
	}
	return f.write(p, func() *int64 { return &off })
}

// write writes at the position that at returns, and advances it.
func (f *file) write(p []byte, at func() *int64) (n int, err error) {
	err = f.p.call(f.call("write", len(p)))
	cut, short := err.(*short)
	if err != nil && !short {
		return 0, f.wrap("write", err)
	}
	if short {
		p = p[:min(max(cut.n, 0), len(p))]
	}
	d := f.p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case f.p.dead:
		err = ErrDead
	case f.closed:
		err = fs.ErrClosed
	case f.flag&(os.O_WRONLY|os.O_RDWR) == 0:
		err = syscall.EBADF
	default:
		pos := at()
		n, err = d.write(f.node, p, *pos)
		*pos += int64(n)
		if err == nil && short {
			err = cut.error
		}
	}
	return n, f.wrap("write", err)
}

// Seek implements [disk.File].
func (f *file) Seek(offset int64, whence int) (int64, error) {
	d := f.p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case f.p.dead:
		return 0, f.wrap("seek", ErrDead)
	case f.closed:
		return 0, f.wrap("seek", fs.ErrClosed)
	case whence == io.SeekCurrent:
		offset += f.pos
	case whence == io.SeekEnd:
		offset += int64(len(f.node.data))
	}
	if offset < 0 || whence < 0 || whence > io.SeekEnd {
		return 0, f.wrap("seek", syscall.EINVAL)
	}
	f.pos, f.names = offset, nil
	return offset, nil
}

// Stat implements [disk.File].
func (f *file) Stat() (i fs.FileInfo, err error) {
	err = f.do("stat", 0, func() error { i = f.node.info(f.name); return nil })
	return i, err
}

// Chmod implements [disk.File].
func (f *file) Chmod(mode fs.FileMode) error {
	return f.do("chmod", 0, func() error {
		f.p.disk.touch(f.node)
		f.node.mode = f.node.mode.Type() | mode.Perm()
		return nil
	})
}

// Truncate implements [disk.File].
func (f *file) Truncate(size int64) error {
	return f.do("truncate", 0, func() error {
		if size < 0 || f.flag&(os.O_WRONLY|os.O_RDWR) == 0 {
			return syscall.EINVAL
		}
		return f.p.disk.truncate(f.node, size)
	})
}

// Sync implements [disk.File].
func (f *file) Sync() error {
	return f.do("sync", 0, func() error { f.p.disk.sync(f.node); return nil })
}

// Readdirnames implements [disk.File]. The names are sorted.
func (f *file) Readdirnames(n int) (names []string, err error) {
	names = []string{}
	err = f.do("list", 0, func() error {
		switch {
		case !f.node.mode.IsDir():
			return syscall.ENOTDIR
		case f.node.links == 0:
			return syscall.ENOENT
		case f.names == nil:
			f.names = f.node.list()
		}
		count := len(f.names)
		if n > 0 {
			if count == 0 {
				return io.EOF
			}
			count = min(n, count)
		}
		names, f.names = f.names[:count:count], f.names[count:]
		return nil
	})
	return names, err
}

// list returns the sorted names in a directory.
func (n *inode) list() []string {
	names := make([]string, 0, len(n.entries))
	for _, e := range n.entries {
		names = append(names, e.name)
	}
	slices.Sort(names)
	return names
}

// Lock locks the file unless another open file has locked it. It is what package disk calls.
func (f *file) Lock() (locked bool) {
	err := f.do("lock", 0, func() error {
		if f.node.lock != nil && f.node.lock != f {
			return syscall.EWOULDBLOCK
		}
		f.node.lock = f
		return nil
	})
	return !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, ErrDead)
}

// Flush does nothing, or closes the file as on Windows. It is what package disk calls.
func (f *file) Flush() error {
	return f.do("flush", 0, func() error {
		if f.p.disk.Windows {
			f.close()
		}
		return nil
	})
}

// Close implements [disk.File]. It closes the file also if the hook returns an error.
func (f *file) Close() error {
	failed := f.p.call(f.call("close", 0))
	d := f.p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case f.p.dead:
		return f.wrap("close", ErrDead)
	case f.closed:
		return f.wrap("close", fs.ErrClosed)
	}
	f.close()
	return f.wrap("close", failed)
}

// close closes the file with mu held.
func (f *file) close() {
	f.release()
	delete(f.p.opened, f)
}

// release ends the lock and the use of the inode.
func (f *file) release() {
	f.closed = true
	if f.node.lock == f {
		f.node.lock = nil
	}
	f.p.disk.released(f.node)
}

// write writes to an inode. On a full disk it writes what fits.
func (d *Disk) write(n *inode, p []byte, off int64) (int, error) {
	var err error
	size := int64(len(n.data))
	if d.Capacity > 0 {
		if fits := max(size, size+d.Capacity-d.used) - off; fits < int64(len(p)) {
			p, err = p[:max(fits, 0)], syscall.ENOSPC
		}
	}
	if len(p) == 0 {
		return 0, err
	}
	d.touch(n)
	n.data = put(n.makePrivate(min(off, size)), p, off)
	n.edits = append(n.edits, edit{off: off, data: slices.Clone(p), size: int64(len(n.data))})
	d.used += int64(len(n.data)) - size
	n.modified = now()
	return len(p), err
}

// truncate sets the size of an inode.
func (d *Disk) truncate(n *inode, size int64) error {
	more := size - int64(len(n.data))
	if d.Capacity > 0 && more > max(d.Capacity-d.used, 0) {
		return syscall.ENOSPC
	}
	d.touch(n)
	if more > 0 {
		n.makePrivate(int64(len(n.data)))
	}
	n.data = resize(n.data, size)
	n.edits = append(n.edits, edit{size: size})
	d.used += more
	n.modified = now()
	return nil
}

// makePrivate makes the data private that from this offset on will be changed.
func (n *inode) makePrivate(from int64) []byte {
	if from < int64(n.shared) {
		n.data, n.shared = slices.Clone(n.data), 0
	}
	return n.data
}

// snapshot returns the data. It is copied before it changes.
func (n *inode) snapshot() []byte {
	n.shared = max(n.shared, len(n.data))
	return slices.Clip(n.data)
}

// put writes p into data.
func put(data, p []byte, off int64) []byte {
	if end := off + int64(len(p)); end > int64(len(data)) {
		data = resize(data, end)
	}
	copy(data[off:], p)
	return data
}

// resize sets the size of data. What is new is zero.
func resize(data []byte, size int64) []byte {
	old := len(data)
	if size <= int64(old) {
		return data[:size]
	}
	data = slices.Grow(data, int(size)-old)[:size]
	clear(data[old:])
	return data
}

// An info is the fs.FileInfo of an inode.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
	node     *inode
}

func (n *inode) info(name string) fs.FileInfo {
	size := len(n.data)
	switch n.mode.Type() {
	case fs.ModeDir:
		size = 4096
	case fs.ModeSymlink:
		size = len(n.target)
	}
	return &info{path.Base(name), int64(size), n.mode, n.modified, n}
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) Mode() fs.FileMode  { return i.mode }
func (i *info) ModTime() time.Time { return i.modified }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any           { return nil }

// Same reports whether both are infos of one file. It is what package disk calls.
func (i *info) Same(other fs.FileInfo) bool {
	o, ok := other.(*info)
	return ok && o.node == i.node
}
