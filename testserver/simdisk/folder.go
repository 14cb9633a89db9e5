package simdisk

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A folder is all files, or with root set what is below dir.
type folder struct {
	p      *Process
	dir    *inode
	root   bool
	name   string // that was opened
	path   string // its absolute path
	closed bool
}

// OpenFile implements [disk.Folder].
func (f *folder) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	h := &file{p: f.p, name: f.join(name), flag: flag}
	err := f.do("open", name, func() (err error) {
		if f.root && perm&^0o777 != 0 {
			return errors.New("unsupported file mode")
		}
		if h.node, err = f.open(name, flag, perm); err == nil {
			h.node.opened++
			f.p.opened[h] = f.abs(name)
		}
		return err
	})
	if err != nil {
		return nil, f.fail("open", name, err)
	}
	return h, nil
}

// open returns the inode of a file to open, which it may create or truncate.
func (f *folder) open(name string, flag int, perm fs.FileMode) (*inode, error) {
	d, how, create := f.p.disk, follow, flag&os.O_CREATE != 0
	exclusive := create && flag&os.O_EXCL != 0
	if exclusive {
		how = 0
	}
	if create && !f.root {
		how |= raw
	}
	need := fs.FileMode(0o400)
	switch {
	case flag&os.O_RDWR != 0:
		need = 0o600
	case flag&os.O_WRONLY != 0:
		need = 0o200
	}
	if flag&os.O_TRUNC != 0 {
		need |= 0o200
	}
	at, err := f.find(name, how)
	switch n := at.node; {
	case err != nil:
		return nil, err
	case create && at.slash && !f.root:
		return nil, syscall.EISDIR
	case n == nil && !create:
		return nil, syscall.ENOENT
	case n == nil:
		n = newInode(perm & 0o777 &^ umask)
		return n, d.add(at, n)
	case exclusive:
		return nil, syscall.EEXIST
	case n.mode.IsDir() && (create || need&0o200 != 0):
		return nil, syscall.EISDIR
	case n.mode&need != need:
		return nil, syscall.EACCES
	case flag&os.O_TRUNC != 0:
		return n, d.truncate(n, 0)
	}
	return at.node, nil
}

const umask = 0o022

// OpenRoot implements [disk.Folder].
func (f *folder) OpenRoot(name string) (disk.Folder, error) {
	r := &folder{p: f.p, root: true, name: f.join(name), path: f.abs(name)}
	notDir := false
	err := f.do("open", name, func() (err error) {
		if r.dir, err = f.open(name, os.O_RDONLY, 0); err != nil {
			return err
		}
		if notDir = !r.dir.mode.IsDir(); !notDir {
			r.dir.opened++
			f.p.opened[r] = r.path
		}
		return nil
	})
	if notDir {
		return nil, &fs.PathError{Op: "open", Path: r.name, Err: errors.New("not a directory")}
	}
	if err != nil {
		return nil, f.fail("open", name, err)
	}
	return r, nil
}

// Close implements [disk.Folder].
func (f *folder) Close() error {
	d := f.p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if !f.closed {
		f.release()
		delete(f.p.opened, f)
	}
	return nil
}

// release ends the use of the directory.
func (f *folder) release() {
	f.closed = true
	f.p.disk.released(f.dir)
}

// Stat implements [disk.Folder].
func (f *folder) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name, follow) }

// Lstat implements [disk.Folder].
func (f *folder) Lstat(name string) (fs.FileInfo, error) { return f.stat("lstat", name, 0) }

// stat is Stat or Lstat, depending on how the last link is treated.
func (f *folder) stat(op, name string, how int) (i fs.FileInfo, err error) {
	err = f.do(op, name, func() error {
		n, err := f.existing(name, how)
		if err == nil {
			i = n.info(name)
		}
		return err
	})
	if f.root {
		op = "stat"
	}
	return i, f.fail(op, name, err)
}

// existing returns the inode at a name.
func (f *folder) existing(name string, how int) (*inode, error) {
	at, err := f.find(name, how)
	if err == nil && at.node == nil {
		err = syscall.ENOENT
	}
	return at.node, err
}

// Chtimes implements [disk.Folder].
func (f *folder) Chtimes(name string, _, modified time.Time) error {
	return f.fail("chtimes", name, f.do("chtimes", name, func() error {
		n, err := f.existing(name, follow)
		if err == nil && !modified.IsZero() {
			f.p.disk.touch(n)
			n.modified = modified.Round(0).Local()
		}
		return err
	}))
}

