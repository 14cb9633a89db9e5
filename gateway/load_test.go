package gateway

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

var load = flag.Duration("load", 0, "how long TestMixedLoad makes requests; 0 means three rounds")

// TestMixedLoad tests that requests of all kinds, by several clients at once, leave nothing behind:
// goroutines, descriptors, memory. Some of the clients go away, and some servers break transfers
// off.
func TestMixedLoad(t *testing.T) {
	content := fstest.MapFS{
		"pub/large.ogg": {Data: bytes.Repeat([]byte("x"), 2<<20), ModTime: lastWritten},
		"pub/cut.ogg":   {Data: bytes.Repeat([]byte("x"), 1<<20), ModTime: lastWritten},
		"pub/a.txt":     {Data: bytes.Repeat([]byte("a line, ftp://host.example/\n"), 1000), ModTime: lastWritten},
		"pub/a.png":     {Data: []byte("\x89PNG"), ModTime: lastWritten},
		"pub/README":    {Data: []byte("Read me.\n"), ModTime: lastWritten},
	}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	ftp.On("RETR cut.ogg", 0, testserver.Truncate(500_000))
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = content })
	s := start(t, nil)
	client := s.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 8

	var requests []string
	for _, url := range []string{"/pub/", "/pub/a.txt", "/pub/a.png", "/pub/README", "/pub/none", "/pub/cut.ogg", "/pub/large.ogg"} {
		requests = append(requests, pathOf(t, ftp.URL+url), pathOf(t, ftp.URL+url)+"?raw", pathOf(t, ftp.URL+url)+"?explain")
	}
	for _, url := range []string{"/1/pub", "/0/pub/a.txt", "/9/pub/large.ogg", "/0/none", "/I/pub/a.png", "/8host"} {
		requests = append(requests, pathOf(t, gopher.URL+url), pathOf(t, gopher.URL+url)+"?raw")
	}
	requests = append(requests, pathOf(t, wais.URL+"/files"), pathOf(t, wais.URL+"/files")+"?q=read", "/", "/open?url=ftp:", "/nothing/", "/style.css")

	var whole, broken atomic.Int64
	one := func(path string, leave bool) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Accept", "text/html")
		res, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		defer res.Body.Close()
		if leave {
			_, _ = io.ReadFull(res.Body, make([]byte, 100))
			return
		}
		if _, err = io.Copy(io.Discard, res.Body); err == nil {
			whole.Add(1)
		} else {
			broken.Add(1)
		}
		if cut := strings.HasSuffix(path, "cut.ogg?raw"); cut != (err != nil) || cut && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", path, err)
		}
	}
	round := func() {
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := range requests {
					one(requests[(i+worker*5)%len(requests)], (i+worker)%7 == 0)
				}
			})
		}
		all.Wait()
	}
	round() // what is kept between requests does not depend on their number
	before, start, rounds := used(), time.Now(), 0
	pause := time.NewTicker(time.Second) // else the system runs out of ports
	defer pause.Stop()
	for ; rounds < 3 || time.Since(start) < *load; rounds++ {
		if rounds >= 3 {
			<-pause.C
		}
		for _, srv := range []*testserver.Server{&ftp.Server, &gopher.Server, &wais.Server} {
			srv.ResetTranscript()
		}
		round()
	}
	t.Logf("%d rounds, %d whole and %d broken responses in %v", rounds, whole.Load(), broken.Load(), time.Since(start).Round(time.Second))
	if broken.Load() == 0 || whole.Load() == 0 {
		t.Errorf("%d whole, %d broken responses", whole.Load(), broken.Load())
	}
	// The last requests may not have ended yet. A leak is there for ever.
	over := make(<-chan time.Time)
	if deadline, ok := t.Deadline(); ok {
		over = time.After(time.Until(deadline) - 10*time.Second)
	}
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for {
		after := used()
		if after.goroutines <= before.goroutines+20 && after.files <= before.files+20 && after.heap <= before.heap+16<<20 {
			t.Logf("before %+v, after %+v", before, after)
			return
		}
		select {
		case <-over:
			t.Fatalf("before %+v, after %+v", before, after)
		case <-ticks.C:
		}
	}
}

// usage is what a process uses.
type usage struct {
	goroutines, files int
	heap              uint64
}

func used() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return usage{goroutines: runtime.NumGoroutine(), files: len(files), heap: m.HeapAlloc}
}
