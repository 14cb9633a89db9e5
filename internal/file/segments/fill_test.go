package segments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

var then = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)

// content is a document of n bytes.
func content(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 1738))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A world is a server with one document, and who fetches it.
type world struct {
	*testserver.Server
	url     string
	stage   string // of the request for a segment
	fetcher Fetcher
	options any
}

func worlds(t *testing.T, data []byte, configure ...func(*ftptest.Server)) map[string]*world {
	files := fstest.MapFS{"big": {Data: data, ModTime: then}}
	byFTP := ftptest.New(t, append(configure, func(s *ftptest.Server) { s.Content = files })...)
	byHTTP := webtest.New(t, func(s *webtest.Server) { s.Content = files })
	ftpFetcher, httpFetcher := new(ftp.Fetcher), &fetchhttp.Fetcher{Retries: -1}
	t.Cleanup(func() {
		ftpFetcher.Close()
		httpFetcher.Close()
	})
	return map[string]*world{
		"ftp":  {&byFTP.Server, byFTP.URL + "/big", "RETR", ftpFetcher, &ftp.Options{ModTime: true}},
		"http": {&byHTTP.Server, byHTTP.URL + "/big", "REQUEST", httpFetcher, &fetchhttp.Options{Header: http.Header{}, AnyStatus: true}},
	}
}

func (w *world) job(connections int) Job {
	ref, err := locator.Parser{}.Parse(w.url)
	if err != nil {
		panic(err)
	}
	return Job{
		Connections: connections, Least: 1000, Fetcher: w.fetcher,
		Request: &fetch.Request{Locator: ref.Locator, Options: w.options},
	}
}

// open opens the file at path.
func open(path string) (*Part, error) { return openOn(disk.System(), path) }

func openOn(d disk.Disk, path string) (*Part, error) {
	opening := func(flags int) func() (disk.File, error) {
		return func() (disk.File, error) { return d.OpenFile(path, flags, 0o600) }
	}
	file, err := disk.Lock(opening(os.O_RDWR|os.O_CREATE), func() (os.FileInfo, error) { return d.Lstat(path) })
	if err != nil {
		return nil, err
	}
	return Open(file, opening(os.O_WRONLY)), nil
}

// run is a run of the program that puts the document together in the file at path.
func run(ctx context.Context, path string, j Job) error {
	return runOn(ctx, disk.System(), path, j)
}

func runOn(ctx context.Context, d disk.Disk, path string, j Job) error {
	p, err := openOn(d, path)
	if err != nil {
		return err
	}
	defer p.Close()
	res, err := j.Fetcher.Fetch(ctx, j.Request)
	if err != nil {
		return err
	}
	if !j.Worth(res) {
		res.Close()
		return errors.New("not worth it")
	}
	if err := p.Ready(&j, res); err != nil {
		return err
	}
	if err := p.Fill(ctx, j, res); err != nil {
		return err
	}
	return p.Finish()
}

func checkFile(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is not the document: %d bytes, %v", len(got), err)
	}
}

func partPath(t *testing.T) string { return filepath.Join(t.TempDir(), "part") }

// startsOver checks that err is that of a document that has changed, that nothing of it is kept, and
// that it can be fetched afterwards.
func startsOver(t *testing.T, path string, w *world, data []byte, err error) {
	t.Helper()
	if !errors.Is(err, ErrChanged) || !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("%v", err)
	}
	checkFile(t, path, nil)
	w.ResetFaults()
	if err := run(t.Context(), path, w.job(4)); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, data)
}

// However many the segments, they make up the document.
func TestSegments(t *testing.T) {
	data := content(300_007, 1)
	for name, w := range worlds(t, data) {
		for _, n := range []int{2, 3, 7, Most} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				path := partPath(t)
				if err := run(t.Context(), path, w.job(n)); err != nil {
					t.Fatal(err)
				}
				checkFile(t, path, data)
			})
		}
	}
}

