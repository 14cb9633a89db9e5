package mirror_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// BenchmarkKnown repeats a mirror of unchanged files.
func BenchmarkKnown(b *testing.B) {
	const n = 20_000
	w := &world{text: "x"}
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
		return func(yield func(fetch.Item, error) bool) {
			for i := range n {
				item := aFile(l, fmt.Sprintf("file%07d.dat", i))
				item.Size, item.ModTime = 1, modified
				if !yield(item, nil) {
					return
				}
			}
		}
	}
	m := &mirror.Mirror{
		Fetcher: w, Dir: filepath.Join(b.TempDir(), "copy"),
		Start: &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}, CWD: []string{"pub"}, HasPath: true},
	}
	var lines []byte
	for i := range n {
		name := fmt.Sprintf("file%07d.dat", i)
		lines = fmt.Appendf(lines, `{"url":"ftp://h/pub/%s","file":"%s","size":1,"modified":"%s","sha256":"%064d","time":"2026-01-01T00:00:00Z"}`+"\n",
			name, name, modified.Format("2006-01-02T15:04:05Z07:00"), i)
	}
	lines = fmt.Appendf(lines, `{"url":"ftp://h/pub/","size":-1,"time":"2026-01-01T00:00:00Z","start":true}`+"\n")
	if err := os.MkdirAll(filepath.Join(m.Dir, mirror.Folder), 0o777); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.Dir, mirror.ManifestFile), lines, 0o666); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		name := filepath.Join(m.Dir, fmt.Sprintf("file%07d.dat", i))
		if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(name, modified, modified); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		got, err := m.Run(b.Context())
		if err != nil || got.Unchanged != n {
			b.Fatalf("%+v, %v", got, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/file")
}
