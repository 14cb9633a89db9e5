package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// endsOnce runs m, which must end by one failure that says so. It returns its error.
func endsOnce(ctx context.Context, t *testing.T, m *mirror.Mirror) (mirror.Summary, error) {
	t.Helper()
	var failed []mirror.Event
	then := m.Report
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Failed {
			failed = append(failed, e)
		}
		if then != nil {
			then(e)
		}
	}
	sum, err := m.Run(ctx)
	m.Report = then
	if len(failed) != 1 || !failed[0].Ends || sum.Failed != 1 {
		t.Errorf("failures: %v; %+v", failed, sum)
	}
	if err == nil || len(failed) > 0 && failed[0].Err != err {
		t.Errorf("the run returns %v", err)
	}
	return sum, err
}

// many returns n files of 1000 bytes in several folders.
func many(n int) (files map[string]string) {
	files = make(map[string]string)
	for i := range n {
		files[fmt.Sprintf("%c/%d", 'a'+i%4, i)] = strings.Repeat("x", 1000)
	}
	return files
}

// contentOf returns files that were modified some time ago.
func contentOf(files map[string]string) fstest.MapFS {
	content := make(fstest.MapFS)
	for name, text := range files {
		content[name] = &fstest.MapFile{Data: []byte(text), ModTime: modified}
	}
	return content
}

// A full disk is said once, and ends the run. With more room, the next run continues.
func TestFullDiskEndsRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(100)) })
	d := simdisk.New(simdisk.Options{Capacity: 50_000})
	m := start(t, srv.URL)
	m.Dir = "/copy"
	sum, err := endsOnce(disk.With(t.Context(), d.Process(nil)), t, m)
	if !errors.Is(err, syscall.ENOSPC) || sum.New == 0 || sum.New > 50 {
		t.Errorf("%v, %+v", err, sum)
	}
	d.Capacity = 0
	// A file may have got its name when there was no room for its line: it is fetched again.
	next, err := m.Run(disk.With(t.Context(), d.Process(nil)))
	if err != nil || next.Unchanged != sum.New || next.New+next.Changed != 100-sum.New {
		t.Errorf("%v, %+v after %+v", err, next, sum)
	}
}

// A manifest that cannot be written ends the run.
func TestManifestEndsRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(100)) })
	d := simdisk.New(simdisk.Options{})
	lines := 0
	p := d.Process(func(c *simdisk.Call) error {
		if c.Op == "write" && strings.HasSuffix(c.Name, "manifest.jsonl") {
			if lines++; lines > 30 {
				return syscall.EIO
			}
		}
		return nil
	})
	m := start(t, srv.URL)
	m.Dir = "/copy"
	if sum, err := endsOnce(disk.With(t.Context(), p), t, m); !errors.Is(err, syscall.EIO) || sum.New > 30 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// removable returns a process for which no file and no directory has a name after a call of remove, as on
// a disk that is not mounted any more.
func removable(d *simdisk.Disk) (p *simdisk.Process, remove func()) {
	var gone atomic.Bool
	p = d.Process(func(c *simdisk.Call) error {
		switch c.Op {
		case "open", "stat", "lstat", "mkdir", "rename", "remove":
			if gone.Load() {
				return fs.ErrNotExist
			}
		}
		return nil
	})
	return p, func() { gone.Store(true) }
}

// If the directory of the copy is removed, the run ends.
func TestRemovedDirectoryEndsRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(100)) })
	d := simdisk.New(simdisk.Options{})
	p, remove := removable(d)
	m := start(t, srv.URL)
	m.Dir = "/copy"
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Added {
			remove()
		}
	}
	if sum, err := endsOnce(disk.With(t.Context(), p), t, m); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/copy: the directory was removed") {
		t.Errorf("%v, %+v", err, sum)
	}
}

// unreachable is a Fetcher to whose server some requests get no connection.
type unreachable struct {
	*fetch1738.Resolver
	n    atomic.Int64
	from int64 // the number of the first of these requests
	to   int64 // and of the last one
}

