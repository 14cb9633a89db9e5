package interop

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/transport"
)

// startProftpd runs proftpd until the test ends, with the tree of startVsftpd. It supports MLSD,
// which vsftpd does not.
func startProftpd(t *testing.T) *vsftpd {
	t.Helper()
	return startDaemon(t, "proftpd")
}

// TestFS judges the file systems of real servers by testing/fstest.
func TestFS(t *testing.T) {
	vsftpd, proftpd, gopher := startVsftpd(t), startProftpd(t), startGophernicus(t)
	// Each file is requested several times, because a menu has no sizes; 100 of them show nothing new. Gophernicus
	// does not find what is below a folder whose name has "#040", which it lists.
	for _, folder := range []string{"many", "with#040"} {
		if err := os.RemoveAll(filepath.Join(gopher.root, folder)); err != nil {
			t.Fatal(err)
		}
	}
	for name, root := range map[string]struct {
		url   string
		files []string
	}{
		"vsftpd":      {"ftp://" + vsftpd.addr + "/pub", []string{"rand.bin", "f #1;%.txt", "caf%E9"}}, // the last one is Latin-1
		"proftpd":     {"ftp://" + proftpd.addr + "/pub", []string{"rand.bin", "f #1;%.txt", "caf%E9"}},
		"gophernicus": {"gopher://" + gopher.addr + "/1/", []string{"docs/hello.txt", "docs/dots.txt", "bin.d/rand.bin"}},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, err := remotefs.New(t.Context(), nil, root.url)
			if err != nil {
				t.Fatal(err)
			}
			defer fsys.Close()
			if err := fstest.TestFS(fsys, root.files...); err != nil {
				t.Error(err)
			}
			for _, file := range root.files {
				if b, err := fs.ReadFile(fsys, file); err != nil || len(b) == 0 {
					t.Errorf("%s: %d bytes, %v", file, len(b), err)
				}
			}
		})
	}
}

// TestAdapters tests the http.RoundTripper and the io.ReaderAt on FTP servers with LIST and MLSD.
func TestAdapters(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *vsftpd{
		"vsftpd":  func(t *testing.T) *vsftpd { return startVsftpd(t) },
		"proftpd": startProftpd,
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t)
			big := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
			name := filepath.Join(srv.root, "big.bin")
			writeFile(t, name, string(big))
			if err := os.Chtimes(name, time.Time{}, time.Unix(787939445, 0)); err != nil {
				t.Fatal(err)
			}
			testRequests(t, srv, big)
			testReaderAt(t, "ftp://"+srv.addr+"/big.bin", big)
		})
	}
}

// testRequests requests big, and stores a file.
func testRequests(t *testing.T, srv *vsftpd, big []byte) {
	client := &http.Client{Transport: &transport.Transport{Statuses: true}}
	defer client.CloseIdleConnections()
	do := func(method, path, body string, header ...string) (*http.Response, string) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), method, "ftp://"+srv.addr+path, strings.NewReader(body))
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return res, string(got)
	}
	res, _ := do("HEAD", "/big.bin", "")
	tag := res.Header.Get("Etag")
	if res.StatusCode != 200 || res.ContentLength != int64(len(big)) || tag == "" ||
		res.Header.Get("Last-Modified") != "Tue, 20 Dec 1994 16:04:05 GMT" || res.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("HEAD: %s %v", res.Status, res.Header)
	}
	size := fmt.Sprint(len(big))
	for _, c := range []struct {
		path   string
		header []string
		status int
		part   string // Content-Range
		body   string
	}{
		{"/big.bin", nil, 200, "", string(big)},
		{"/big.bin", []string{"Range", "bytes=100-115"}, 206, "bytes 100-115/" + size, string(big[100:116])},
		{"/big.bin", []string{"Range", "bytes=3199990-"}, 206, "bytes 3199990-3199999/" + size, string(big[3199990:])},
		{"/big.bin", []string{"Range", "bytes=-3"}, 206, "bytes 3199997-3199999/" + size, string(big[3199997:])},
		{"/big.bin", []string{"Range", "bytes=0-0", "If-Range", tag}, 206, "bytes 0-0/" + size, "0"},
		{"/big.bin", []string{"Range", "bytes=0-0", "If-Range", `"other"`}, 200, "", string(big)},
		{"/big.bin", []string{"Range", "bytes=" + size + "-"}, 416, "bytes */" + size, ""},
		{"/big.bin", []string{"Range", "bytes=9" + size + "-"}, 416, "bytes */" + size, ""},
		{"/big.bin", []string{"If-None-Match", tag}, 304, "", ""},
		{"/big.bin", []string{"If-Modified-Since", "Tue, 20 Dec 1994 16:04:05 GMT"}, 304, "", ""},
		{"/big.bin", []string{"If-Match", `"other"`}, 412, "", ""},
		{"/a/b/c.txt;type=a", []string{"Range", "bytes=-3"}, 200, "", text},
		{"/a/b/", []string{"Range", "bytes=1-2"}, 200, "", "c.txt"},
		{"/pub/zero", []string{"Range", "bytes=0-"}, 200, "", ""},
		{"/missing", nil, 404, "", ""},
		{"/forbidden", nil, 403, "", ""},
	} {
		res, body := do("GET", c.path, "", c.header...)
		if c.status == 403 && strings.Contains(body, "Failed to open file") {
			continue // vsftpd says the same of a missing file
		}
		if res.StatusCode != c.status || res.Header.Get("Content-Range") != c.part || res.StatusCode < 400 && !strings.Contains(body, c.body) ||
			c.part != "" && c.body != body {
			t.Errorf("%s %q: %s, Content-Range %q, %.40q (%d bytes)", c.path, c.header, res.Status, res.Header.Get("Content-Range"), body, len(body))
		}
	}
	if res, _ := do("PUT", "/incoming/new.txt", "one"); res.StatusCode != 204 {
		t.Errorf("PUT: %s", res.Status)
	}
	stored := filepath.Join(srv.root, "incoming", "new.txt")
	if b, err := os.ReadFile(stored); string(b) != "one" {
		t.Errorf("PUT stored %q, %v", b, err)
	}
	if res, body := do("POST", "/incoming/new.txt", " two"); res.StatusCode != 204 {
		t.Errorf("POST: %s %s", res.Status, body)
	}
	if b, err := os.ReadFile(stored); string(b) != "one two" {
		t.Errorf("POST stored %q, %v", b, err)
	}
}

// testReaderAt reads big at several places, and all of it, with one session for all.
func testReaderAt(t *testing.T, url string, big []byte) {
	var logins atomic.Int64
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Connected: func(c fetch.Connection) {
		if c.Purpose == fetch.PurposeControl {
			logins.Add(1)
		}
	}})
	d, err := download.ReaderAt(ctx, nil, url)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, off := range []int64{0, 3_000_000, 1_500_000, d.Size() - 10} {
		p := make([]byte, 10)
		if _, err := d.ReadAt(p, off); err != nil || !bytes.Equal(p, big[off:off+10]) {
			t.Errorf("at %d: %q, %v", off, p, err)
		}
	}
	all, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size()))
	if err != nil || !bytes.Equal(all, big) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	// A server that ends a transfer late costs one more.
	if n := logins.Load(); n > 2 {
		t.Errorf("%d logins", n)
	}
}
