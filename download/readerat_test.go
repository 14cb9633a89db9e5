package download_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// random returns n bytes, always the same.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func TestReaderAt(t *testing.T) {
	big := random(3<<20 + 123)
	docs := fstest.MapFS{"big.bin": {Data: big, ModTime: written}, "empty.bin": {Data: []byte{}, ModTime: written}}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = docs })
	web := httptest.NewServer(http.FileServerFS(docs))
	defer web.Close()
	local := t.TempDir()
	for name, file := range docs {
		if err := os.WriteFile(filepath.Join(local, name), file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, root := range map[string]string{"ftp": ftp.URL, "http": web.URL, "file": "file://" + filepath.ToSlash(local)} {
		t.Run(name, func(t *testing.T) {
			r := &fetch1738.Resolver{}
			defer r.Close()
			d, err := download.ReaderAt(t.Context(), r, root+"/big.bin")
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if d.Size() != int64(len(big)) {
				t.Errorf("Size is %d, want %d", d.Size(), len(big))
			}
			section := io.NewSectionReader(d, 0, 5000)
			if err := iotest.TestReader(section, big[:5000]); err != nil {
				t.Error(err)
			}
			var readers sync.WaitGroup
			for k := range 8 {
				readers.Go(func() {
					at := rand.New(rand.NewPCG(1, uint64(k)))
					for range 20 {
						off := at.Int64N(d.Size())
						p := make([]byte, 1+at.IntN(200_000))
						n, err := d.ReadAt(p, off)
						want := big[off:min(int64(len(big)), off+int64(len(p)))]
						if !bytes.Equal(p[:n], want) || (err != nil) != (n < len(p)) || err != nil && err != io.EOF {
							t.Errorf("ReadAt(%d bytes, %d) = %d, %v", len(p), off, n, err)
						}
					}
				})
			}
			readers.Wait()
			all, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size()))
			if err != nil || !bytes.Equal(all, big) {
				t.Errorf("%d bytes, %v", len(all), err)
			}
			d.Close()
			if _, err := d.ReadAt(make([]byte, 1), 1<<20); err == nil {
				t.Error("a read after Close succeeded")
			}

			empty, err := download.ReaderAt(t.Context(), r, root+"/empty.bin")
			if err != nil {
				t.Fatal(err)
			}
			defer empty.Close()
			if n, err := empty.ReadAt(make([]byte, 1), 0); n != 0 || err != io.EOF {
				t.Errorf("an empty document: %d, %v", n, err)
			}
		})
	}
}

// A zip archive of 1,000 members, of which a list and one member are read, costs little
// more than that.
// Reads here and there use the session of the first one.
func TestReaderAtSessions(t *testing.T) {
	big := random(8 << 20)
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory, s.Content = true, fstest.MapFS{"big.bin": {Data: big, ModTime: written}}
		})
		r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
		defer r.Close()
		d, err := download.ReaderAt(t.Context(), r, srv.URL+"/big.bin")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		got := make([]byte, 100)
		for i := range 40 {
			synctest.Wait() // the server has ended the transfer before
			at := i * 37 % 40 * 200_000
			if _, err := d.ReadAt(got, int64(at)); err != nil || !bytes.Equal(got, big[at:][:100]) {
				t.Fatalf("at %d: %x, %v", at, got, err)
			}
		}
		logins := 0
		for _, line := range srv.Transcript().From(testserver.FromClient) {
			if line == "USER anonymous" {
				logins++
			}
		}
		if logins != 1 {
			t.Errorf("%d logins for 40 reads", logins)
		}
	})
}

// A Document with a Resolver of its own leaves no connection behind, also while it is fetching.
func TestReaderAtClose(t *testing.T) {
	big := random(3 << 20)
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"big.bin": {Data: big, ModTime: written}, "none.bin": {Data: big}}
	})
	for _, reads := range []int{0, 1, 2} {
		d, err := download.ReaderAt(t.Context(), nil, srv.URL+"/big.bin")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 10)
		for i := range reads {
			if _, err := d.ReadAt(got, int64(i)<<20); err != nil || !bytes.Equal(got, big[i<<20:][:10]) {
				t.Errorf("%x, %v", got, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := d.ReadAt(got, 2<<20); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a read after Close: %v", err)
		}
		if err := srv.WaitIdle(t.Context()); err != nil {
			t.Error(err)
		}
	}
	srv.On("MDTM", 1, testserver.Reply("500 unknown"))
	if d, err := download.ReaderAt(t.Context(), nil, srv.URL+"/none.bin"); err == nil {
		t.Errorf("a document without a time can be read: %+v", d)
	}
	if err := srv.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReaderAtZip(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for i := range 1000 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("dir/file-%04d", i), Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(random(32 << 10)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.zip": {Data: archive.Bytes(), ModTime: written}}
	})
	r := &fetch1738.Resolver{}
	defer r.Close()
	var moved atomic.Int64
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { moved.Add(n) }})
	d, err := download.ReaderAt(ctx, r, srv.URL+"/a.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	z, err := zip.NewReader(d, d.Size())
	if err != nil || len(z.File) != 1000 {
		t.Fatalf("%v", err)
	}
	if n := moved.Load(); n > 512<<10 {
		t.Errorf("the list of a zip archive of %d bytes moved %d bytes", archive.Len(), n)
	}
	member, err := z.Open("dir/file-0500")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(member); err != nil || !bytes.Equal(got, random(32<<10)) {
		t.Errorf("%d bytes of the member, %v", len(got), err)
	}
	if n := moved.Load(); n > 1<<20 {
		t.Errorf("the list and one member of a zip archive of %d bytes moved %d bytes", archive.Len(), n)
	}
}

