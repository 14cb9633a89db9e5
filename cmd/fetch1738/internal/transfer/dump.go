package transfer

import "github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"

// openDump opens the file for heads.
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
	file, err := t.engine.dumps.Open(&t.place)
	if err == nil {
		t.Heads.Dump(output.Harmless(file, o.Raw), file)
	}
	return err
}