// A server that has one client at a time sends no greeting on the other connections: the first one
// fetches their segments.
func TestOneClient(t *testing.T) {
	data := content(300_007, 8)
	w := worlds(t, data, func(s *ftptest.Server) { s.OneClient = true })["ftp"]
	for _, n := range []int{2, 4, 8} {
		j := w.job(n)
		var remarks atomic.Int32
		j.Remark = func(text string) {
			if !strings.Contains(text, "no response, while another connection received the document") {
				t.Error(text)
			}
			remarks.Add(1)
		}
		path := partPath(t)
		if err := run(t.Context(), path, j); err != nil {
			t.Fatal(err)
		}
		checkFile(t, path, data)
		if remarks.Load() != int32(n-1) {
			t.Errorf("%d connections: %d remarks", n, remarks.Load())
		}
	}
}

// Connections that the server has no room for, that break, or that bring something
// else than was asked for, leave what is missing to the others.
func TestFaults(t *testing.T) {
	data := content(300_007, 2)
	for _, tc := range []struct {
		name, server, stage string
		nth                 int
		faults              []testserver.Fault
	}{
		{"421 to the second", "ftp", "GREETING", 2, []testserver.Fault{testserver.Reply("421 too many connections")}},
		{"530 to the second", "ftp", "USER", 2, []testserver.Fault{testserver.Reply("530 only one connection")}},
		{"no REST", "ftp", "REST", 0, []testserver.Fault{testserver.Reply("502 not implemented")}},
		{"REST ignored", "ftp", "REST", 0, []testserver.Fault{testserver.FromStart()}},
		{"REST ignored once", "ftp", "REST", 2, []testserver.Fault{testserver.FromStart()}},
		{"REST ignored, no size stated", "ftp", "REST", 0, []testserver.Fault{testserver.FromStart(), testserver.Reply("350 ok")}},
		{"no data connection", "ftp", "EPSV", 2, []testserver.Fault{testserver.Reply("425 no")}},
		{"a cut at once", "ftp", "RETR", 2, []testserver.Fault{testserver.Truncate(0)}},
		{"a cut", "ftp", "RETR", 2, []testserver.Fault{testserver.Truncate(70_000), testserver.Reply("426 broken off")}},
		{"a reset of the first", "ftp", "RETR", 1, []testserver.Fault{testserver.Reset(50_000)}},
		{"429 to the third", "http", "REQUEST", 3, []testserver.Fault{webtest.Status(429)}},
		{"503 to the second", "http", "REQUEST", 2, []testserver.Fault{webtest.Status(503)}},
		{"another range", "http", "REQUEST", 2, []testserver.Fault{webtest.Header("Content-Range", "bytes 5-10/300007")}},
		{"another part", "http", "REQUEST", 0, []testserver.Fault{testserver.FromStart()}},
		{"another part once", "http", "REQUEST", 2, []testserver.Fault{testserver.FromStart()}},
		{"a cut", "http", "REQUEST", 2, []testserver.Fault{testserver.Truncate(70_000)}},
		{"a reset of the first", "http", "REQUEST", 1, []testserver.Fault{testserver.Reset(50_000)}},
	} {
		t.Run(tc.server+" "+tc.name, func(t *testing.T) {
			w := worlds(t, data)[tc.server]
			w.On(tc.stage, tc.nth, tc.faults...)
			path := partPath(t)
			if err := run(t.Context(), path, w.job(4)); err != nil {
				t.Fatal(err)
			}
			checkFile(t, path, data)
		})
	}
}

// The remark about fewer connections has the reason.
func TestRemark(t *testing.T) {
	w := worlds(t, content(5_000_000, 2))["ftp"]
	// A connection that has finished serves the next segment, so the second one must not finish before
	// there is a third.
	w.On("GREETING", 2, testserver.Gather(3))
	w.On("GREETING", 3, testserver.Reply("421 too many connections"))
	j := w.job(3)
	var told atomic.Value
	j.Remark = func(text string) { told.Store(text) }
	if err := run(t.Context(), partPath(t), j); err != nil {
		t.Fatal(err)
	}
	if text, _ := told.Load().(string); !strings.Contains(text, "421 too many") || !strings.HasSuffix(text, "fewer connections (2)") {
		t.Errorf("%q", text)
	}
}

