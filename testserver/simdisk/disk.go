// Package simdisk is a simulated disk for tests: a [disk.Disk] in memory, with processes that can
// be killed at any call, and with crashes that lose what was not synced. Its files behave as those
// of Linux do through package os, for a user that is not root. Everything is deterministic.
package simdisk

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"syscall"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// Options are the rules of a Disk.
type Options struct {
	Windows  bool  // an open file cannot be renamed, removed or replaced; Flush closes a file
	FoldCase bool  // names that differ only in case are one name
	NoLinks  bool  // hard links are not supported
	Capacity int64 // bytes of all files; 0 means no limit
}

// ErrDead is the error of all calls of a process that is dead.
var ErrDead = errors.New("the process is dead")

// ErrSharing is the error of a rename or removal that Windows refuses because the file is open.
var ErrSharing = errors.New("another process is using the file")

// A Disk is what several processes share. Its methods are those of the test: no hook sees them.
type Disk struct {
	Options
	mu sync.Mutex
	names
	running []*Process
	dirty   []*inode // those with edits that a crash may undo
}

// New returns an empty Disk.
func New(o Options) *Disk {
	d := &Disk{Options: o, names: names{root: newInode(fs.ModeDir | 0o755), fold: o.FoldCase}}
	d.root.links = 1
	return d
}

// A Process is one process that uses a Disk. It is a [disk.Disk].
type Process struct {
	folder
	disk   *Disk
	before func(*Call) error
	dead   bool
	opened map[opened]string // the names of what is open
}

type opened interface{ release() }

var _ disk.Disk = (*Process)(nil)

// A Call is one call of a process, before it takes effect. MkdirAll is a mkdir for each directory.
type Call struct {
	// Op is open, stat, lstat, mkdir, rename, link, remove, chtimes or eval; for files also read,
	// write, truncate, chmod, sync, list, lock, flush or close.
	Op   string
	Name string // absolute path
	To   string // absolute path of the new name, for rename and link
	N    int    // number of bytes, for read and write
}

// Process starts a process. If before is not nil, it is called before each call takes effect, and
// may do anything: also sleep, use the Disk, or kill the process. If it returns an error, the call
// fails with that error and has no effect, except for [Short]. A close always closes the file.
func (d *Disk) Process(before func(c *Call) error) *Process {
	p := &Process{disk: d, before: before, opened: make(map[opened]string)}
	p.folder = folder{p: p, dir: d.root}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = append(d.running, p)
	return p
}

// Short is the error that a hook returns if a write writes its first n bytes and then fails with
// err.
func Short(n int, err error) error { return &short{n, err} }

type short struct {
	n int
	error
}

func (s *short) Unwrap() error { return s.error }

// Kill ends the process. All of its further calls fail with [ErrDead]; its files are closed.
func (p *Process) Kill() {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.kill()
	p.disk.running = slices.DeleteFunc(p.disk.running, func(q *Process) bool { return q == p })
}

// kill is Kill with the mu of the Disk held.
func (p *Process) kill() {
	for o := range p.opened {
		o.release()
	}
	clear(p.opened)
	p.dead = true
}

// Open returns the names of the files and roots that are open, as they were opened, in order.
func (p *Process) Open() []string {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	names := make([]string, 0, len(p.opened))
	for _, name := range p.opened {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// call calls the hook.
func (p *Process) call(c Call) error {
	if p.before == nil {
		return nil
	}
	p.disk.mu.Lock()
	dead := p.dead
	p.disk.mu.Unlock()
	if dead {
		return ErrDead
	}
	return p.before(&c)
}

// do calls the hook, and then effect if the process is still alive.
func (p *Process) do(c Call, effect func() error) error {
	if err := p.call(c); err != nil {
		return err
	}
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if p.dead {
		return ErrDead
	}
	return effect()
}

// Close implements [disk.Folder]. It does nothing.
func (p *Process) Close() error { return nil }

// EvalSymlinks implements [disk.Disk].
func (p *Process) EvalSymlinks(name string) (target string, err error) {
	err = p.folder.do("eval", name, func() error {
		switch at, err := p.find(name, follow|eval); {
		case errors.Is(err, syscall.ENOTDIR):
			return err
		case errors.Is(err, syscall.ELOOP):
			return errors.New("EvalSymlinks: too many links")
		case err != nil:
			return &fs.PathError{Op: "lstat", Path: name, Err: err}
		case at.node == nil:
			return &fs.PathError{Op: "lstat", Path: name, Err: syscall.ENOENT}
		case at.node.mode.IsDir():
			target = at.node.path()
		default:
			target = path.Join(at.dir.path(), at.name)
		}
		return nil
	})
	return target, err
}
