package download_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// written is when the files of the test servers were written.
var written = time.Date(1994, 12, 20, 17, 4, 5, 0, time.UTC)

// A download that was truncated is resumed by the same call, and the file appears when it is
// complete.
func TestDownload(t *testing.T) {
	big := random(1<<20 + 5)
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"big": {Data: big, ModTime: written}} })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = fstest.MapFS{"big": {Data: big, ModTime: written}} })
	for _, srv := range []struct {
		*testserver.Server
		stage, rest string
		refusal     testserver.Fault
		again       int
	}{
		{&ftp.Server, "RETR", "C: REST 395904", testserver.Reply("450 busy"), 1},
		{&web.Server, "REQUEST", "C: Range: bytes=395904-", webtest.Status(503), 2},
	} {
		name := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		// The rest is requested again at once, by http also in the Fetcher, and refused.
		srv.On(srv.stage, 1, testserver.Truncate(400_000))
		for i := range srv.again {
			srv.On(srv.stage, 2+i, srv.refusal)
		}
		err := download.File(t.Context(), nil, srv.URL+"/big", name)
		if err == nil {
			t.Fatalf("%s: a truncated download succeeded", srv.URL)
		}
		if b, _ := os.ReadFile(name); string(b) != "old" {
			t.Errorf("%s: after a failure the file has %d bytes", srv.URL, len(b))
		}
		srv.ResetFaults()
		srv.ResetTranscript()
		if err := download.File(t.Context(), nil, srv.URL+"/big", name); err != nil {
			t.Fatalf("%s: resuming: %v", srv.URL, err)
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, big) {
			t.Errorf("%s: %d bytes, %v", srv.URL, len(got), err)
		}
		if info, err := os.Stat(name); err != nil || !info.ModTime().Equal(written) {
			t.Errorf("%s: %v, %v", srv.URL, info, err)
		}
		if _, err := os.Stat(name + download.PartSuffix); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the part is still there: %v", srv.URL, err)
		}
		if text := srv.Transcript().String(); !strings.Contains(text, srv.rest) {
			t.Errorf("%s: not resumed:\n%s", srv.URL, text)
		}
	}
}

// A server that breaks off every connection sends the document in the end, if each brings something:
// 20 kB, of which 4 KiB are there already. One that sends a byte at a time does not, and a further
// call goes on.
func TestDownloadBreaksOff(t *testing.T) {
	big := random(300_000)
	files := fstest.MapFS{"big": {Data: big, ModTime: written}}
	ftp := func(t *testing.T) *testserver.Server {
		return &ftptest.New(t, func(s *ftptest.Server) { s.Content, s.InMemory = files, true }).Server
	}
	web := func(t *testing.T) *testserver.Server {
		return &webtest.New(t, func(s *webtest.Server) { s.Content, s.InMemory = files, true }).Server
	}
	for what, tc := range map[string]struct {
		start       func(*testing.T) *testserver.Server
		stage       string
		fault       testserver.Fault
		fails       bool
		least, most int // requests
	}{
		"ftp":                   {ftp, "RETR", testserver.Truncate(20_000), false, 19, 19},
		"ftp, reset":            {ftp, "RETR", testserver.Reset(20_000), false, 19, 19},
		"ftp, a byte at a time": {ftp, "RETR", testserver.Truncate(4097), true, 16, 17},
		"ftp, nothing":          {ftp, "RETR", testserver.Truncate(4096), true, 2, 2},
		"http":                  {web, "REQUEST", testserver.Truncate(20_000), false, 19, 19},
		"http, reset":           {web, "REQUEST", testserver.Reset(20_000), false, 19, 19},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "copy")
			synctest.Test(t, func(t *testing.T) {
				srv := tc.start(t)
				srv.On(tc.stage, 0, tc.fault)
				r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
				defer r.Close()
				err := download.File(t.Context(), r, srv.URL+"/big", name)
				requests := 0
				for _, line := range srv.Transcript().From(testserver.FromClient) {
					if strings.HasPrefix(line, "RETR ") || strings.HasPrefix(line, "GET ") {
						requests++
					}
				}
				if (err != nil) != tc.fails || requests < tc.least || requests > tc.most {
					t.Errorf("%d requests, %v", requests, err)
				}
				if err != nil && !errors.Is(err, fetch.ErrTruncated) {
					t.Errorf("%v", err)
				}
				srv.ResetFaults()
				if err != nil {
					err = download.File(t.Context(), r, srv.URL+"/big", name)
				}
				if got, failed := os.ReadFile(name); err != nil || !bytes.Equal(got, big) {
					t.Errorf("%d bytes, %v, %v", len(got), err, failed)
				}
			})
		})
	}
}

