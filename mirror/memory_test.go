package mirror_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// The memory per entry is limited, for a million entries in one directory and for the items of one
// large menu, even if all are in the manifest.
func TestMemoryOfAnEntry(t *testing.T) {
	const n, limit = 20_000, 110
	retained := func(t *testing.T, m *mirror.Mirror) (perEntry int64) {
		t.Helper()
		heap := func() int64 {
			runtime.GC()
			runtime.GC() // frees what finalizers and pools held
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			return int64(s.HeapAlloc)
		}
		before := heap()
		m.Report = func(e mirror.Event) {
			if e.Action == mirror.Planned {
				perEntry = (heap() - before) / n
			}
		}
		got, err := m.Run(t.Context())
		if err != nil || got.New+got.Unchanged+got.Skipped < n {
			t.Errorf("%+v, %v", got, err)
		}
		return perEntry
	}

	ftp := &world{text: "x"}
	ftp.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
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
	menu := func(host string) fetcherFunc {
		return func(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
			r, w := io.Pipe()
			go func() {
				for i := range n {
					if _, err := fmt.Fprintf(w, "0f%06d\t/f%06d\t%s\t70\r\n", i, i, host); err != nil {
						return
					}
				}
				w.Close()
			}()
			return &fetch.Resource{Locator: req.Locator, Kind: fetch.KindMenu, Items: items(), Body: r}, nil
		}
	}
	site := &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '1', HasPath: true}

	for _, tc := range []struct {
		name string
		m    *mirror.Mirror
	}{
		{"directory", mirrorOf(t, ftp)},
		{"menu", &mirror.Mirror{Fetcher: menu("h"), Dir: t.TempDir(), Start: site}},
		{"menu of another server", &mirror.Mirror{Fetcher: menu("other"), Dir: t.TempDir(), Start: site}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.m.DryRun = true
			if got := retained(t, tc.m); got > limit {
				t.Errorf("%d bytes per entry, want at most %d", got, limit)
			}
		})
	}
	t.Run("manifest", func(t *testing.T) {
		m := mirrorOf(t, ftp)
		line := `{"url":"ftp://h/pub/file%07d.dat","file":"file%07d.dat","size":1,"modified":"2020-03-04T05:06:07Z","sha256":"%064d","time":"2026-01-01T00:00:00Z"}` + "\n"
		text := `{"url":"ftp://h/pub/","size":-1,"time":"2026-01-01T00:00:00Z","start":true}` + "\n"
		lines := make([]byte, 0, n*(len(line)+64))
		for i := range n {
			lines = fmt.Appendf(lines, line, i, i, i)
		}
		write(t, m.Dir, map[string]string{mirror.ManifestFile: text + string(lines)})
		lines = nil // not counted as memory of the manifest
		m.DryRun = true
		if got := retained(t, m); got > limit {
			t.Errorf("%d bytes per entry, want at most %d", got, limit)
		}
		if sums := sums(t, m.Dir); len(sums) != n {
			t.Errorf("%d files in the manifest", len(sums))
		}
	})
}
