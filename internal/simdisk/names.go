package simdisk

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"
)

// An inode is a file, a directory or a symbolic link.
type inode struct {
	mode     fs.FileMode
	modified time.Time
	links    int // names
	opened   int // open files and roots
	lock     *file

	data   []byte
	shared int    // data[:shared] must not be changed: others have it too
	target string // of a symbolic link

	entries map[string]entry // of a directory, by key
	parent  *inode           // of a directory
	name    string           // of a directory

	saved  *state // what a crash cannot undo; nil if it is what there is
	edits  []edit // changes of data since then
	dirty  bool   // in Disk.dirty
	synced int    // number of changes of names before the last sync
}

// An entry is a name with its case.
type entry struct {
	name string
	node *inode
}

func newInode(mode fs.FileMode) *inode {
	n := &inode{mode: mode, modified: now()}
	if mode.IsDir() {
		n.entries = make(map[string]entry)
	} else {
		n.saved = &state{mode: mode, modified: n.modified}
	}
	return n
}

func now() time.Time { return time.Now().Round(0) }

// A slot is where an inode can be.
type slot struct {
	dir  *inode
	name string
}

// A place is what a path leads to.
type place struct {
	slot
	node  *inode // nil if there is nothing
	slash bool   // the path ends with a slash
	more  bool   // of a path that goes on
}

// special reports whether the path ends with a dot, or is "/".
func (p *place) special() bool { return p.name == "." || p.name == ".." || p.name == "/" }

// How a path is followed. By default a link at its end is not followed, but a slash requires that the
// path leads to a directory.
const (
	follow   = 1 << iota // a link at the end
	raw                  // leave a slash at the end to the caller
	creating             // with a slash there may be nothing
	partly               // stop at the first directory that is missing
	eval                 // a dot is not looked up
)

var errEscapes = errors.New("path escapes from parent")

// find follows a path as Linux does, and that of a root as os.Root does.
func (f *folder) find(name string, how int) (place, error) {
	switch {
	case f.root && name == "":
		return place{}, errors.New("empty path")
	case f.root && name[0] == '/':
		return place{}, errEscapes
	case strings.IndexByte(name, 0) >= 0:
		return place{}, syscall.EINVAL
	case name == "":
		return place{}, syscall.ENOENT
	case len(name) >= 4096 && !f.root:
		return place{}, syscall.ENAMETOOLONG
	}
	at, rest, links, lexical := f.dir, name, 0, f.root || how&eval != 0
	for {
		if rest = strings.TrimLeft(rest, "/"); rest == "" {
			return place{slot: slot{at, "/"}, node: at}, nil
		}
		part, rest2, slash := strings.Cut(rest, "/")
		rest2 = strings.TrimLeft(rest2, "/")
		last := rest2 == ""
		if at.mode&0o100 == 0 && !(lexical && (part == ".." || part == "." && (!last || !f.root))) {
			return place{}, syscall.EACCES
		}
		if part == ".." {
			if at != f.dir {
				at = at.parent
			} else if f.root {
				return place{}, errEscapes
			}
			if last && f.root && at != f.dir {
				return place{slot: slot{at.parent, at.name}, node: at, slash: slash}, nil
			} else if last && f.root {
				part = "."
			}
		}
		if part == "." || part == ".." {
			if last {
				return place{slot: slot{at, part}, node: at, slash: slash && f.root}, nil
			}
			rest = rest2
			continue
		}
		if len(part) > 255 && at.links > 0 {
			return place{}, syscall.ENAMETOOLONG
		}
		n := at.entries[f.p.disk.key(part)].node
		if n != nil && n.mode&fs.ModeSymlink != 0 && (!last || slash && how&raw == 0 || !slash && how&follow != 0) {
			if links++; links > 40 || f.root && links > 8 {
				return place{}, syscall.ELOOP
			}
			if rest = n.target; slash {
				rest += "/" + rest2
			}
			if n.target[0] == '/' {
				if f.root {
					return place{}, errEscapes
				}
				at = f.dir
			}
			continue
		}
		switch found := (place{slot{at, part}, n, slash, !last}); {
		case n == nil && last && (!slash || how&(raw|creating) != 0), n == nil && !last && how&partly != 0:
			return found, nil
		case n == nil:
			return place{}, syscall.ENOENT
		case last && how&raw != 0:
			return found, nil
		case (!last || slash) && !n.mode.IsDir():
			return place{}, syscall.ENOTDIR
		case last:
			return found, nil
		case f.root && n.mode&0o400 == 0:
			return place{}, syscall.EACCES
		}
		at, rest = n, rest2
	}
}

// key returns what is the same for all names that are one name.
func (d *Disk) key(name string) string {
	if d.FoldCase {
		return strings.ToLower(name)
	}
	return name
}

// writable reports whether names in a directory can be changed.
func (n *inode) writable() bool { return n.mode&0o200 != 0 }

// holds reports whether a directory is dir or above it.
func (n *inode) holds(dir *inode) bool {
	for ; dir != nil; dir = dir.parent {
		if dir == n {
			return true
		}
	}
	return false
}

// path returns the absolute path of a directory.
func (n *inode) path() string {
	if n.parent == nil {
		return "/"
	}
	return path.Join(n.parent.path(), n.name)
}

// add gives an inode a name.
func (d *Disk) add(at place, n *inode) error {
	if at.dir.links == 0 {
		return syscall.ENOENT // removed while it was open
	}
	if !at.dir.writable() {
		return syscall.EACCES
	}
	if n.saved != nil {
		d.list(n)
	}
	d.change(&change{node: n, to: at.slot})
	return nil
}

// change changes names, and logs that.
func (d *Disk) change(c *change) {
	d.log = append(d.log, c)
	d.apply(c)
	for _, dir := range []*inode{c.from.dir, c.to.dir} {
		if dir != nil {
			dir.modified = now()
		}
	}
}

func (d *Disk) attach(at slot, n *inode) {
	if n.links++; n.links == 1 && n.opened == 0 {
		d.used += int64(len(n.data))
	}
	if n.mode.IsDir() {
		n.parent, n.name = at.dir, at.name
	}
	at.dir.entries[d.key(at.name)] = entry{at.name, n}
}

func (d *Disk) detach(at slot) {
	n := at.dir.entries[d.key(at.name)].node
	delete(at.dir.entries, d.key(at.name))
	n.links--
	d.free(n)
}

// released ends one use of an open inode.
func (d *Disk) released(n *inode) {
	n.opened--
	d.free(n)
}

func (d *Disk) free(n *inode) {
	if n.links == 0 && n.opened == 0 {
		d.used -= int64(len(n.data))
	}
}
