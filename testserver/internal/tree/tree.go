// Package tree has the files that a server serves, with the changes of its clients.
package tree

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Epoch replaces a missing modification time: it is the month of RFC 1738.
var Epoch = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)

var (
	ErrTooLarge = errors.New("file too large")
	ErrIsDir    = errors.New("is a directory")
	ErrNotDir   = errors.New("not a directory")
	ErrNotEmpty = errors.New("directory not empty")
)

// Entry describes a file or directory to the protocols.
type Entry struct {
	Name    string // last component
	Size    int64
	ModTime time.Time
	Dir     bool
	ETag    string
}

// Info returns the entry as an fs.FileInfo, with the mode 0755 or 0644.
func (e Entry) Info() fs.FileInfo { return info{e} }

type info struct{ e Entry }

func (i info) Name() string       { return i.e.Name }
func (i info) Size() int64        { return i.e.Size }
func (i info) ModTime() time.Time { return i.e.ModTime }
func (i info) IsDir() bool        { return i.e.Dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.e.Dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// Tree is Content, overlaid with what Put and Delete have changed, and that with the changes of
// clients. Names are separated by slashes, without a slash at either end; "" is the root. Unlike in
// io/fs they may have bytes that are not UTF-8. The zero value is an empty directory.
type Tree struct {
	forbidden []string

	mu sync.RWMutex
	layers
}

// New returns a tree over content, which may be nil.
func New(content fs.FS, forbidden []string) *Tree {
	t := new(Tree)
	t.Serve(content, forbidden)
	return t
}

// Serve sets the content and the forbidden names. It is called before the tree is used
// concurrently.
func (t *Tree) Serve(content fs.FS, forbidden []string) { t.base, t.forbidden = content, forbidden }

// Store keeps the files of clients on the disk, under their names. It is called likewise.
func (t *Tree) Store(disk *os.Root) { t.disk = disk }

// Reset undoes the changes of clients.
func (t *Tree) Reset() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reset()
}

// Clean turns any path into a name in the tree; ".." stops at the root.
func Clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// parent returns the directory that contains name.
func parent(name string) string {
	dir, _ := path.Split(name)
	return strings.TrimSuffix(dir, "/")
}

// Stat describes a file or directory, even a forbidden one.
func (t *Tree) Stat(name string) (Entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.find(name)
}

// Open opens a file for reading; the caller closes it. For a directory it returns ErrIsDir.
func (t *Tree) Open(name string) (fs.File, Entry, error) {
	if e, err := t.Stat(name); err == nil && t.Refused(name) {
		return nil, e, fs.ErrPermission
	}
	return t.open(name)
}

// open is Open of what may be forbidden.
func (t *Tree) open(name string) (fs.File, Entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, err := t.find(name)
	if err != nil {
		return nil, e, err
	}
	if e.Dir {
		return nil, e, ErrIsDir
	}
	n := t.node(name)
	if n == nil {
		n = &node{base: name}
	}
	if n.at != "" {
		f, err := t.disk.Open(n.at)
		return f, e, err
	}
	if n.base == "" {
		return MemFile{Reader: bytes.NewReader(n.data)}, e, nil
	}
	f, err := t.base.Open(n.base)
	return f, e, err
}

// MemFile is a file of the overlay.
type MemFile struct{ *bytes.Reader }

