package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// layers are the content of a tree with the changes on top of it. The caller of a method holds the
// lock of the tree.
type layers struct {
	base fs.FS
	own  map[string]*node // changed by the program
	over map[string]*node // changed by clients since
	seq  int              // number of changes; distinguishes versions
	disk *os.Root         // where files of clients are kept; nil means in memory
}

// node replaces the file or directory of its name.
type node struct {
	gone bool
	dir  bool
	base string // if not "", the file in base that was renamed to this
	data []byte // if it is not on the disk
	at   string // the name on the disk, or ""
	size int64
	mod  time.Time
	seq  int
	same bool // with the bytes of a file of the program
}

// node returns what replaces the file of a name, or nil.
func (t *layers) node(name string) *node {
	if n := t.over[name]; n != nil {
		return n
	}
	return t.own[name]
}

// find returns the entry of a name, with all changes.
func (t *layers) find(name string) (Entry, error) {
	n := t.node(name)
	switch {
	case n == nil:
		return t.inBase(name, path.Base("/"+name))
	case n.gone:
		return Entry{}, fs.ErrNotExist
	case n.base != "":
		return t.inBase(n.base, path.Base(name))
	}
	e := Entry{Name: path.Base(name), Size: n.size, ModTime: n.mod, Dir: n.dir}
	e.ETag = fmt.Sprintf(`"%x-%x-%x"`, n.mod.Unix(), e.Size, n.seq)
	return e, nil
}

// special are the modes of files that are not served, because reading them may not end: a named pipe
// waits for its writer as soon as it is opened, and a device may have no end.
const special = fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeCharDevice

// inBase returns an entry of the content, under another name.
func (t *layers) inBase(name, as string) (Entry, error) {
	if name == "" {
		name = "."
	}
	if t.base == nil {
		if name == "." {
			return Entry{Name: as, Dir: true, ModTime: Epoch}, nil
		}
		return Entry{}, fs.ErrNotExist
	}
	info, err := fs.Stat(t.base, name)
	if errors.Is(err, fs.ErrInvalid) { // as of most file systems, if the name is not UTF-8
		err = fs.ErrNotExist
	}
	if err == nil && info.Mode()&special != 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Entry{}, err
	}
	return entryOf(as, info), nil
}

// entryOf returns an Entry. The size of a directory is 0, and an unknown time is Epoch.
func entryOf(name string, info fs.FileInfo) Entry {
	e := Entry{Name: name, Size: info.Size(), ModTime: info.ModTime(), Dir: info.IsDir()}
	if e.ModTime.IsZero() {
		e.ModTime = Epoch
	}
	if e.Dir {
		e.Size = 0
	}
	e.ETag = fmt.Sprintf(`"%x-%x"`, e.ModTime.UnixNano(), e.Size)
	return e
}

// names returns the full names in a directory, including those of the overlay.
func (t *layers) names(dir string) (map[string]bool, error) {
	names := make(map[string]bool)
	if t.base != nil && t.node(dir) == nil {
		entries, err := fs.ReadDir(t.base, path.Join(".", dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, d := range entries {
			names[path.Join(dir, d.Name())] = true
		}
	}
	for _, layer := range []map[string]*node{t.own, t.over} {
		for name, n := range layer {
			if name != "" && parent(name) == dir {
				names[name] = true
				if n.gone {
					delete(names, name)
				}
			}
		}
	}
	return names, nil
}

// content reads a whole file.
func (t *layers) content(name string) ([]byte, error) {
	n := t.node(name)
	if n == nil {
		n = &node{base: name}
	}
	switch {
	case n.gone:
		return nil, fs.ErrNotExist
	case n.base == "":
		return t.bytes(n)
	case !fs.ValidPath(n.base):
		return nil, fs.ErrNotExist
	}
	if _, err := t.inBase(n.base, ""); err != nil {
		return nil, err
	}
	return fs.ReadFile(t.base, n.base)
}

// bytes returns the content of a node that is not in base. The caller must not change it.
func (t *layers) bytes(n *node) ([]byte, error) {
	if n.at == "" {
		return n.data, nil
	}
	return t.disk.ReadFile(n.at)
}

// set makes a change for a client.
func (t *layers) set(name string, n *node) error {
	if t.over == nil {
		t.over = make(map[string]*node)
	}
	if t.disk != nil {
		if err := t.save(name, n); err != nil {
			return err
		}
	}
	if n.at == "" {
		n.size = int64(len(n.data))
	}
	t.seq++
	n.seq = t.seq
	t.over[name] = n
	return nil
}

// save makes the change on the disk, too, under the same name.
func (t *layers) save(name string, n *node) error {
	at := filepath.FromSlash(name)
	switch {
	case n.gone:
		if err := t.disk.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case n.dir:
		return t.disk.MkdirAll(at, 0o755)
	case n.base != "", n.same && n.at == "":
		return nil // the bytes of a file that is not a client's
	}
	data, err := t.bytes(n)
	if err != nil {
		return err
	}
	if err := t.disk.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := t.disk.WriteFile(at, data, 0o644); err != nil {
		return err
	}
	n.data, n.at, n.size = nil, at, int64(len(data))
	return nil
}

// reset undoes the changes of clients.
func (t *layers) reset() error {
	var errs []error
	for name := range t.over {
		if t.disk != nil && name != "" {
			errs = append(errs, t.disk.RemoveAll(filepath.FromSlash(name)))
		}
	}
	t.over = nil
	t.seq++
	return errors.Join(errs...)
}

// change makes a change for the program, in place of those of clients.
func (t *layers) change(name string, n *node) {
	if t.own == nil {
		t.own = make(map[string]*node)
	}
	if old := t.over[name]; old != nil && old.at != "" {
		_ = t.disk.Remove(old.at)
	}
	n.size = int64(len(n.data))
	t.seq++
	n.seq = t.seq
	t.own[name] = n
	delete(t.over, name)
}
