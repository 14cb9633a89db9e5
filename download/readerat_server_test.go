package download_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// A WAIS server sends a document by ranges of bytes.
func TestReaderAtWAIS(t *testing.T) {
	text := []byte(strings.Repeat("The lighthouse is old. ", 20_000))
	srv := waistest.New(t, func(s *waistest.Server) { s.Content = fstest.MapFS{"pub/light.txt": {Data: text, ModTime: written}} })
	r := &fetch1738.Resolver{}
	defer r.Close()
	found, err := r.Get(t.Context(), srv.URL+"/pub?lighthouse")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for item, err := range found.Items {
		if err != nil {
			t.Fatal(err)
		}
		d, err := download.ReaderAt(t.Context(), r, item.Locator.String())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if d.Size() != int64(len(text)) {
			t.Errorf("Size is %d, want %d", d.Size(), len(text))
		}
		for _, off := range []int64{300_000, 0, d.Size() - 100} {
			p := make([]byte, 100)
			if _, err := d.ReadAt(p, off); err != nil || !bytes.Equal(p, text[off:off+100]) {
				t.Errorf("at %d: %q, %v", off, p, err)
			}
		}
		if all, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size())); err != nil || !bytes.Equal(all, text) {
			t.Errorf("%d bytes, %v", len(all), err)
		}
		return
	}
	t.Error("nothing was found")
}

// sparseFile is a file with a long run of zeros in its middle, which takes no memory. It is
// the only file of its fs.FS. Its writer is given the zeros by writing zeros.
type sparseFile struct {
	name       string
	head, tail bytes.Buffer
	hole       int64
}

// zeros is what Write takes for a part of the hole.
var zeros = make([]byte, 1<<20)

func (f *sparseFile) Write(p []byte) (int, error) {
	switch {
	case &p[0] == &zeros[0]:
		f.hole += int64(len(p))
		return len(p), nil
	case f.hole == 0:
		return f.head.Write(p)
	}
	return f.tail.Write(p)
}

func (f *sparseFile) size() int64 { return int64(f.head.Len()) + f.hole + int64(f.tail.Len()) }