// A part of another version, or of another URL, starts again.
func TestDownloadChanged(t *testing.T) {
	old, now := random(200_000), bytes.Repeat([]byte("x"), 300_000)
	first := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: old, ModTime: written}} })
	later := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a": {Data: now, ModTime: written.Add(time.Hour)}}
	})
	name := filepath.Join(t.TempDir(), "copy")
	interrupt := func() {
		first.On("RETR", 1, testserver.Truncate(100_000))
		first.On("RETR", 2, testserver.Reply("450 busy"))
		if err := download.File(t.Context(), nil, first.URL+"/a", name); !errors.Is(err, fetch.ErrBusy) {
			t.Fatal(err)
		}
	}
	interrupt()
	if err := download.File(t.Context(), nil, later.URL+"/a", name); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, now) {
		t.Errorf("another URL: %d bytes, %v", len(got), err)
	}
	interrupt()
	first.On("MDTM", 1, testserver.Reply("213 20000101000000"))
	if err := download.File(t.Context(), nil, first.URL+"/a", name); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, old) {
		t.Errorf("a changed document: %d bytes, %v", len(got), err)
	}
}

// A part is not completed by a server that sends another part than requested, nor if the document is
// another one of the same size and time: it starts again.
func TestDownloadAnotherPart(t *testing.T) {
	big := random(300_000)
	files := fstest.MapFS{"big": {Data: big, ModTime: written}}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = files })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = files })
	for _, tc := range []struct {
		*testserver.Server
		cut, stage string
		fault      testserver.Fault
	}{
		{&ftp.Server, "RETR", "REST", testserver.FromStart()},
		{&ftp.Server, "RETR", "REST", testserver.Reply("")}, // the beginning that is there is that of another document
		{&web.Server, "REQUEST", "REQUEST", testserver.FromStart()},
		{&web.Server, "REQUEST", "REQUEST", webtest.Header("Content-Range", "bytes 0-1/300000")},
	} {
		name := filepath.Join(t.TempDir(), "copy")
		other := tc.fault == testserver.Reply("")
		if other {
			tc.On(tc.cut, 1, testserver.Garble(0, strings.Repeat("x", 100_000)), testserver.Truncate(100_000))
		} else {
			tc.On(tc.cut, 1, testserver.Truncate(100_000))
		}
		for n := 2; n < 5; n++ { // by http the Fetcher tries again
			tc.On(tc.cut, n, map[bool]testserver.Fault{true: testserver.Reply("450 busy"), false: webtest.Status(503)}[tc.cut == "RETR"])
		}
		if err := download.File(t.Context(), nil, tc.URL+"/big", name); err == nil {
			t.Fatalf("%v: the first download was not cut", tc.fault)
		}
		tc.ResetFaults()
		if !other {
			tc.On(tc.stage, 1, tc.fault)
		}
		if err := download.File(t.Context(), nil, tc.URL+"/big", name); err != nil {
			t.Errorf("%v: %v", tc.fault, err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, big) {
			t.Errorf("%v: %d bytes, %v", tc.fault, len(got), err)
		}
		tc.ResetFaults()
	}
}

// A part is not completed by a server that ignores REST, if the document begins like the bytes before
// the rest, so that only the number of bytes shows it.
func TestDownloadZeros(t *testing.T) {
	big := random(300_000)
	clear(big[:200_000])
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"big": {Data: big, ModTime: written}} })
	name := filepath.Join(t.TempDir(), "copy")
	srv.On("RETR", 1, testserver.Truncate(100_000))
	srv.On("RETR", 2, testserver.Reply("450 busy"))
	if err := download.File(t.Context(), nil, srv.URL+"/big", name); err == nil {
		t.Fatal("the first download was not cut")
	}
	srv.ResetFaults()
	srv.On("REST", 1, testserver.FromStart())
	if err := download.File(t.Context(), nil, srv.URL+"/big", name); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes, %v; not the document", len(got), err)
	}
}

