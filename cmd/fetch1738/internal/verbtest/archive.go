package verbtest

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// ArchiveFile writes captures of two times to a WARC file and returns its name.
func ArchiveFile(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "site.warc.gz")
	w, err := warc.CreateFile(name, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][4]string{
		{"gopher://h.example/0file", "text/plain", "1994-12-01T23:00:00Z", "first\r\n"},
		{"gopher://h.example/0file", "text/plain", "1996-01-01T00:00:00Z", "second\r\n"},
		{"ftp://h.example/file", "text/plain", "1996-01-01T00:00:00Z", "12345"},
	} {
		block := warc.NewBlock()
		defer block.Close()
		io.WriteString(block, c[3])
		err := w.Write(warc.Draft{Block: block, Header: warc.Header{
			{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: c[0]}, {Name: warc.FieldContentType, Value: c[1]}, {Name: warc.FieldDate, Value: c[2]}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}