func (MemFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (MemFile) Close() error               { return nil }

// List returns the entries of a directory, sorted by name.
func (t *Tree) List(dir string) ([]Entry, error) {
	if _, err := t.Stat(dir); err == nil && t.Refused(dir) {
		return nil, fs.ErrPermission
	}
	return t.list(dir)
}

// list is List of what may be forbidden.
func (t *Tree) list(dir string) ([]Entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, err := t.find(dir)
	if err != nil {
		return nil, err
	}
	if !e.Dir {
		return nil, ErrNotDir
	}
	names, err := t.names(dir)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for name := range names {
		if e, err := t.find(name); err == nil { // otherwise a broken link, or removed meanwhile
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Refused reports whether name, or a directory above it, is forbidden.
func (t *Tree) Refused(name string) bool {
	return slices.ContainsFunc(t.forbidden, func(f string) bool {
		f = Clean(f)
		return f == "" || name == f || strings.HasPrefix(name, f+"/")
	})
}

// Write stores data at offset in a file. If offset is 0, the file is created or truncated first.
// Otherwise existing bytes after the data stay, as on a Unix server.
func (t *Tree) Write(name string, offset int64, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	if e, err := t.find(name); err == nil && e.Dir {
		return ErrIsDir
	}
	if offset > 0 {
		old, err := t.content(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if offset > int64(len(old)) {
			return fs.ErrInvalid
		}
		whole := slices.Concat(old[:offset], data)
		if len(whole) < len(old) {
			whole = append(whole, old[len(whole):]...)
		}
		data = whole
	}
	return t.set(name, &node{data: data, mod: time.Now()})
}

// Put is Write for the program: missing directories are created. A zero mod means Epoch. The data
// must not be changed afterwards.
func (t *Tree) Put(name string, data []byte, mod time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if name == "" || strings.ContainsRune(name, 0) {
		return fs.ErrInvalid
	}
	for dir := parent(name); dir != ""; dir = parent(dir) {
		e, err := t.find(dir)
		if err == nil && !e.Dir {
			return ErrNotDir
		}
		if err != nil {
			t.change(dir, &node{dir: true, mod: Epoch})
		}
	}
	if mod.IsZero() {
		mod = Epoch
	}
	t.change(name, &node{data: data, mod: mod})
	return nil
}

// Delete removes a file or a directory with all that is below it, for the program.
func (t *Tree) Delete(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.find(name)
	switch {
	case err != nil:
		return err
	case name == "":
		return fs.ErrInvalid
	}
	return t.delete(name, e)
}

// delete deletes for the program.
func (t *Tree) delete(name string, e Entry) error {
	if e.Dir {
		names, err := t.names(name)
		if err != nil {
			return err
		}
		for below := range names {
			if e, err := t.find(below); err == nil {
				if err := t.delete(below, e); err != nil {
					return err
				}
			}
		}
	}
	t.change(name, &node{gone: true})
	return nil
}

// Version returns a number that grows with each change.
func (t *Tree) Version() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.seq
}

// writable returns an error if name may not be created or changed.
func (t *Tree) writable(name string) error {
	if name == "" || strings.ContainsRune(name, 0) {
		return fs.ErrInvalid
	}
	if t.Refused(name) {
		return fs.ErrPermission
	}
	dir, err := t.find(parent(name))
	if err != nil {
		return err
	}
	if !dir.Dir {
		return ErrNotDir
	}
	return nil
}

// Remove deletes a file or, if dir is true, an empty directory.
func (t *Tree) Remove(name string, dir bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	e, err := t.find(name)
	if err != nil {
		return err
	}
	if e.Dir != dir {
		if e.Dir {
			return ErrIsDir
		}
		return ErrNotDir
	}
	if dir {
		names, err := t.names(name)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return ErrNotEmpty
		}
	}
	return t.set(name, &node{gone: true})
}

// Mkdir creates a directory. It fails if the name exists, or the directory above it does not.
func (t *Tree) Mkdir(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	if _, err := t.find(name); err == nil {
		return fs.ErrExist
	}
	return t.set(name, &node{dir: true, mod: time.Now()})
}

// Rename renames a file or a whole directory.
func (t *Tree) Rename(from, to string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := errors.Join(t.writable(from), t.writable(to)); err != nil {
		return err
	}
	e, err := t.find(from)
	if err != nil {
		return err
	}
	if to == from || strings.HasPrefix(to, from+"/") {
		return fs.ErrInvalid
	}
	if old, err := t.find(to); err == nil && (old.Dir || e.Dir) {
		return fs.ErrExist
	}
	return t.move(from, to, e)
}

// move renames a file, or a directory with everything below it. e is the entry of from.
func (t *Tree) move(from, to string, e Entry) error {
	n := &node{base: from}
	if e.Dir {
		n = &node{dir: true, mod: e.ModTime}
	} else if old := t.node(from); old != nil {
		moved := *old
		moved.same = old.same || t.over[from] == nil
		n = &moved
	}
	if err := t.set(to, n); err != nil {
		return err
	}
	if e.Dir {
		names, err := t.names(from)
		if err != nil {
			return err
		}
		for name := range names {
			child, err := t.find(name)
			if err != nil {
				continue
			}
			if err := t.move(name, to+strings.TrimPrefix(name, from), child); err != nil {
				return err
			}
		}
	}
	return t.set(from, &node{gone: true})
}

// Touch sets the modification time of a file.
func (t *Tree) Touch(name string, mod time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	if e, err := t.find(name); err != nil {
		return err
	} else if e.Dir {
		return ErrIsDir
	}
	data, err := t.content(name)
	if err != nil {
		return err
	}
	old := t.over[name]
	return t.set(name, &node{data: data, mod: mod, same: old == nil || old.same || old.base != ""})
}

// Uploads returns the files that clients have stored.
func (t *Tree) Uploads() map[string][]byte {
	t.mu.RLock()
	defer t.mu.RUnlock()
	files := make(map[string][]byte)
	for name, n := range t.over {
		if !n.gone && !n.dir && !n.same && n.base == "" {
			data, _ := t.bytes(n) // what was removed on the disk is empty
			files[name] = bytes.Clone(data)
		}
	}
	return files
}

// Seek moves f to offset. A file that cannot Seek is read up to there.
func Seek(f fs.File, offset int64) error {
	if offset == 0 {
		return nil
	}
	if s, ok := f.(io.Seeker); ok {
		_, err := s.Seek(offset, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, f, offset)
	return err
}

// MayWrite returns the error that Write would return, before an upload begins.
func (t *Tree) MayWrite(name string, offset int64) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err := t.writable(name); err != nil {
		return err
	}
	e, err := t.find(name)
	switch {
	case err == nil && e.Dir:
		return ErrIsDir
	case offset > e.Size:
		return fs.ErrInvalid
	}
	return nil
}