// A server that announces parts of documents and does not send them is treated like one
// that does not announce them.
func TestLyingServer(t *testing.T) {
	data := content(300_007, 3)
	srv := webtest.New(t, func(s *webtest.Server) {
		s.Content, s.NoRanges = fstest.MapFS{"big": {Data: data, ModTime: then}}, true
	})
	w := &world{&srv.Server, srv.URL + "/big", "REQUEST", new(fetchhttp.Fetcher), &fetchhttp.Options{Header: http.Header{}, AnyStatus: true}}
	defer w.fetcher.(*fetchhttp.Fetcher).Close()
	path := partPath(t)
	var warned string
	j := w.job(4)
	j.Warn = func(format string, args ...any) { warned = fmt.Sprintf(format, args...) }
	if err := run(t.Context(), path, j); err == nil || !strings.Contains(warned, "does not send parts") {
		t.Errorf("%v, %q", err, warned)
	}
	w.On("REQUEST", 0, webtest.Header("Accept-Ranges", "bytes"))
	if err := run(t.Context(), path, j); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, data)
}

// A server that refuses SIZE, and states the size with the whole document, sends the same one.
func TestSizeRefused(t *testing.T) {
	data := content(300_007, 3)
	w := worlds(t, data)["ftp"]
	w.On("SIZE", 0, testserver.Reply("550 SIZE is not allowed."))
	path := partPath(t)
	if err := run(t.Context(), path, w.job(4)); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, data)
}

// Bytes of two versions are never in one file. Those of the first are discarded.
func TestChangedMeanwhile(t *testing.T) {
	data := content(300_007, 4)
	for _, tc := range []struct {
		name, server, stage string
		nth                 int
		fault               testserver.Fault
	}{
		{"another time", "ftp", "MDTM", 3, testserver.Reply("213 20000101000000")},
		{"another size", "ftp", "SIZE", 2, testserver.Reply("213 400000")},
		{"another time at the end", "ftp", "MDTM", 5, testserver.Reply("213 20000101000000")},
		{"another tag", "http", "REQUEST", 3, webtest.Header("ETag", `"other"`)},
		{"another size", "http", "GET /big", 2, webtest.Header("Content-Range", "bytes 145907-300006/400000")},
	} {
		t.Run(tc.server+" "+tc.name, func(t *testing.T) {
			w := worlds(t, data)[tc.server]
			w.On(tc.stage, tc.nth, tc.fault)
			path := partPath(t)
			connections := 4
			if tc.name == "another size" {
				connections = 2 // so that it is known which range the second request is for
			}
			startsOver(t, path, w, data, run(t.Context(), path, w.job(connections)))
		})
	}
}

// begin makes the file of a run that received the first bytes of the document.
func begin(t *testing.T, w *world, path string, data []byte) {
	t.Helper()
	p, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	j := w.job(2)
	res, err := j.Fetcher.Fetch(t.Context(), j.Request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if err := p.Ready(&j, res); err != nil {
		t.Fatal(err)
	}
	_, err = p.file.WriteAt(data, 0)
	p.footer.Missing[0][0] = int64(len(data))
	if err = errors.Join(err, p.save()); err != nil {
		t.Fatal(err)
	}
}

// waiting is a body that is read when the channel is closed.
type waiting struct {
	io.Reader
	until chan struct{}
}

func (w *waiting) Read(p []byte) (int, error) {
	<-w.until
	return w.Reader.Read(p)
}

// A segment that continues what is in the file is compared with it, and one that does not, with the
// complete document.
func TestSeams(t *testing.T) {
	data, other := content(300_007, 5), content(300_007, 6)
	for _, tc := range []struct {
		name, server string
		begun        int // bytes that the file has
		fault        testserver.Fault
		stage        string
	}{
		{"the rest, REST ignored", "ftp", 100_000, testserver.FromStart(), "REST"},
		{"the rest, another part", "http", 100_000, testserver.FromStart(), "REQUEST"},
		{"the rest, changed", "ftp", 100_000, testserver.Data(string(other[100_000-4096:])), "RETR"},
		{"a middle part, changed", "ftp", 0, testserver.Data(string(other[150_003-4096:])), "RETR"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := worlds(t, data)[tc.server]
			path, nth := partPath(t), 2
			if tc.begun > 0 {
				nth = 0
				begin(t, w, path, data[:tc.begun])
			}
			w.On(tc.stage, nth, tc.fault)
			j := w.job(2)
			if tc.begun == 0 { // the first segment comes after the request for the second one
				asked := make(chan struct{})
				var bodies atomic.Int32
				j.Incoming = func(body io.Reader) io.Reader {
					if bodies.Add(1) == 2 {
						close(asked)
						return body
					}
					return &waiting{body, asked}
				}
			}
			err := run(t.Context(), path, j)
			if !errors.Is(err, ErrChanged) && !errors.Is(err, fetch.ErrBadRange) {
				t.Errorf("%v", err)
			}
			checkFile(t, path, nil)
			w.ResetFaults()
			if err := run(t.Context(), path, w.job(2)); err != nil {
				t.Fatal(err)
			}
			checkFile(t, path, data)
		})
	}
}

