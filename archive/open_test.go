package archive

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// limited is a context that ends when it has been asked a number of times.
type limited struct {
	context.Context
	left int
}

func (l *limited) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestOpenCanceled ends Open and WriteIndex at the beginning, and within one long record.
func TestOpenCanceled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.warc")
	w, err := warc.CreateFile(name, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	block := w.NewBlock()
	defer block.Close()
	if _, err := block.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	draft := warc.Draft{Block: block, Header: warc.Header{
		{Name: warc.FieldType, Value: string(warc.Resource)}, {Name: warc.FieldTargetURI, Value: "ftp://ftp.example.org/x"},
		{Name: warc.FieldContentType, Value: "text/plain"},
	}}
	if err := errors.Join(w.Write(draft), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []int{0, 1, 5} {
		ctx := &limited{t.Context(), asked}
		if a, err := Open(ctx, name); !errors.Is(err, context.Canceled) || a != nil {
			t.Errorf("after %d reads: Open: %v", asked, err)
		}
		if more := -ctx.left; more > 5 {
			t.Errorf("after %d reads: Open went on for %d more", asked, more)
		}
		if err := WriteIndex(&limited{t.Context(), asked}, io.Discard, name); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d reads: WriteIndex: %v", asked, err)
		}
	}
}
