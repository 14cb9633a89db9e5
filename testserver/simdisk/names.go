package simdisk

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"
)

// names is the tree of names, with the changes that a crash may undo.
type names struct {
	root   *inode
	fold   bool      // see Options
	used   int64     // bytes of all files
	log    []*change // since the last crash
	logged int       // changes before log
}

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

// now returns the time without its monotonic part, as disks have it.
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
	more  bool   // of the path follows
}

// special reports whether the path ends with a dot, or is "/".
func (p *place) special() bool { return p.name == "." || p.name == ".." || p.name == "/" }

// How a path is followed. By default a link at its end is not followed, but a slash requires that
// the path leads to a directory.
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
	if err := invalid(name, f.root); err != nil {
		return place{}, err
	}
	at, rest, links, lexical := f.dir, name, 0, f.root || how&eval != 0
	for {
		if rest = strings.TrimLeft(rest, "/"); rest == "" {
			return place{slot: slot{at, "/"}, node: at}, nil
		}
		part, after, slash := strings.Cut(rest, "/")
		after = strings.TrimLeft(after, "/")
		last := after == ""
		if at.mode&0o100 == 0 && !(lexical && (part == ".." || part == "." && (!last || !f.root))) {
			return place{}, syscall.EACCES
		}
		switch {
		case part == ".." && at != f.dir:
			at = at.parent
		case part == ".." && f.root:
			return place{}, errEscapes
		}
		if part == "." || part == ".." {
			if !last {
				rest = after
				continue
			}
			found := place{slot: slot{at, part}, node: at, slash: slash && f.root}
			if part == ".." && f.root && at == f.dir {
				found.name = "."
			} else if part == ".." && f.root {
				found.slot = slot{at.parent, at.name}
			}
			return found, nil
		}
		n := at.entries[f.p.disk.key(part)].node
		if n == nil || n.mode&fs.ModeSymlink == 0 || last && (slash && how&raw != 0 || !slash && how&follow == 0) {
			found := place{slot{at, part}, n, slash, !last}
			if err := found.check(how); err != nil || last || n == nil {
				return found, err
			}
			if at, rest = n, after; f.root && n.mode&0o400 == 0 {
				return place{}, syscall.EACCES
			}
			continue
		}
		if links++; links > 40 || f.root && links > 8 {
			return place{}, syscall.ELOOP
		}
		if rest = n.target; slash {
			rest += "/" + after
		}
		if n.target[0] == '/' {
			if at = f.dir; f.root {
				return place{}, errEscapes
			}
		}
	}
}

// invalid returns the error of a path that leads nowhere on any disk.
func invalid(name string, root bool) error {
	switch {
	case root && name == "":
		return errors.New("empty path")
	case root && name[0] == '/':
		return errEscapes
	case strings.IndexByte(name, 0) >= 0:
		return syscall.EINVAL
	case name == "":
		return syscall.ENOENT
	case len(name) >= 4096 && !root:
		return syscall.ENAMETOOLONG
	}
	return nil
}

// check fails if the path cannot continue or end here.
func (p *place) check(how int) error {
	switch missing := p.node == nil; {
	case len(p.name) > 255 && p.dir.links > 0:
		return syscall.ENAMETOOLONG
	case missing && p.more && how&partly == 0, missing && !p.more && p.slash && how&(raw|creating) == 0:
		return syscall.ENOENT
	case !missing && !p.node.mode.IsDir() && (p.more || p.slash && how&raw == 0):
		return syscall.ENOTDIR
	}
	return nil
}

// key returns what is the same for all names that are one name.
func (d *names) key(name string) string {
	if d.fold {
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
		d.markDirty(n)
	}
	d.change(&change{node: n, to: at.slot})
	return nil
}

// change changes names, and logs that.
func (d *names) change(c *change) {
	d.log = append(d.log, c)
	d.apply(c)
	for _, dir := range []*inode{c.from.dir, c.to.dir} {
		if dir != nil {
			dir.modified = now()
		}
	}
}

// attach puts an inode into a slot, without a change in the log.
func (d *names) attach(at slot, n *inode) {
	if n.links++; n.links == 1 && n.opened == 0 {
		d.used += int64(len(n.data))
	}
	if n.mode.IsDir() {
		n.parent, n.name = at.dir, at.name
	}
	at.dir.entries[d.key(at.name)] = entry{at.name, n}
}

// detach empties a slot, without a change in the log.
func (d *names) detach(at slot) {
	n := at.dir.entries[d.key(at.name)].node
	delete(at.dir.entries, d.key(at.name))
	n.links--
	d.free(n)
}

// released ends one use of an open inode.
func (d *names) released(n *inode) {
	n.opened--
	d.free(n)
}

// free frees the space of an inode that has no name and is not open.
func (d *names) free(n *inode) {
	if n.links == 0 && n.opened == 0 {
		d.used -= int64(len(n.data))
	}
}