// What cannot be identified is fetched anew, nothing of it is kept after a failure, and directories are
// no documents.
func TestDownloadOthers(t *testing.T) {
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\n"), ModTime: written}}
	})
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello\n") }))
	defer plain.Close()
	dir := t.TempDir()
	for url, want := range map[string]string{gopher.URL + "/0/pub/motd.txt": "hello\r\n", plain.URL + "/": "hello\n"} {
		name := filepath.Join(dir, "copy")
		if err := os.WriteFile(name+download.PartSuffix, []byte("rest of something else, longer than the document"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := download.File(t.Context(), nil, url, name); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "hello\n")
	}))
	defer cut.Close()
	err := download.File(t.Context(), nil, cut.URL, filepath.Join(dir, "cut"))
	if !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("a truncated document: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "cut*")); err != nil || len(left) > 0 {
		t.Errorf("a truncated document that cannot be resumed leaves %q, %v", left, err)
	}
	err = download.File(t.Context(), nil, gopher.URL, filepath.Join(dir, "menu"))
	if !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("a menu: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "menu"+download.PartSuffix)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file is left: %v", err)
	}
	err = download.File(t.Context(), nil, plain.URL, filepath.Join(dir, "missing", "name"))
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, fetch.ErrLocalIO) {
		t.Errorf("a directory that does not exist: %v", err)
	}
}

// A document is complete whatever size the server states, or the download fails. After that it is
// fetched as if nothing had happened.
func TestDownloadSize(t *testing.T) {
	big := random(200_000)
	files := fstest.MapFS{"big": {Data: big, ModTime: written}, "empty": {ModTime: written}}
	ftp := &ftptest.New(t, func(s *ftptest.Server) { s.Content = files }).Server
	bare := &ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Hide = files, []string{"SIZE", "MLST"} }).Server
	web := &webtest.New(t, func(s *webtest.Server) { s.Content = files }).Server
	cut, unstated := testserver.Truncate(100_000), testserver.Reply("150 Here it comes.")
	unsized, zero := webtest.ContentLength(-1), testserver.Reply("213 0")
	for what, tc := range map[string]struct {
		srv  *testserver.Server
		name string
		arm  func(srv *testserver.Server)
		kind fetch.ErrorKind
	}{
		"no Content-Length":         {web, "big", func(srv *testserver.Server) { srv.On("REQUEST", 0, unsized) }, fetch.ErrOther},
		"no Content-Length, empty":  {web, "empty", func(srv *testserver.Server) { srv.On("REQUEST", 0, unsized) }, fetch.ErrOther},
		"Content-Length 0":          {web, "empty", nil, fetch.ErrOther},
		"chunks":                    {web, "big", func(srv *testserver.Server) { srv.On("REQUEST", 0, webtest.Chunked()) }, fetch.ErrOther},
		"SIZE 0":                    {ftp, "big", func(srv *testserver.Server) { srv.On("SIZE", 0, zero) }, fetch.ErrOther},
		"SIZE 0, none in 150":       {ftp, "big", func(srv *testserver.Server) { srv.On("SIZE", 0, zero); srv.On("RETR", 0, unstated) }, fetch.ErrOther},
		"SIZE 0, empty":             {ftp, "empty", nil, fetch.ErrOther},
		"no size":                   {bare, "big", func(srv *testserver.Server) { srv.On("RETR", 0, unstated) }, fetch.ErrOther},
		"size only in 150":          {bare, "big", nil, fetch.ErrOther},
		"size only in 150, cut":     {bare, "big", func(srv *testserver.Server) { srv.On("RETR", 1, cut); srv.On("RETR", 2, testserver.Reply("450 busy")) }, fetch.ErrBusy},
		"size only in 150, changed": {bare, "big", func(srv *testserver.Server) { srv.On("MDTM", 2, testserver.Reply("213 20000101000000")) }, fetch.ErrTruncated},
		"chunks, cut": {web, "big", func(srv *testserver.Server) {
			srv.On("REQUEST", 1, webtest.Chunked(), cut)
			srv.On("REQUEST", 2, webtest.Status(503))
		}, fetch.ErrTruncated},
	} {
		name := filepath.Join(t.TempDir(), "copy")
		if tc.arm != nil {
			tc.arm(tc.srv)
		}
		err := download.File(t.Context(), nil, tc.srv.URL+"/"+tc.name, name)
		if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
			t.Errorf("%s: %v", what, err)
		}
		tc.srv.ResetFaults()
		if err != nil {
			if _, there := os.Stat(name); !errors.Is(there, fs.ErrNotExist) {
				t.Errorf("%s: there is a file after %v: %v", what, err, there)
			}
			if err := download.File(t.Context(), nil, tc.srv.URL+"/"+tc.name, name); err != nil {
				t.Errorf("%s: then %v", what, err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, files[tc.name].Data) {
			t.Errorf("%s: %d bytes, %v", what, len(got), err)
		}
		if left, err := filepath.Glob(name + "?*"); err != nil || len(left) > 0 {
			t.Errorf("%s: left %q, %v", what, left, err)
		}
	}
}