// A body that ends early without an error is truncated.
func TestShortBody(t *testing.T) {
	data := content(300_007, 14)
	for name, w := range worlds(t, data) {
		for kind, short := range map[string]io.Reader{"reader": struct{ io.Reader }{http.NoBody}, "writer": http.NoBody} {
			ctx, cancel := context.WithCancel(t.Context())
			j := w.job(2)
			var bodies atomic.Int32
			j.Incoming = func(io.Reader) io.Reader {
				if bodies.Add(1) > 100 {
					cancel()
				}
				return short
			}
			path := partPath(t)
			begin(t, w, path, data[:100_000])
			if err := run(ctx, path, j); !errors.Is(err, fetch.ErrTruncated) {
				t.Errorf("%s, %s: %v after %d bodies", name, kind, err, bodies.Load())
			}
			cancel()
			if err := run(t.Context(), path, w.job(2)); err != nil {
				t.Fatal(err)
			}
			checkFile(t, path, data)
		}
	}
}

// More bytes than the document or the segment has are those of another document or part, also if the
// bytes before the segment do not show it. Nothing of them is kept.
func TestSurplus(t *testing.T) {
	data := content(300_007, 15)
	clear(data[:200_000]) // no part of it differs from the beginning
	for _, tc := range []struct {
		name  string
		begun int
		stage string
		fault testserver.Fault
	}{
		{"the document", 0, "RETR", testserver.Data(string(data) + "more")},
		{"a large rest", 100_000, "REST", testserver.FromStart()},
		{"a small rest", 190_000, "REST", testserver.FromStart()},
		{"the rest", 250_000, "RETR", testserver.Data(string(data[250_000-4096:]) + "more")},
	} {
		for _, wrapped := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.name, wrapped), func(t *testing.T) {
				w := worlds(t, data)["ftp"]
				path, j, fill := partPath(t), w.job(2), run
				if tc.begun > 0 {
					begin(t, w, path, data[:tc.begun])
					j.Connections, fill = 1, resumed
				}
				w.On(tc.stage, 0, tc.fault)
				w.On("GREETING", 2, testserver.Reply("421 one connection"))
				if wrapped {
					j.Incoming = func(body io.Reader) io.Reader { return struct{ io.Reader }{body} }
				}
				startsOver(t, path, w, data, fill(t.Context(), path, j))
			})
		}
	}
}

// resumed is a run without a response for the whole document.
func resumed(ctx context.Context, path string, j Job) error {
	p, err := open(path)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Fill(ctx, j, nil)
}

// unlimited is a Fetcher that sends the whole rest instead of a part.
type unlimited struct{ Fetcher }

func (u unlimited) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	rest := *req
	rest.Length = 0
	return u.Fetcher.Fetch(ctx, &rest)
}

// A Fetcher that sends more than a segment does not send what was requested.
func TestLongerPart(t *testing.T) {
	data := content(300_007, 16)
	for name, w := range worlds(t, data) {
		path, j := partPath(t), w.job(2)
		begin(t, w, path, data[:100_000])
		j.Fetcher = unlimited{w.fetcher}
		j.Incoming = func(body io.Reader) io.Reader { return struct{ io.Reader }{body} }
		if err := resumed(t.Context(), path, j); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		checkFile(t, path, nil)
	}
}
