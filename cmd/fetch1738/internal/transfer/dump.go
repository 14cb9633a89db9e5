package transfer

import (
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// openDump opens the file for heads. The first transfer of an Operation truncates it,
// the others append.
func openDump(t *Transfer) error {
	o := &t.Op.Output
	switch o.DumpHeader {
	case "":
		return nil
	case "-":
		t.Heads.Dump(output.Harmless(t.Out, o.Raw), nil)
		return nil
	case "%":
		t.Heads.Dump(output.Harmless(t.engine.Err, o.Raw), nil)
		return nil
	}
	file, err := output.Create(o.DumpHeader, o.CreateDirs, t.engine.dumps(t.Op))
	if err == nil {
		t.Heads.Dump(output.Harmless(file, o.Raw), file)
	}
	return err
}

// dumps reports whether the file for heads has been opened before.
func (e *Engine) dumps(op *plan.Operation) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.dumped[op]
	if e.dumped == nil {
		e.dumped = make(map[*plan.Operation]bool)
	}
	e.dumped[op] = true
	return before
}
