package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// epoch replaces a missing modification time: it is the month of RFC 1738.
var epoch = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)

var (
	errTooLarge = errors.New("file too large")
	errIsDir    = errors.New("is a directory")
	errNotDir   = errors.New("not a directory")
	errNotEmpty = errors.New("directory not empty")
)

// entry describes a file or directory to the protocols.
type entry struct {
	Name    string // last component
	Size    int64
	ModTime time.Time
	Dir     bool
	etag    string
}

// tree is Content, overlaid with the changes of clients and Put. Names are separated by slashes,
// without a slash at either end; "" is the root. Unlike in io/fs they may have bytes that are not
// UTF-8.
type tree struct {
	base      fs.FS
	forbidden []string

	mu   sync.RWMutex
	over map[string]*node
	seq  int // number of changes; distinguishes versions
}

// node replaces the file or directory of its name.
type node struct {
	gone bool
	dir  bool
	base string // if not "", the file in base that was renamed to this
	data []byte
	mod  time.Time
	seq  int
	put  bool // written by Put, not by a client
}

// clean turns any path into a name in the tree; ".." stops at the root.
func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// parent returns the directory that contains name.
func parent(name string) string {
	dir, _ := path.Split(name)
	return strings.TrimSuffix(dir, "/")
}

// stat describes a file or directory, even a forbidden one.
func (t *tree) stat(name string) (entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.find(name)
}

func (t *tree) find(name string) (entry, error) {
	n := t.over[name]
	switch {
	case n == nil:
		return t.inBase(name, path.Base("/"+name))
	case n.gone:
		return entry{}, fs.ErrNotExist
	case n.base != "":
		return t.inBase(n.base, path.Base(name))
	}
	e := entry{Name: path.Base(name), Size: int64(len(n.data)), ModTime: n.mod, Dir: n.dir}
	e.etag = fmt.Sprintf(`"%x-%x-%x"`, n.mod.Unix(), e.Size, n.seq)
	return e, nil
}

func (t *tree) inBase(name, as string) (entry, error) {
	if name == "" {
		name = "."
	}
	if t.base == nil {
		if name == "." {
			return entry{Name: as, Dir: true, ModTime: epoch}, nil
		}
		return entry{}, fs.ErrNotExist
	}
	if !fs.ValidPath(name) {
		return entry{}, fs.ErrNotExist
	}
	info, err := fs.Stat(t.base, name)
	if err != nil {
		return entry{}, err
	}
	return entryOf(as, info), nil
}

func entryOf(name string, info fs.FileInfo) entry {
	e := entry{Name: name, Size: info.Size(), ModTime: info.ModTime(), Dir: info.IsDir()}
	if e.ModTime.IsZero() {
		e.ModTime = epoch
	}
	if e.Dir {
		e.Size = 0
	}
	e.etag = fmt.Sprintf(`"%x-%x"`, e.ModTime.UnixNano(), e.Size)
	return e
}

// open opens a file for reading; the caller closes it. For a directory it returns errIsDir.
func (t *tree) open(name string) (fs.File, entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, err := t.find(name)
	if err != nil {
		return nil, e, err
	}
	if t.refused(name) {
		return nil, e, fs.ErrPermission
	}
	if e.Dir {
		return nil, e, errIsDir
	}
	n := t.over[name]
	if n == nil {
		n = &node{base: name}
	}
	if n.base == "" {
		return memFile{bytes.NewReader(n.data)}, e, nil
	}
	f, err := t.base.Open(n.base)
	return f, e, err
}

// memFile is a file of the overlay.
type memFile struct{ *bytes.Reader }