// The incomplete file is not written through a link that was there.
func TestDownloadLink(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"x": {Data: []byte("new"), ModTime: written}} })
	dir := t.TempDir()
	name, target := filepath.Join(dir, "x"), filepath.Join(dir, "precious")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name+download.PartSuffix); err != nil {
		t.Skip("no symbolic links on this system:", err)
	}
	err := download.File(t.Context(), nil, srv.URL+"/x", name)
	if !errors.Is(err, fetch.ErrLocalIO) || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a link: %v", err)
	}
	if got, err := os.ReadFile(target); string(got) != "precious" {
		t.Errorf("the target of the link is %q, %v", got, err)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if err := download.File(t.Context(), nil, srv.URL+"/x", name); !errors.Is(err, fetch.ErrLocalIO) {
		t.Errorf("a link to nothing: %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of the link: %v", err)
	}
}

// TestDownloadLinkMeanwhile tests a link to nothing that appears when the incomplete file is created.
func TestDownloadLinkMeanwhile(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"x": {Data: []byte("new"), ModTime: written}} })
	d := simdisk.New(simdisk.Options{})
	d.Put("/lab/x", []byte("old"), written)
	process := d.Process(func(c *simdisk.Call) error {
		if c.Op == "open" {
			d.Symlink("/lab/nothing", c.Name)
		}
		return nil
	})
	err := download.File(disk.With(t.Context(), process), nil, srv.URL+"/x", "/lab/x")
	if !errors.Is(err, fetch.ErrLocalIO) || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a link: %v", err)
	}
	if data, created := d.Get("/lab/nothing"); created {
		t.Errorf("the link was followed: %q", data)
	}
}

// A watcher counts the bytes that the bodies of a Resolver's documents return.
type watcher struct {
	fetch1738.Resolver
	offset, got int64
}

func (w *watcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := w.Resolver.Fetch(ctx, req)
	if err == nil {
		w.offset, w.got = req.Offset, 0
		res.Body = counted{res.Body, &w.got}
	}
	return res, err
}

type counted struct {
	io.ReadCloser
	n *int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.n += int64(n)
	return n, err
}

// A wrapper around a Resolver sees all bytes of a download, also those of one that resumes.
func TestDownloadRequest(t *testing.T) {
	big := random(300_000)
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"big": {Data: big, ModTime: written}} })
	var w watcher
	defer w.Close()
	req, err := w.Request(t.Context(), srv.URL+"/big")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "copy")
	srv.On("RETR", 1, testserver.Truncate(100_000))
	srv.On("RETR", 2, testserver.Reply("450 busy"))
	if err := download.Request(t.Context(), &w, req, name); !errors.Is(err, fetch.ErrBusy) {
		t.Fatal(err)
	}
	if err := download.Request(t.Context(), &w, req, name); err != nil {
		t.Fatal(err)
	}
	if w.offset != 100_000 || w.got != 200_000 {
		t.Errorf("%d bytes from %d on", w.got, w.offset)
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if req.Options != nil {
		t.Error("the caller's request was changed")
	}
}

