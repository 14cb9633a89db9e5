package nats

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale"
)

// BenchmarkUnits adds units with one link each, takes all of them, and gives each back for an hour, as
// a crawl of hosts that do not answer does. It measures the memory and the disk of the server, which
// is in this process: with -benchtime 100000x, what a hundred thousand units need.
func BenchmarkUnits(b *testing.B) {
	dir := b.TempDir()
	s, err := Start(ServerOptions{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { s.Close() }()
	e, err := Open(b.Context(), Options{URL: s.URL(), TTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	began, before := time.Now(), heap()
	lap := func(name string) {
		b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), name+"/s")
		began = time.Now()
	}
	for from := 0; from < b.N; from += 1000 {
		links := make(map[string][]crawl.Link)
		for i := from; i < min(from+1000, b.N); i++ {
			name := fmt.Sprintf("host%d.example.org", i)
			links[name] = []crawl.Link{{URL: "gopher://" + name + "/1/menu", From: "gopher://other.example.org/", Depth: 5}}
		}
		if err := e.Add(b.Context(), links); err != nil {
			b.Fatal(err)
		}
	}
	lap("added")
	b.ReportMetric((heap()-before)/float64(b.N), "B-memory/new")
	b.ReportMetric(size(b, dir)/float64(b.N), "B-disk/new")
	began = time.Now()
	takeAll(b, e)
	lap("taken")
	e.known.Clear()
	b.ReportMetric((heap()-before)/float64(b.N), "B-memory/waiting")
	b.ReportMetric(size(b, dir)/float64(b.N), "B-disk/waiting")
	began = time.Now()
	n := 0
	for range e.Units(b.Context()) {
		n++
	}
	lap("listed")
	if n != b.N {
		b.Errorf("%d units, want %d", n, b.N)
	}
	s.Close()
	began = time.Now()
	if s, err = Start(ServerOptions{Dir: dir, Listen: "127.0.0.1:0"}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(began).Seconds(), "s-start")
	b.ReportMetric(0, "ns/op")
}

// takeAll takes each unit once.
func takeAll(b *testing.B, e *Engine) {
	var slots sync.WaitGroup
	taken := make(chan struct{}, b.N)
	for range b.N {
		taken <- struct{}{}
	}
	close(taken)
	for range 100 {
		slots.Go(func() {
			for range taken {
				w, err := e.Take(context.Background())
				if err == nil {
					err = e.Commit(context.Background(), w, scale.State{Status: scale.Waiting, Failures: 1, Error: "connect to host.example.org: connection refused"}, 10*time.Hour)
				}
				if err != nil {
					b.Error(err)
					return
				}
				e.Release(w, 0, 0)
			}
		})
	}
	slots.Wait()
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func size(b *testing.B, dir string) (n float64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			n += float64(info.Size())
		}
		return nil // a file can be gone
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
