package output

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// Create opens a file for writing. If more is set, it appends. If mkdirs is set, missing
// directories are created.
func (p *Place) Create(name string, mkdirs, more bool) (disk.File, error) {
	d := disk.Or(p.Disk)
	if mkdirs {
		if err := d.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return nil, err
		}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !more {
		flags |= os.O_TRUNC
	}
	return d.OpenFile(name, flags, 0o666)
}

// Save replaces the content of a file.
func (p *Place) Save(name, text string) error {
	f, err := p.Create(name, false, false)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return cmp.Or(err, f.Close())
}

// Saved returns the content of a file.
func (p *Place) Saved(name string) ([]byte, error) {
	f, err := disk.Or(p.Disk).OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return stdio.ReadAll(f, name)
}

// Dumps opens the files for heads (-D) of Operations.
type Dumps struct {
	mu     sync.Mutex
	opened map[*plan.Operation]bool
}

// Open opens the file for the heads of a transfer. The first transfer of an Operation truncates it,
// the others append.
func (d *Dumps) Open(p *Place) (disk.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	more := d.opened[p.Op]
	if d.opened == nil {
		d.opened = make(map[*plan.Operation]bool)
	}
	d.opened[p.Op] = true
	return p.Create(p.Op.Output.DumpHeader, p.Op.Output.CreateDirs, more)
}

// Harmless returns w with a filter for text of a server, if w is a terminal and raw is
// not set.
func Harmless(w io.Writer, raw bool) io.Writer {
	if raw || !term.IsTerminal(w) {
		return w
	}
	return term.NewWriter(w)
}
