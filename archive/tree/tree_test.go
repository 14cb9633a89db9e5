package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/internal/warctest"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// tree is the records of a file system, and the names in it with what is in them.
var treeRecords = []warctest.Record{
	warctest.New(warc.Resource, "gopher://h/", 0, "application/gopher-menu", "root", nil),
	warctest.New(warc.Resource, "gopher://h/1/pub", 0, "application/gopher-menu", "pub menu", nil),
	warctest.New(warc.Resource, "gopher://h/1/pub/", 0, "application/gopher-menu", "pub/ menu", nil),
	warctest.New(warc.Resource, "gopher://h/0/pub/a.txt", 0, "text/plain", "text", nil),
	warctest.New(warc.Resource, "gopher://h/9/pub/a.txt", 0, "application/octet-stream", "binary", nil),
	warctest.New(warc.Resource, "gopher://h/1/empty", 0, "application/gopher-menu", "no links", nil),
	warctest.New(warc.Resource, "gopher://h/7/find%09two%20words", 0, "application/gopher-menu", "answer", nil),
	warctest.New(warc.Resource, "gopher://h/0top", 0, "text/plain", "selector without slash", nil),
	warctest.New(warc.Resource, "gopher://h/0top", 5, "text/plain", "later", nil),
	warctest.New(warc.Resource, "gopher://h:7070/0/x", 0, "text/plain", "other port", nil),
	warctest.New(warc.Resource, "ftp://h/pub/", 0, "text/plain", "listing", nil),
	warctest.New(warc.Resource, "ftp://h/pub/gr%C3%BCn%20a%2Fb%FC", 0, "text/plain", "escapes", nil),
	warctest.New(warc.Resource, "ftp://h/pub/x", 0, "text/plain", "x", nil),
	warctest.New(warc.Resource, "ftp://h/pub/x.y", 0, "text/plain", "between x and x/", nil),
	warctest.New(warc.Resource, "ftp://h/pub/x/y", 0, "text/plain", "x/y", nil),
	warctest.New(warc.Resource, "ftp://h//etc/motd", 0, "text/plain", "empty segment", nil),
	warctest.New(warc.Resource, "ftp://h/..", 0, "text/plain", "dots", nil),
	warctest.New(warc.Resource, "ftp://h/index", 0, "text/plain", "a file index", nil),
	warctest.New(warc.Resource, "ftp://h/", 0, "text/plain", "root listing", nil),
	warctest.New(warc.Response, "http://www.h/", 0, warctest.Response, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>root", nil),
	warctest.New(warc.Response, "https://h/A/B?u=http://z/&a", 0, warctest.Response, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n<p\r\n1\r\n>\r\n0\r\n\r\n", nil),
	warctest.New(warc.Response, "http://h/A/C", 0, warctest.Response, "HTTP/1.0 200 OK\r\n\r\nc", nil),
	warctest.New(warc.Resource, "news:m1@h", 0, "message/rfc822", "article", nil),
	warctest.New(warc.Resource, "ftp://u@H:21/upper", 0, "text/plain", "host in upper case", nil),
}

var treeFiles = map[string]string{
	"gopher/h/index":                 "root",
	"gopher/h/pub/index":             "pub menu",
	"gopher/h/pub/index~2":           "pub/ menu",
	"gopher/h/pub/a.txt":             "text",
	"gopher/h/pub/a.txt~2":           "binary",
	"gopher/h/empty/index":           "no links",
	"gopher/h/find%09two words":      "answer",
	"gopher/h/top":                   "later",
	"gopher/h:7070/x":                "other port",
	"ftp/h/pub/index":                "listing",
	"ftp/h/pub/gr%C3%BCn a%2Fb%FC":   "escapes",
	"ftp/h/pub/x/index":              "x",
	"ftp/h/pub/x.y":                  "between x and x/",
	"ftp/h/pub/x/y":                  "x/y",
	"ftp/h/%/etc/motd":               "empty segment",
	"ftp/h/%2E%2E":                   "dots",
	"ftp/h/index":                    "a file index",
	"ftp/h/index~2":                  "root listing",
	"ftp/h/upper":                    "host in upper case",
	"http/h/index.html":              "<p>root",
	"http/h/a/b?a&u=http:%2F%2Fz%2F": "<p>",
	"http/h/a/c":                     "c",
	"news/m1@h":                      "article",
}

func open(t *testing.T, names ...string) *archive.Archive {
	t.Helper()
	a, err := archive.Open(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestFS(t *testing.T) {
	dir := t.TempDir()
	half := len(treeRecords) / 2
	warctest.Write(t, filepath.Join(dir, "1.warc"), treeRecords[:half]...)
	warctest.Write(t, filepath.Join(dir, "2.warc.gz"), treeRecords[half:]...)
	two := open(t, filepath.Join(dir, "1.warc"), filepath.Join(dir, "2.warc.gz"))
	for _, a := range []*archive.Archive{two, open(t, dir), open(t, dir, filepath.Join(dir, "1.warc"))} {
		fsys := FS(a, time.Time{})
		got := make(map[string]string)
		err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(fsys, path)
			got[path] = string(data)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(treeFiles, got); diff != "" {
			t.Error(diff)
		}
		var names []string
		for name := range treeFiles {
			names = append(names, name)
		}
		if err := fstest.TestFS(fsys, names...); err != nil {
			t.Error(err)
		}
	}
	if data, err := fs.ReadFile(FS(two, warctest.Day), "gopher/h/top"); string(data) != "selector without slash" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"x", "gopher/x", "gopher/h/x", "gopher/h/top/x", "gopher/h/pub/index~3", "gopher/h/pub/a%20", "ftp/h/pub/grün a%2Fb%FC", "http/h/A/C"} {
		if _, err := fs.Stat(FS(two, warctest.Day), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := fs.Stat(FS(two, warctest.Day), "news/m1@h")
	if err != nil || info.Sys().(*archive.Capture).URL != "news:m1@h" || !info.ModTime().Equal(warctest.Day) {
		t.Error(info, err)
	}
}

// TestFileServer serves a website from an archive.
func TestFileServer(t *testing.T) {
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc"), treeRecords...))
	site, err := fs.Sub(FS(a, time.Time{}), "http/h")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "<p>root", "/a/c": "c", "/a/b%3Fa&u=http:%252F%252Fz%252F": "<p>"} {
		w := httptest.NewRecorder()
		http.FileServerFS(site).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Range", "bytes=-4")
	w := httptest.NewRecorder()
	http.FileServerFS(site).ServeHTTP(w, r)
	if w.Code != 206 || w.Body.String() != "root" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// TestLargeFolder reads a folder of 5,000 names in parts.
func TestLargeFolder(t *testing.T) {
	var records []warctest.Record
	for i := range 5000 {
		records = append(records, warctest.New(warc.Resource, fmt.Sprintf("ftp://h/%05d/x", i), 0, "text/plain", "", nil))
	}
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc"), records...))
	dir, err := FS(a, warctest.Day).Open("ftp/h")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		list, err := dir.(fs.ReadDirFile).ReadDir(700)
		for _, e := range list {
			if want := fmt.Sprintf("%05d", n); e.Name() != want || !e.IsDir() {
				t.Fatalf("%s, want %s", e.Name(), want)
			}
			n++
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n != 5000 {
		t.Error(n)
	}
}

// FuzzNames checks that the name of each segment of a valid URL is a valid one, and leads back to it.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a%20b", "", ".", "..", "%", "%C3%BC", "%FC", "%2F", "a?b/c", "\xff", "%c3%bc", "%C3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, segment string) {
		name := segmentName(segment)
		if !fs.ValidPath(name) || name == "." || strings.Contains(name, "/") {
			t.Fatalf("%q makes %q", segment, name)
		}
		if strings.ContainsFunc(segment, func(r rune) bool { return r <= ' ' || r >= 0x7F }) || segment == "%" || strings.Trim(segment, ".") == "" || strings.Contains(segment, "%2F") || strings.Contains(segment, "/") && !strings.Contains(segment, "?") {
			return // not of a URL, or with a name that is only found by looking at all names
		}
		if back := nameSegment(name); back != segment && segment != "" {
			t.Errorf("%q makes %q, which makes %q", segment, name, back)
		}
	})
}
