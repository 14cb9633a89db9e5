package archive

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		for _, r := range sample {
			block := warc.NewBlock()
			_, _ = io.WriteString(block, r.body)
			if err := w.Write(warc.Draft{Block: block, Header: warc.Header{{Name: warc.FieldType, Value: string(r.typ)}, {Name: warc.FieldTargetURI, Value: r.url}, {Name: warc.FieldContentType, Value: r.media}}}); err != nil {
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
		a, err := Open(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if err := a.WriteWACZ(&b, fixed); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), true)
		_ = a.Close()
	}
	f.Fuzz(func(t *testing.T, data []byte, packed bool) {
		name := filepath.Join(t.TempDir(), "x.warc")
		if packed {
			name = filepath.Join(filepath.Dir(name), "x.wacz")
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := Open(name)
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
		_ = a.WriteWACZ(io.Discard, fixed)
		_ = fs.WalkDir(a.FS(time.Time{}), ".", func(path string, d fs.DirEntry, err error) error {
			if !fs.ValidPath(path) {
				t.Errorf("%q", path)
			}
			return err
		})
	})
}
