package output

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// Create opens a file for writing. If more is set, it appends. If mkdirs is set, missing
// directories are created.
func Create(name string, mkdirs, more bool) (*os.File, error) {
	if mkdirs {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return nil, err
		}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !more {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(name, flags, 0o666)
}

// Dumps opens the files for heads (-D) of Operations.
type Dumps struct {
	mu     sync.Mutex
	opened map[*plan.Operation]bool
}

// Open opens the file for the heads of a transfer. The first transfer of an Operation truncates it,
// the others append.
func (d *Dumps) Open(op *plan.Operation) (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	more := d.opened[op]
	if d.opened == nil {
		d.opened = make(map[*plan.Operation]bool)
	}
	d.opened[op] = true
	return Create(op.Output.DumpHeader, op.Output.CreateDirs, more)
}

// Harmless returns w with a filter for text of a server, if w is a terminal and raw is
// not set.
func Harmless(w io.Writer, raw bool) io.Writer {
	if raw || !term.IsTerminal(w) {
		return w
	}
	return term.NewWriter(w)
}