// A short Fetcher returns documents that end early, without an error.
type short struct{ *fetch1738.Resolver }

func (s short) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := s.Resolver.Fetch(ctx, req)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, 7), res.Body}
	}
	return res, err
}

// A Fetcher of the caller that returns fewer bytes than it states has failed, also if the server
// does not send the time by which the document could be resumed.
func TestDownloadShort(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content, s.Hide = fstest.MapFS{"a": {Data: random(50), ModTime: written}}, []string{"MDTM"}
	})
	f := short{new(fetch1738.Resolver)}
	defer f.Close()
	req, err := f.Request(t.Context(), srv.URL+"/a")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "copy")
	if err := download.Request(t.Context(), f, req, name); !errors.Is(err, fetch.ErrTruncated) {
		t.Error(err)
	}
	for _, name := range []string{name, name + download.PartSuffix} {
		if _, err := os.Stat(name); err == nil {
			t.Error("there is", filepath.Base(name))
		}
	}
}

// Downloads of one document to one name at once are complete or fail. A reader never sees a file
// that is not complete.
func TestDownloadsAtOnce(t *testing.T) {
	big := random(30_000)
	files := fstest.MapFS{"big": {Data: big, ModTime: written}}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = files })
	r := new(fetch1738.Resolver)
	defer r.Close()
	unknown := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(big) }))
	defer unknown.Close()
	for _, url := range []string{ftp.URL + "/big", unknown.URL + "/"} {
		name := filepath.Join(t.TempDir(), "copy")
		var complete atomic.Int64
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				for complete.Load() < 25 {
					switch err := download.File(t.Context(), r, url, name); {
					case err == nil:
						complete.Add(1)
					case errors.Is(err, disk.ErrReplaced): // the other one got the name right after this one
					case !strings.Contains(err.Error(), "another process is writing to it"):
						t.Errorf("%s: %v", url, err)
						return
					}
				}
			})
		}
		done := make(chan struct{})
		go func() {
			workers.Wait()
			close(done)
		}()
		looks, wrong := 0, 0
		for ended := false; !ended; looks++ {
			select {
			case <-done:
				ended = true // and a last look
			default:
			}
			if got, err := os.ReadFile(name); !bytes.Equal(got, big) && !errors.Is(err, fs.ErrNotExist) {
				wrong++
			}
		}
		if got, err := os.ReadFile(name); wrong > 0 || complete.Load() == 0 || !bytes.Equal(got, big) {
			t.Errorf("%s: %d of %d looks were wrong; %d downloads are complete, the last has %d bytes, %v", url, wrong, looks, complete.Load(), len(got), err)
		}
		if _, err := os.Stat(name + download.PartSuffix); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a part is left: %v", url, err)
		}
	}
}

// ender calls a function at the end of a body.
type ender struct {
	fetch1738.Resolver
	end func()
}

func (e *ender) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := e.Resolver.Fetch(ctx, req)
	if err == nil {
		res.Body = ending{res.Body, e.end}
	}
	return res, err
}

type ending struct {
	io.ReadCloser
	end func()
}

func (e ending) Close() error {
	e.end()
	return e.ReadCloser.Close()
}

// A part that is no longer the one that was written is not renamed.
func TestDownloadReplacedPart(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"x": {Data: []byte("new"), ModTime: written}} })
	name := filepath.Join(t.TempDir(), "x")
	e := ender{end: func() {
		_ = os.Remove(name + download.PartSuffix)
		if err := os.WriteFile(name+download.PartSuffix, []byte("of another"), 0o600); err != nil {
			t.Error(err)
		}
	}}
	defer e.Close()
	req, err := e.Request(t.Context(), ftp.URL+"/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := download.Request(t.Context(), &e, req, name); !errors.Is(err, fetch.ErrLocalIO) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("renamed: %v", err)
	}
	if got, err := os.ReadFile(name + download.PartSuffix); string(got) != "of another" {
		t.Errorf("the other part: %q, %v", got, err)
	}
}
