package deploy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// endsOnce runs m, which must end by one failure that says so. It returns its error.
func endsOnce(ctx context.Context, t *testing.T, m *deploy.Upload) (deploy.Summary, error) {
	t.Helper()
	var failed []deploy.Event
	then := m.Report
	m.Report = func(e deploy.Event) {
		if e.Action == deploy.Failed {
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

// A run that is refused at its start has one failure, which is also the error that it returns.
func TestRefusedStartEndsRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(many(4)) })
	srv.On("PASS", 0, testserver.Reply("530 Login incorrect."))
	if sum, err := endsOnce(t.Context(), t, upload(t, srv.URL, many(4))); !errors.Is(err, fetch.ErrUnauthenticated) || sum.New != 0 {
		t.Errorf("%v, %+v", err, sum)
	}
	gone := ftptest.New(t, nil)
	gone.Close()
	if sum, err := endsOnce(t.Context(), t, upload(t, gone.URL, many(4))); !errors.Is(err, fetch.ErrUnreachable) || sum.New != 0 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// An upload to a server that has no room, or takes no files, ends; one file that it does not take is a
// failure of its own.
func TestRefusedUploadEnds(t *testing.T) {
	for reply, want := range map[string]deploy.Summary{
		"552 Exceeded storage allocation.": {Failed: 1, Missing: 40},
		"550 Permission denied.":           {Failed: 1, Missing: 40},
	} {
		srv := ftptest.New(t, nil)
		srv.On("STOR", 0, testserver.Reply(reply))
		m := upload(t, srv.URL, many(40))
		if sum, err := endsOnce(t.Context(), t, m); counts(sum) != want {
			t.Errorf("%s: %v, %+v", reply, err, sum)
		}
		if n := len(commands(srv, "STOR")); n > 50 { // each file is tried under two names
			t.Errorf("%s: %d times", reply, n)
		}
		srv.ResetFaults()
		srv.On("STOR", 5, testserver.Reply(reply))
		sum, err := m.Run(t.Context())
		if done := sum.New + sum.Changed; done+sum.Failed != 40 || sum.Failed > 1 || sum.Missing != sum.Failed || (err == nil) != (done == 40) {
			t.Errorf("%s: %v, %+v", reply, err, sum)
		}
	}
}

// A server that takes no large files gets the small ones, also those after three large ones in a row. One
// that is full refuses the small ones, too, and that ends the run: no larger ones are tried.
func TestNoRoomForLargeFiles(t *testing.T) {
	for name, most := range map[string]int64{"a limit of size": 10, "a full server": -1} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, nil)
			files := make(map[string]string)
			for i := range 30 {
				files[fmt.Sprintf("%02d", i)] = strings.Repeat("x", 20+i%7)
			}
			files["90"], files["91"], files["20"] = "small", "small", "small"
			m := upload(t, srv.URL, files)
			m.Connections = 1
			limit := &sizeLimit{Resolver: m.Fetcher.(*fetch1738.Resolver), most: most}
			m.Fetcher = limit
			sum, err := m.Run(t.Context())
			if most < 0 {
				if !strings.Contains(fmt.Sprint(err), "552") || counts(sum) != (deploy.Summary{Failed: 1, Missing: 32}) || limit.refused > 12 {
					t.Errorf("%v, %+v, %d were tried", err, sum, limit.refused)
				}
				return
			}
			if err == nil || sum.New != 3 || sum.Missing != 29 || limit.refused > 20 {
				t.Errorf("%v, %+v, %d were tried", err, sum, limit.refused)
			}
		})
	}
}

// sizeLimit is a Fetcher whose server has no room for files of more than some bytes.
type sizeLimit struct {
	*fetch1738.Resolver
	most    int64
	refused int
}

func (f *sizeLimit) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > f.most {
		f.refused++
		return nil, &fetch.Error{Op: "STOR", URL: req.Locator.Redacted(), Code: 552, Reply: "Exceeded storage allocation."}
	}
	return f.Resolver.Replace(ctx, req, bytes.NewReader(text))
}

// readOnly is a Fetcher whose server takes files in one directory only.
type readOnly struct {
	*fetch1738.Resolver
	but string
}

func (f *readOnly) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	if at := req.Locator.(*locator.FTP); !slices.Contains(at.CWD, f.but) {
		return nil, driver.Fail("STOR", at, fetch.ErrPermission, nil)
	}
	return f.Resolver.Replace(ctx, req, body)
}

// A server that refuses the files of some directories takes those of another one, also if it is the last
// one, and if these are changed ones, which are sent after the new ones.
func TestRefusedDirectories(t *testing.T) {
	srv := ftptest.New(t, nil)
	m := upload(t, srv.URL, many(100))
	write(t, m.Dir, map[string]string{"z/1": "one"})
	m.Connections = 1
	m.Fetcher = &readOnly{m.Fetcher.(*fetch1738.Resolver), "z"}
	sum, err := m.Run(t.Context())
	if err == nil || sum.New != 1 || sum.Missing != 100 || sum.Failed > 20 {
		t.Errorf("%v, %+v", err, sum)
	}
	write(t, m.Dir, map[string]string{"z/1": "changed"})
	sum, err = m.Run(t.Context())
	if err == nil || sum.Changed != 1 || sum.Missing != 100 {
		t.Errorf("%v, %+v", err, sum)
	}
}

// A state that cannot be written ends an upload, as does a folder that is gone.
func TestLocalFaultEndsUpload(t *testing.T) {
	srv := ftptest.New(t, nil)
	m := upload(t, srv.URL, many(40))
	d := simdisk.New(simdisk.Options{})
	for name, text := range many(40) {
		d.Put("/site/"+name, []byte(text), modified)
	}
	m.Dir = "/site"
	lines := 0
	broken := d.Process(func(c *simdisk.Call) error {
		if c.Op == "write" {
			if lines++; lines > 20 {
				return syscall.EROFS
			}
		}
		return nil
	})
	if sum, err := endsOnce(disk.With(t.Context(), broken), t, m); !errors.Is(err, syscall.EROFS) {
		t.Errorf("%v, %+v", err, sum)
	}
	p, remove := removable(d)
	m.Report = func(e deploy.Event) {
		if e.Action == deploy.Planned {
			remove()
		}
	}
	if sum, err := endsOnce(disk.With(t.Context(), p), t, m); err == nil || !strings.Contains(err.Error(), "/site: the folder was removed") {
		t.Errorf("%v, %+v", err, sum)
	}
}

// Progress says how much of a large file has arrived, and at least when it is complete.
func TestProgressOfFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
		srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory = true })
		r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
		defer r.Close()
		d := simdisk.New(simdisk.Options{})
		d.Put("/site/big", big, modified)
		m := start(t, srv.URL+"/new/")
		m.Fetcher, m.Dir, m.Rate = r, "/site", 1<<20
		var said []int64
		m.Report = func(e deploy.Event) {
			if e.Action == deploy.Progress {
				said = append(said, e.Octets)
				if e.File != "big" || e.Size != int64(len(big)) {
					t.Errorf("%+v", e)
				}
			}
		}
		if got, err := m.Run(disk.With(t.Context(), d.Process(nil))); err != nil || counts(got) != (deploy.Summary{New: 1}) {
			t.Fatalf("%+v, %v", got, err)
		}
		if n := len(said); n < 10 || !slices.IsSorted(said) || said[0] <= 0 || said[n-1] != int64(len(big)) {
			t.Errorf("%d", said)
		}
	})
}
