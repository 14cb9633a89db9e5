package simdisk

import (
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"
)

// A state is what a crash cannot undo.
type state struct {
	data     []byte
	mode     fs.FileMode
	modified time.Time
}

// An edit is a write, or without data a truncation.
type edit struct {
	off  int64
	data []byte
	size int64 // of the file, after it
}

// A change gives an inode a name, takes one away, or renames it.
type change struct {
	node     *inode
	from, to slot
	over     *inode // that had the name before
	synced   bool   // it survives a crash, and in a journal so do all before it
	direct   bool   // it survives a crash
}

const sector = 512

// Crash ends all processes, and undoes what was not synced or not, as r decides. For each file all
// of the edits are kept, or none, or some of the sectors, and maybe the size. Of the names, a file
// system with a journal keeps all changes up to some moment, and another one keeps any of them.
// What is left survives further crashes.
//
// Sync of a file keeps its data, size, mode and time, and perhaps its name. Sync of a directory
// keeps the names in it.
func (d *Disk) Crash(r *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.running {
		p.kill()
	}
	d.running = nil
	for _, n := range d.dirty {
		if n.saved != nil {
			n.crash(r)
		}
	}
	d.names.crash(r)
	d.settle()
	// What is in a directory that is lost no longer counts.
	d.used = 0
	counted := make(map[*inode]bool)
	for _, n := range d.root.tree("") {
		if counted[n] {
			n.links++
			continue
		}
		counted[n] = true
		n.links = 1
		d.used += int64(len(n.data))
	}
}

// Settle makes everything survive crashes, as it does when enough time passes.
func (d *Disk) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle()
}

// settle is Settle with mu held.
func (d *Disk) settle() {
	for _, n := range d.dirty {
		n.saved, n.edits, n.dirty = nil, nil, false
	}
	d.dirty = nil
	d.logged += len(d.log)
	d.log = nil
}

// touch prepares an inode to be changed.
func (d *Disk) touch(n *inode) {
	if n.saved == nil {
		n.saved = &state{n.snapshot(), n.mode, n.modified}
	}
	d.markDirty(n)
}

// markDirty remembers that a crash may change an inode.
func (d *Disk) markDirty(n *inode) {
	if !n.dirty {
		n.dirty = true
		d.dirty = append(d.dirty, n)
	}
}

// sync makes the content of a file or directory survive.
func (d *Disk) sync(n *inode) {
	n.saved, n.edits = nil, nil
	if !n.mode.IsDir() {
		n.synced = d.logged + len(d.log)
		return
	}
	// Whatever has been renamed into the directory is no longer where it was before.
	moved := make(map[*inode]bool)
	for _, c := range slices.Backward(d.log) {
		if c.from.dir == n || c.to.dir == n || moved[c.node] {
			c.synced = true
			moved[c.node] = true
		}
	}
}

// crash undoes edits.
func (n *inode) crash(r *rand.Rand) {
	switch saved := n.saved; r.IntN(3) {
	case 0: // all are kept
	case 1:
		n.data, n.mode, n.modified = saved.data, saved.mode, saved.modified
		n.shared = len(n.data)
	default:
		if coin(r) {
			n.mode = saved.mode
		}
		if coin(r) {
			n.modified = saved.modified
		}
		data, size, kept := slices.Clone(saved.data), int64(len(saved.data)), r.IntN(len(n.edits)+1)
		for i, e := range n.edits {
			if i < kept { // it has changed the size
				if size = e.size; e.data == nil {
					data = resize(data, size)
				}
			}
			for p, off := e.data, e.off; len(p) > 0; {
				m := min(int64(len(p)), sector-off%sector)
				if coin(r) {
					data = put(data, p[:m], off)
				}
				p, off = p[m:], off+m
			}
		}
		n.data, n.shared = resize(data, size), 0
	}
}

// crash undoes changes of names: all of them, and then it repeats those that are kept.
func (d *names) crash(r *rand.Rand) {
	for _, c := range slices.Backward(d.log) {
		d.undo(c)
	}
	synced, lucky := 0, make(map[*inode]bool)
	for i, c := range d.log {
		if d.logged+i < c.node.synced {
			if _, known := lucky[c.node]; !known {
				lucky[c.node] = coin(r)
			}
			c.synced = c.synced || lucky[c.node]
		}
		if c.synced {
			synced = i + 1
		}
	}
	journal := coin(r)
	kept := max(synced, r.IntN(len(d.log)+1))
	for i, c := range d.log {
		switch {
		case c.synced || c.direct:
			d.force(c)
		case journal && i < kept || !journal && coin(r):
			d.repeat(c)
		}
	}
}

// apply makes a change.
func (d *names) apply(c *change) {
	if c.from.dir != nil {
		d.detach(c.from)
	}
	if c.over != nil {
		d.detach(c.to)
	}
	if c.to.dir != nil {
		d.attach(c.to, c.node)
	}
}

func (d *names) undo(c *change) {
	if c.to.dir != nil {
		d.detach(c.to)
	}
	if c.over != nil {
		d.attach(c.to, c.over)
	}
	if c.from.dir != nil {
		d.attach(c.from, c.node)
	}
}

// at returns what is in a slot.
func (d *names) at(s slot) *inode {
	if s.dir == nil {
		return nil
	}
	return s.dir.entries[d.key(s.name)].node
}

// repeat applies a change if that is still possible.
func (d *names) repeat(c *change) {
	n, over := c.node, d.at(c.to)
	switch {
	case c.from.dir != nil && d.at(c.from) != n:
		return
	case c.from.dir == nil && over != nil: // there is a file of this name
		return
	case c.to.dir == nil && len(n.entries) > 0:
		return
	case c.to.dir != nil && n.mode.IsDir() && (n.holds(c.to.dir) || c.from.dir == nil && n.links > 0):
		return
	case over != nil && over != n && (over.mode.IsDir() || n.mode.IsDir()):
		return
	}
	if over == n {
		over = nil
	}
	d.apply(&change{node: n, from: c.from, to: c.to, over: over})
}

// force applies a change whatever else was undone.
func (d *names) force(c *change) {
	if c.from.dir != nil && (d.at(c.from) == c.node || c.to.dir == nil && d.at(c.from) != nil) {
		d.detach(c.from)
	}
	if c.to.dir == nil || c.node.mode.IsDir() && (c.node.holds(c.to.dir) || c.node.links > 0) {
		return
	}
	if d.at(c.to) != nil {
		d.detach(c.to)
	}
	d.attach(c.to, c.node)
}

// coin returns true or false.
func coin(r *rand.Rand) bool { return r.IntN(2) == 0 }