func (memFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (memFile) Close() error               { return nil }

// list returns the entries of a directory, sorted by name.
func (t *tree) list(dir string) ([]entry, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, err := t.find(dir)
	if err != nil {
		return nil, err
	}
	if t.refused(dir) {
		return nil, fs.ErrPermission
	}
	if !e.Dir {
		return nil, errNotDir
	}
	names, err := t.names(dir)
	if err != nil {
		return nil, err
	}
	var list []entry
	for name := range names {
		if e, err := t.find(name); err == nil { // otherwise a broken link, or removed meanwhile
			list = append(list, e)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, nil
}

// names returns the full names in a directory, including those of the overlay.
func (t *tree) names(dir string) (map[string]bool, error) {
	names := make(map[string]bool)
	if t.base != nil && t.over[dir] == nil {
		entries, err := fs.ReadDir(t.base, path.Join(".", dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, d := range entries {
			names[path.Join(dir, d.Name())] = true
		}
	}
	for name, n := range t.over {
		if name != "" && parent(name) == dir {
			names[name] = true
			if n.gone {
				delete(names, name)
			}
		}
	}
	return names, nil
}

// refused reports whether name, or a directory above it, is forbidden.
func (t *tree) refused(name string) bool {
	return slices.ContainsFunc(t.forbidden, func(f string) bool {
		f = clean(f)
		return f == "" || name == f || strings.HasPrefix(name, f+"/")
	})
}

// write stores data at offset in a file. If offset is 0, the file is created or truncated first.
// Otherwise existing bytes after the data stay, as on a Unix server.
func (t *tree) write(name string, offset int64, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	if e, err := t.find(name); err == nil && e.Dir {
		return errIsDir
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
	t.set(name, &node{data: data, mod: time.Now()})
	return nil
}

// put is write for the program: missing directories are created.
func (t *tree) put(name string, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if name == "" || strings.ContainsRune(name, 0) {
		return fs.ErrInvalid
	}
	for dir := parent(name); dir != ""; dir = parent(dir) {
		e, err := t.find(dir)
		if err == nil && !e.Dir {
			return errNotDir
		}
		if err != nil {
			t.set(dir, &node{dir: true, mod: epoch, put: true})
		}
	}
	t.set(name, &node{data: bytes.Clone(data), mod: epoch, put: true})
	return nil
}

// content reads a whole file.
func (t *tree) content(name string) ([]byte, error) {
	n := t.over[name]
	if n == nil {
		n = &node{base: name}
	}
	switch {
	case n.gone:
		return nil, fs.ErrNotExist
	case n.base == "":
		return n.data, nil
	case t.base == nil || !fs.ValidPath(n.base):
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(t.base, n.base)
}

// writable returns an error if name may not be created or changed.
func (t *tree) writable(name string) error {
	if name == "" || strings.ContainsRune(name, 0) {
		return fs.ErrInvalid
	}
	if t.refused(name) {
		return fs.ErrPermission
	}
	dir, err := t.find(parent(name))
	if err != nil {
		return err
	}
	if !dir.Dir {
		return errNotDir
	}
	return nil
}

func (t *tree) set(name string, n *node) {
	if t.over == nil {
		t.over = make(map[string]*node)
	}
	t.seq++
	n.seq = t.seq
	t.over[name] = n
}

// remove deletes a file or, if dir is true, an empty directory.
func (t *tree) remove(name string, dir bool) error {
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
			return errIsDir
		}
		return errNotDir
	}
	if dir {
		names, err := t.names(name)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return errNotEmpty
		}
	}
	t.set(name, &node{gone: true})
	return nil
}

func (t *tree) mkdir(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	if _, err := t.find(name); err == nil {
		return fs.ErrExist
	}
	t.set(name, &node{dir: true, mod: time.Now()})
	return nil
}

// rename renames a file or a whole directory.
func (t *tree) rename(from, to string) error {
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

func (t *tree) move(from, to string, e entry) error {
	if e.Dir {
		names, err := t.names(from)
		if err != nil {
			return err
		}
		t.set(to, &node{dir: true, mod: e.ModTime})
		for name := range names {
			child, err := t.find(name)
			if err != nil {
				continue
			}
			if err := t.move(name, to+strings.TrimPrefix(name, from), child); err != nil {
				return err
			}
		}
	} else if n := t.over[from]; n != nil {
		moved := *n
		t.set(to, &moved)
	} else {
		t.set(to, &node{base: from})
	}
	t.set(from, &node{gone: true})
	return nil
}

// touch sets the modification time of a file.
func (t *tree) touch(name string, mod time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(name); err != nil {
		return err
	}
	if e, err := t.find(name); err != nil {
		return err
	} else if e.Dir {
		return errIsDir
	}
	data, err := t.content(name)
	if err != nil {
		return err
	}
	old := t.over[name]
	t.set(name, &node{data: data, mod: mod, put: old == nil || old.put || old.base != ""})
	return nil
}

func (t *tree) uploads() map[string][]byte {
	t.mu.RLock()
	defer t.mu.RUnlock()
	files := make(map[string][]byte)
	for name, n := range t.over {
		if !n.gone && !n.dir && !n.put && n.base == "" {
			files[name] = bytes.Clone(n.data)
		}
	}
	return files
}

// seek moves f to offset. A file that cannot seek is read up to there.
func seek(f fs.File, offset int64) error {
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

// mayWrite returns the error that write would return, before an upload begins.
func (t *tree) mayWrite(name string, offset int64) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err := t.writable(name); err != nil {
		return err
	}
	e, err := t.find(name)
	switch {
	case err == nil && e.Dir:
		return errIsDir
	case offset > e.Size:
		return fs.ErrInvalid
	}
	return nil
}
