package archive

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/archive/internal/warctest"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// FuzzOpen reads all that an archive of any octets has. It must neither panic nor read without end.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	for _, name := range []string{"x.warc", "x.warc.gz"} {
		w, err := warc.CreateFile(filepath.Join(dir, name), warc.Options{})
		if err != nil {
			f.Fatal(err)
		}
		for _, r := range warctest.Sample {
			block := warc.NewBlock()
			_, _ = io.WriteString(block, r.Body)
			if err := w.Write(warc.Draft{Block: block, Header: warc.Header{{Name: warc.FieldType, Value: string(r.Type)}, {Name: warc.FieldTargetURI, Value: r.URL}, {Name: warc.FieldContentType, Value: r.Media}}}); err != nil {
				f.Fatal(err)
			}
			_ = block.Close()
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		packed, err := os.ReadFile(filepath.Join("testdata", name+".wacz"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, packed bool) {
		name := filepath.Join(t.TempDir(), "x.warc")
		if packed {
			name = filepath.Join(filepath.Dir(name), "x.wacz")
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), name)
		if err != nil {
			return
		}
		defer a.Close()
		for c, err := range a.Captures("") {
			if err != nil {
				break
			}
			if doc, err := a.Open(c); err == nil {
				_, _ = io.Copy(io.Discard, doc.Body)
				_ = doc.Body.Close()
			}
			if _, err := a.Find(c.URL, c.Time); err != nil && !packed {
				t.Errorf("%q: %v", c.URL, err)
			}
		}
		_, _ = a.Sites()
	})
}