// A document that changes is an error, and stays one.
func TestReaderAtChanged(t *testing.T) {
	old, now := random(1<<20), bytes.Repeat([]byte("x"), 1<<20)
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: old, ModTime: written}} })
	var changed atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, tag := old, `"old"`
		if changed.Load() {
			data, tag = now, `"new"`
		}
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "a", time.Time{}, bytes.NewReader(data))
	}))
	defer web.Close()
	for _, url := range []string{ftp.URL + "/a", web.URL + "/a"} {
		changed.Store(false)
		r := &fetch1738.Resolver{}
		d, err := download.ReaderAt(t.Context(), r, url)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 1000)
		if _, err := d.ReadAt(p, 0); err != nil || !bytes.Equal(p, old[:1000]) {
			t.Errorf("%s: %v", url, err)
		}
		changed.Store(true)
		if strings.HasPrefix(url, "ftp") {
			ftp.On("MDTM", 1, testserver.Reply("213 20000101000000"))
		}
		for range 2 {
			if n, err := d.ReadAt(p, 900_000); !errors.Is(err, fetch.ErrTruncated) || n != 0 || !strings.Contains(fmt.Sprint(err), "changed") {
				t.Errorf("%s after a change: %d bytes, %v", url, n, err)
			}
		}
		d.Close()
		r.Close()
	}
}

// By FTP, a document that is replaced before RETR, after its time was asked for, is an error of that
// very read.
func TestReaderAtChangedBeforeRETR(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: random(1 << 20), ModTime: written}} })
	d, err := download.ReaderAt(t.Context(), nil, srv.URL+"/a")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	srv.On("MDTM", 2, testserver.Reply("213 20000101000000"))
	if n, err := d.ReadAt(make([]byte, 100), 10); n != 0 || !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// Parts that the server sends from the beginning of the document, from some time on, are errors where
// the bytes before them are known, or the end shows it.
func TestReaderAtAnotherPart(t *testing.T) {
	data := fstest.MapFS{"a": {Data: random(1 << 20), ModTime: written}}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = data })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = data })
	for _, srv := range []*testserver.Server{&ftp.Server, &web.Server} {
		for name, off := range map[string]int64{"behind a block": 64 << 10, "at the end": 1<<20 - 100} {
			if srv == &web.Server && off > 64<<10 {
				continue // the header says that it is the end
			}
			d, err := download.ReaderAt(t.Context(), nil, srv.URL+"/a")
			if err != nil {
				t.Fatal(err)
			}
			p := make([]byte, 100)
			if _, err := d.ReadAt(p, 0); err != nil || !bytes.Equal(p, data["a"].Data[:100]) {
				t.Errorf("%s: %v", srv.URL, err)
			}
			srv.On(map[bool]string{true: "REST", false: "REQUEST"}[srv == &ftp.Server], 0, testserver.FromStart())
			for range 2 {
				if n, err := d.ReadAt(p, off); n != 0 || !errors.Is(err, fetch.ErrTruncated) || !strings.Contains(fmt.Sprint(err), "changed") {
					t.Errorf("%s, %s: %d bytes, %v", srv.URL, name, n, err)
				}
			}
			d.Close()
			srv.ResetFaults()
		}
	}
}

func TestReaderAtRefuses(t *testing.T) {
	docs := fstest.MapFS{"a": {Data: []byte("0123456789"), ModTime: written}}
	noTime := ftptest.New(t, func(s *ftptest.Server) { s.Content = docs; s.Hide = []string{"MDTM"} })
	noRest := ftptest.New(t, func(s *ftptest.Server) { s.Content = docs; s.Hide = []string{"REST"} })
	noStart := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a": {Data: random(100_000), ModTime: written}}
		s.On("REST", 0, testserver.FromStart())
	})
	noRange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "0123456789") }))
	defer noRange.Close()
	for url, why := range map[string]string{
		noTime.URL + "/a":        "version",
		noRest.URL + "/a":        "REST",
		noStart.URL + "/a":       "another part",
		noRange.URL + "/a":       "parts",
		"gopher://127.0.0.1/0/a": "part of a document",
		"news:1@example.org":     "part of a document",
		noTime.URL + "/missing":  "",
	} {
		d, err := download.ReaderAt(t.Context(), nil, url)
		if err == nil {
			d.Close()
			t.Errorf("%s can be read", url)
		} else if why != "" && (!errors.Is(err, fetch.ErrUnsupported) || !strings.Contains(err.Error(), why)) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