// Mkdir implements [disk.Folder].
func (f *folder) Mkdir(name string, perm fs.FileMode) error {
	return f.fail("mkdir", name, f.do("mkdir", name, func() error {
		if f.root && perm&^0o777 != 0 {
			return errors.New("unsupported file mode")
		}
		at, err := f.find(name, raw)
		if err != nil {
			return err
		}
		return f.p.disk.mkdir(at, perm)
	}))
}

// mkdir creates a directory at a place, unless there is something.
func (d *Disk) mkdir(at place, perm fs.FileMode) error {
	if at.node != nil {
		return syscall.EEXIST
	}
	return d.add(at, newInode(fs.ModeDir|perm&0o777&^umask))
}

// MkdirAll implements [disk.Folder].
func (f *folder) MkdirAll(name string, perm fs.FileMode) error {
	if f.root {
		return f.mkdirAll(name, perm)
	}
	if n, err := f.quietly(name, follow); err == nil && n.mode.IsDir() {
		return nil
	} else if err == nil {
		return f.fail("mkdir", name, syscall.ENOTDIR)
	}
	parent := strings.TrimRight(name, "/")
	parent = parent[:strings.LastIndexByte(parent, '/')+1]
	if parent = strings.TrimSuffix(parent, "/"); parent != "" {
		if err := f.MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	err := f.Mkdir(name, perm)
	if n, failed := f.quietly(name, 0); err != nil && failed == nil && n.mode.IsDir() {
		return nil
	}
	return err
}

// quietly is existing without the hook.
func (f *folder) quietly(name string, how int) (*inode, error) {
	f.p.disk.mu.Lock()
	defer f.p.disk.mu.Unlock()
	return f.existing(name, how)
}

// mkdirAll is MkdirAll of a root, which also creates the directories that links lead to.
func (f *folder) mkdirAll(name string, perm fs.FileMode) error {
	for more := true; more; {
		err := f.do("mkdir", name, func() error {
			if perm&^0o777 != 0 {
				return errors.New("unsupported file mode")
			}
			at, err := f.find(name, raw|partly)
			if err != nil {
				return err
			}
			more = at.more
			err = f.p.disk.mkdir(at, perm)
			if n := at.node; err != nil && n != nil && n.mode.IsDir() {
				return nil
			} else if err == nil || n == nil || n.mode&fs.ModeSymlink == 0 {
				return err
			}
			switch n, failed := f.existing(name, follow); {
			case failed == nil && n.mode.IsDir():
				return nil
			case failed == nil:
				return syscall.ENOTDIR
			case !errors.Is(failed, fs.ErrNotExist):
				return failed
			}
			return err
		})
		if err != nil {
			return f.fail("mkdir", name, err)
		}
	}
	return nil
}

// Remove implements [disk.Folder].
func (f *folder) Remove(name string) error {
	return f.fail("remove", name, f.do("remove", name, func() error {
		how := 0
		if !f.root {
			how = raw
		}
		at, err := f.find(name, how)
		switch n := at.node; {
		case err != nil:
			return err
		case at.name == ".":
			return syscall.EINVAL
		case at.name == "..":
			return syscall.ENOTEMPTY
		case at.name == "/":
			return syscall.EBUSY
		case n == nil:
			return syscall.ENOENT
		case at.slash && !n.mode.IsDir():
			return syscall.ENOTDIR
		case !at.dir.writable():
			return syscall.EACCES
		case len(n.entries) > 0:
			return syscall.ENOTEMPTY
		case f.p.disk.busy(n):
			return ErrSharing
		}
		f.p.disk.change(&change{node: at.node, from: at.slot})
		return nil
	}))
}

// Link implements [disk.Folder].
func (f *folder) Link(from, to string) error {
	return f.failLink("link", from, to, func() error {
		old, err := f.find(from, 0)
		n, how := old.node, 0
		if !f.root {
			how = raw
		}
		if err != nil || n == nil && !f.root {
			return cmp.Or(err, error(syscall.ENOENT))
		}
		at, err := f.find(to, how)
		switch {
		case err != nil:
			return err
		case n == nil:
			return syscall.ENOENT
		case at.node != nil:
			return syscall.EEXIST
		case at.slash:
			return syscall.ENOENT
		case !at.dir.writable():
			return f.p.disk.add(at, n)
		case n.mode.IsDir() || f.p.disk.NoLinks:
			return syscall.EPERM
		case n.links == 0:
			return syscall.ENOENT
		}
		return f.p.disk.add(at, n)
	})
}

// Symlink implements [disk.Folder].
func (f *folder) Symlink(target, name string) error {
	return f.failLink("symlink", target, name, func() error {
		at, err := f.find(name, 0)
		switch {
		case err != nil:
			return err
		case target == "", at.slash:
			return syscall.ENOENT
		case at.node != nil:
			return syscall.EEXIST
		}
		return f.p.disk.add(at, &inode{mode: fs.ModeSymlink | 0o777, modified: now(), target: target})
	})
}

// Readlink implements [disk.Folder].
func (f *folder) Readlink(name string) (target string, err error) {
	return target, f.fail("readlink", name, f.do("readlink", name, func() error {
		n, err := f.existing(name, 0)
		if err == nil && n.mode&fs.ModeSymlink == 0 {
			err = syscall.EINVAL
		}
		if err == nil {
			target = n.target
		}
		return err
	}))
}

// Rename implements [disk.Folder].
func (f *folder) Rename(from, to string) error {
	return f.failLink("rename", from, to, func() error { return f.rename(from, to) })
}

// rename is Rename with mu held.
func (f *folder) rename(from, to string) error {
	d, how := f.p.disk, 0
	if !f.root {
		how = raw
		// Package os never replaces a directory.
		if new, err := f.existing(to, 0); err == nil && new.mode.IsDir() {
			if old, err := f.existing(from, 0); err != nil {
				return err
			} else if from == to || old != new {
				return syscall.EEXIST
			}
		}
	}
	old, err := f.find(from, how)
	if err != nil {
		return err
	}
	new, err := f.find(to, how|creating)
	if err != nil {
		return err
	}
	n, over := old.node, new.node
	if n != nil && f.root && new.slash && !n.mode.IsDir() {
		return syscall.ENOTDIR
	}
	if n != nil && f.root && over != nil && over.mode.IsDir() && (old.name == new.name || n != over) {
		return syscall.EEXIST
	}
	switch {
	case n == nil:
		return syscall.ENOENT
	case old.special() || new.special():
		return syscall.EBUSY
	case (old.slash || new.slash) && !n.mode.IsDir():
		return syscall.ENOTDIR
	case n.holds(new.dir):
		return syscall.EINVAL
	case n == over && (old.slot == new.slot || old.dir != new.dir || d.key(old.name) != d.key(new.name)):
		return nil
	case new.dir.links == 0:
		return syscall.ENOENT
	case !old.dir.writable() || !new.dir.writable():
		return syscall.EACCES
	case n.mode.IsDir() && over != nil && !over.mode.IsDir():
		return syscall.ENOTDIR
	case n.mode.IsDir() && old.dir != new.dir && !n.writable():
		return syscall.EACCES
	case d.busy(n) || d.busy(over):
		return ErrSharing
	}
	if over == n {
		over = nil // only the case of the name changes
	}
	d.change(&change{node: n, from: old.slot, to: new.slot, over: over})
	return nil
}

// busy reports whether Windows refuses to rename or remove an inode.
func (d *Disk) busy(n *inode) bool {
	if !d.Windows || n == nil {
		return false
	}
	if !n.mode.IsDir() {
		return n.opened > 0
	}
	for _, e := range n.entries {
		if d.busy(e.node) {
			return true
		}
	}
	return false
}

// do is doCall for an operation on one name.
func (f *folder) do(op, name string, effect func() error) error {
	return f.doCall(Call{Op: op, Name: f.abs(name)}, effect)
}

// doCall calls the hook, and effect if the folder is open.
func (f *folder) doCall(c Call, effect func() error) error {
	return f.p.do(c, func() error {
		if f.closed {
			return fs.ErrClosed
		}
		return effect()
	})
}

// fail returns the error of an operation, as package os does.
func (f *folder) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if f.root {
		op += "at"
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// failLink is doCall for an operation on two names, whose error is an *os.LinkError.
func (f *folder) failLink(op, from, to string, effect func() error) error {
	err := f.doCall(Call{Op: op, Name: f.abs(from), To: f.abs(to)}, effect)
	if err == nil {
		return nil
	}
	if f.root {
		op += "at"
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}

// join returns the name of a file that is opened.
func (f *folder) join(name string) string {
	if !f.root || strings.HasSuffix(f.name, "/") {
		return f.name + name
	}
	return f.name + "/" + name
}

// abs returns the absolute path of a name.
func (f *folder) abs(name string) string { return path.Join("/", f.path, name) }