func (f *sparseFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < f.size() {
		m := 0
		switch tail := int64(f.head.Len()) + f.hole; {
		case off < int64(f.head.Len()):
			m = copy(p[n:], f.head.Bytes()[off:])
		case off < tail:
			m = int(min(int64(len(p)-n), tail-off))
			clear(p[n : n+m])
		default:
			m = copy(p[n:], f.tail.Bytes()[off-tail:])
		}
		n, off = n+m, off+int64(m)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (f *sparseFile) Open(name string) (fs.File, error) {
	if name != f.name {
		return fstest.MapFS{f.name: {}}.Open(name)
	}
	return &openSparse{io.NewSectionReader(f, 0, f.size()), f}, nil
}

type openSparse struct {
	*io.SectionReader
	file *sparseFile
}

func (f *openSparse) Close() error               { return nil }
func (f *openSparse) Stat() (fs.FileInfo, error) { return f, nil }
func (f *openSparse) Name() string               { return f.file.name }
func (f *openSparse) Mode() fs.FileMode          { return 0o444 }
func (f *openSparse) ModTime() time.Time         { return written }
func (f *openSparse) IsDir() bool                { return false }
func (f *openSparse) Sys() any                   { return nil }

// sparseZip returns a zip archive of 1 GiB: 500 members of 32 KiB, one of 1 GiB, and 500 more.
func sparseZip(t *testing.T) *sparseFile {
	t.Helper()
	f := &sparseFile{name: "a.zip"}
	w := zip.NewWriter(f)
	member := random(32 << 10)
	for i := range 1001 {
		head := &zip.FileHeader{Name: fmt.Sprintf("dir/file-%04d", i), Method: zip.Store}
		content, copies := member, 1
		if i == 500 {
			content, copies = zeros, 1<<30/len(zeros)
		}
		head.UncompressedSize64 = uint64(len(content)) * uint64(copies)
		head.CompressedSize64, head.CRC32 = head.UncompressedSize64, crc32.ChecksumIEEE(content)
		out, err := w.CreateRaw(head)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil { // then the zeros are not copied
			t.Fatal(err)
		}
		for range copies {
			if _, err := out.Write(content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// countedConn counts the bytes that arrive.
type countedConn struct {
	net.Conn
	n *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// The list of a zip archive of 1 GiB takes at most 2 MiB, and one member little more.
func TestReaderAtLargeZip(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	archive := sparseZip(t)
	if archive.size() < 1<<30 {
		t.Fatalf("the archive has %d bytes", archive.size())
	}
	srv, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) { s.Content = archive })
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var moved atomic.Int64
	r := &fetch1738.Resolver{Env: fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{ControlContext: fetch.DialControl}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return countedConn{c, &moved}, nil
	}}}
	defer r.Close()
	d, err := download.ReaderAt(t.Context(), r, srv.URL+"/a.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	z, err := zip.NewReader(d, d.Size())
	if err != nil || len(z.File) != 1001 {
		t.Fatalf("%v", err)
	}
	list := moved.Load()
	if list > 2<<20 {
		t.Errorf("the list of a zip archive of %d bytes moved %d bytes", d.Size(), list)
	}
	for i, name := range []string{"dir/file-0123", "dir/file-0987"} {
		member, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(member); err != nil || !bytes.Equal(got, random(32<<10)) {
			t.Errorf("%d bytes of %s, %v", len(got), name, err)
		}
		if more := moved.Load() - list; more > int64(i+1)*256<<10 {
			t.Errorf("%d members of %d bytes moved %d bytes", i+1, 32<<10, more)
		}
	}
	t.Logf("of %d bytes, the list moved %d and two members %d", d.Size(), list, moved.Load()-list)
}

// edition is a file system whose only file can be replaced at any time.
type edition struct {
	mu   sync.Mutex
	file *fstest.MapFile
}

func (e *edition) set(data []byte, when time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.file = &fstest.MapFile{Data: data, ModTime: when}
}

func (e *edition) Open(name string) (fs.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return fstest.MapFS{"a": e.file}.Open(name)
}

// A document that is replaced is an error, whether its time, its size or both differ, and however
// many goroutines read it: none ever gets bytes of the new one.
func TestReaderAtReplaced(t *testing.T) {
	old := bytes.Repeat([]byte("o"), 8<<20)
	for what, now := range map[string]struct {
		data []byte
		when time.Time
	}{
		"newer":             {bytes.Repeat([]byte("n"), 8<<20), written.Add(time.Hour)},
		"older":             {bytes.Repeat([]byte("n"), 8<<20), written.Add(-time.Hour)},
		"longer":            {bytes.Repeat([]byte("n"), 8<<20+1), written},
		"shorter":           {bytes.Repeat([]byte("n"), 1<<20), written},
		"empty":             {nil, written},
		"shorter and newer": {bytes.Repeat([]byte("n"), 1<<20), written.Add(time.Hour)},
	} {
		content := &edition{}
		ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
		web := httptest.NewServer(http.FileServerFS(content))
		defer web.Close()
		for _, root := range []string{ftp.URL, web.URL} {
			content.set(old, written)
			d, err := download.ReaderAt(t.Context(), nil, root+"/a")
			if err != nil {
				t.Fatal(err)
			}
			p := make([]byte, 100)
			if _, err := d.ReadAt(p, 10); err != nil || p[0] != 'o' {
				t.Errorf("%s: %q, %v", root, p, err)
			}
			content.set(now.data, now.when)
			var readers sync.WaitGroup
			for i := range 8 {
				readers.Go(func() {
					p := make([]byte, 100)
					n, err := d.ReadAt(p, int64(i+1)*900_000)
					if !errors.Is(err, fetch.ErrTruncated) || !strings.Contains(fmt.Sprint(err), "changed") || bytes.Contains(p[:n], []byte("n")) {
						t.Errorf("%s, %s: %d bytes %q, %v", what, root, n, p[:n], err)
					}
				})
			}
			readers.Wait()
			content.set(old, written)
			if n, err := d.ReadAt(p, 100_000); err == nil {
				t.Errorf("%s, %s: %d bytes after an error that stays", what, root, n)
			}
			d.Close()
		}
	}
}

// Close and the end of the context end a read that waits for the server, the connections and the
// goroutines.
func TestReaderAtEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, byClose := range []bool{true, false} {
		srv, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) {
			s.Content = fstest.MapFS{"a": {Data: random(1 << 20), ModTime: written}}
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		received := make(chan struct{}, 100)
		traced := fetch.WithTrace(ctx, &fetch.Trace{Body: func(int64) { received <- struct{}{} }})
		d, err := download.ReaderAt(traced, nil, srv.URL+"/a")
		if err != nil {
			t.Fatal(err)
		}
		srv.On("DATA", 1, testserver.Drip(4, time.Hour))
		var readers sync.WaitGroup
		for i := range 3 {
			readers.Go(func() {
				n, err := d.ReadAt(make([]byte, 100), int64(i)*10)
				if want := map[bool]error{true: fs.ErrClosed, false: context.Canceled}[byClose]; n != 0 || !errors.Is(err, want) {
					t.Errorf("by Close %v: %d bytes, %v", byClose, n, err)
				}
			})
		}
		<-received
		if byClose {
			d.Close()
		} else {
			cancel()
		}
		readers.Wait()
		if _, err := d.ReadAt(make([]byte, 1), 0); err == nil {
			t.Error("a read afterwards succeeded")
		}
		d.Close()
		cancel()
		srv.Close() // waits for the connections
		if err := d.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
	}
}

// A part that fails is fetched again by the next read.
func TestReaderAtRetries(t *testing.T) {
	big := random(1 << 20)
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: big, ModTime: written}} })
	d, err := download.ReaderAt(t.Context(), nil, srv.URL+"/a")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	srv.On("RETR", 1, testserver.Truncate(1000))
	p := make([]byte, 200_000)
	if n, err := d.ReadAt(p, 300_000); !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := d.ReadAt(p, 300_000); err != nil || !bytes.Equal(p, big[300_000:500_000]) {
		t.Errorf("again: %d bytes, %v", n, err)
	}
}