func (u *unreachable) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	if at, ok := req.Locator.(*locator.FTP); ok && at.Name != "" {
		if n := u.n.Add(1); n >= u.from && n <= u.to {
			return nil, driver.Fail(fetch.OpConnect, req.Locator, fetch.ErrUnreachable, errors.New("connection refused"))
		}
	}
	return u.Resolver.Fetch(ctx, req)
}

// A server that is gone ends the run; two requests without a connection are two failures.
func TestUnreachableServerEndsRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(100)) })
	m := start(t, srv.URL)
	m.Connections = 1 // else a request that began before may succeed between two failures
	m.Fetcher = &unreachable{Resolver: m.Fetcher.(*fetch1738.Resolver), from: 20, to: 1000}
	if sum, err := endsOnce(t.Context(), t, m); !errors.Is(err, fetch.ErrUnreachable) || sum.New != 19 {
		t.Errorf("%v, %+v", err, sum)
	}
	m = start(t, srv.URL)
	m.Connections = 1
	m.Fetcher = &unreachable{Resolver: m.Fetcher.(*fetch1738.Resolver), from: 20, to: 21}
	if sum, err := m.Run(t.Context()); !errors.Is(err, fetch.ErrUnreachable) || counts(sum) != (mirror.Summary{New: 98, Failed: 2}) {
		t.Errorf("%v, %+v", err, sum)
	}
	m.Fetcher = &unreachable{Resolver: m.Fetcher.(*unreachable).Resolver, from: 2, to: 2} // the last request
	if sum, err := m.Run(t.Context()); !errors.Is(err, fetch.ErrUnreachable) || counts(sum) != (mirror.Summary{New: 1, Unchanged: 98, Failed: 1}) {
		t.Errorf("%v, %+v", err, sum)
	}
}

// A run that is refused at its start has one failure, which is also the error that it returns.
func TestRefusedStartEndsRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(4)) })
	srv.On("PASS", 0, testserver.Reply("530 Login incorrect."))
	if sum, err := endsOnce(t.Context(), t, start(t, srv.URL)); !errors.Is(err, fetch.ErrUnauthenticated) || sum.New != 0 {
		t.Errorf("%v, %+v", err, sum)
	}
	gone := ftptest.New(t, nil)
	gone.Close()
	if sum, err := endsOnce(t.Context(), t, start(t, gone.URL)); !errors.Is(err, fetch.ErrUnreachable) || sum.New != 0 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// Failures that might have ended the run are said, if it ends for another reason.
func TestFailuresBeforeEnd(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(10)) })
	full := simdisk.New(simdisk.Options{}).Process(func(c *simdisk.Call) error {
		if c.Op == "write" && strings.HasSuffix(c.Name, ".part") {
			return syscall.ENOSPC
		}
		return nil
	})
	m := start(t, srv.URL)
	m.Dir, m.Connections = "/copy", 1
	m.Fetcher = &unreachable{Resolver: m.Fetcher.(*fetch1738.Resolver), from: 1, to: 2}
	var failed []error
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Failed {
			failed = append(failed, e.Err)
		}
	}
	sum, err := m.Run(disk.With(t.Context(), full))
	if sum.Failed != 3 || len(failed) != 3 || err != failed[0] || !errors.Is(err, fetch.ErrUnreachable) || !errors.Is(failed[2], syscall.ENOSPC) {
		t.Errorf("%v, %+v, %v", err, sum, failed)
	}
}

// Progress says how much of a large file has arrived, and at least when it is complete.
func TestProgressOfFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory, s.Content = true, fstest.MapFS{"big": {Data: big, ModTime: modified}}
		})
		r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
		defer r.Close()
		m := start(t, srv.URL)
		m.Fetcher, m.Dir, m.Rate = r, "/copy", 1<<20
		var said []int64
		m.Report = func(e mirror.Event) {
			if e.Action == mirror.Progress {
				said = append(said, e.Octets)
				if e.File != "big" || e.Size != int64(len(big)) {
					t.Errorf("%+v", e)
				}
			}
		}
		runOn(t, simdisk.New(simdisk.Options{}), m, mirror.Summary{New: 1})
		if n := len(said); n < 10 || !slices.IsSorted(said) || said[0] <= 0 || said[n-1] != int64(len(big)) {
			t.Errorf("%d", said)
		}
	})
}
