package simdisk

import (
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Put creates a file, or replaces what has its name. It creates the directories that are missing.
// Crashes do not undo it. data must not change.
func (d *Disk) Put(name string, data []byte, modified time.Time) {
	n := &inode{mode: 0o644, modified: modified.Round(0), data: slices.Clip(data), shared: len(data)}
	d.put(name, n)
}

// Replace is Put with the current time. Files that are open keep their content.
func (d *Disk) Replace(name string, data []byte) { d.Put(name, data, now()) }

// Symlink creates a symbolic link, or replaces what has its name. Crashes do not undo it.
func (d *Disk) Symlink(target, name string) {
	d.put(name, &inode{mode: fs.ModeSymlink | 0o777, modified: now(), target: target})
}

// put gives an inode a name. Crashes do not undo it.
func (d *Disk) put(name string, n *inode) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.slot(name, true)
	d.change(&change{node: n, to: at, over: d.at(at), direct: true})
}

// Delete removes a file, a link or a tree, if there is one. Crashes do not undo it.
func (d *Disk) Delete(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.slot(name, false)
	if n := d.at(at); n != nil {
		d.change(&change{node: n, from: at, direct: true})
	}
}

// Get returns the content of a regular file, and whether there is one. It follows no links.
func (d *Disk) Get(name string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.at(d.slot(name, false))
	if n == nil || !n.mode.IsRegular() {
		return nil, false
	}
	return n.snapshot(), true
}

// Files returns all regular files sorted by name, and their contents, which must not be changed.
func (d *Disk) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		d.mu.Lock()
		files := make(map[string][]byte)
		for name, n := range d.root.tree("") {
			if n.mode.IsRegular() {
				files[name] = n.snapshot()
			}
		}
		d.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !yield(name, files[name]) {
				return
			}
		}
	}
}

// tree returns everything below a directory in order.
func (n *inode) tree(dir string) iter.Seq2[string, *inode] {
	return func(yield func(string, *inode) bool) {
		nodes := make(map[string]*inode, len(n.entries))
		for _, e := range n.entries {
			nodes[e.name] = e.node
		}
		for _, name := range n.list() {
			if !yield(dir+"/"+name, nodes[name]) {
				return
			}
			for name, below := range nodes[name].tree(dir + "/" + name) {
				if !yield(name, below) {
					return
				}
			}
		}
	}
}

// Locks returns the names of the files that are locked, as they were opened, in order.
func (d *Disk) Locks() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for _, p := range d.running {
		for o, name := range p.opened {
			if f, ok := o.(*file); ok && f.node.lock == f {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// slot returns where a name is. If create is set, it creates the directories, and crashes do not
// undo that. No links are followed: one that is in the way is replaced by a directory.
func (d *Disk) slot(name string, create bool) slot {
	dirs, base := path.Split(path.Clean("/" + name))
	dir := d.root
	for part := range strings.SplitSeq(strings.Trim(dirs, "/"), "/") {
		if part == "" {
			continue
		}
		at := slot{dir, part}
		n := d.at(at)
		if create {
			for _, c := range d.log {
				c.direct = c.direct || n != nil && c.node == n
			}
		}
		if n == nil || !n.mode.IsDir() {
			if !create {
				return slot{}
			}
			over := n
			n = newInode(fs.ModeDir | 0o755)
			d.change(&change{node: n, to: at, over: over, direct: true})
		}
		dir = n
	}
	return slot{dir, base}
}
