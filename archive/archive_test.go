package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/archive/internal/warctest"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
)

func open(t *testing.T, names ...string) *Archive {
	t.Helper()
	a, err := Open(t.Context(), names...)
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

// content finds and opens a document.
func content(t *testing.T, a *Archive, url string, at time.Time) (*Document, string, error) {
	t.Helper()
	c, err := a.Find(url, at)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := a.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(doc.Body)
	return doc, string(body), errors.Join(err, doc.Body.Close())
}

func TestFind(t *testing.T) {
	for _, suffix := range []string{".warc", ".warc.gz"} {
		a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x"+suffix), warctest.Sample...))
		for _, test := range []struct {
			url  string
			at   int
			want string
		}{
			{"gopher://h.example/0/a", 0, "first"}, // the first one, because all are later
			{"gopher://h.example/0/a", 1, "first"},
			{"gopher://h.example/0/a", 2, "first"},
			{"gopher://h.example/0/a", 3, "second"},
			{"gopher://h.example/0/a", 99, "second"},
			{"gopher://h.example/0/A", 0, "upper case"},
			{"http://example.org/dir/?a=1&b=2", 9, "<title>x</title>"},
			{"http://example.org/chunked", 9, "abcde"},
			{"http://example.org/joined", 9, "abc\r\nde"},
			{"news:m1@h.example", 9, "Subject: x\r\n\r\nx\r\n"},
		} {
			if _, body, err := content(t, a, test.url, warctest.Day.Add(time.Duration(test.at)*time.Second)); body != test.want || err != nil {
				t.Errorf("%s at %d: %q, %v", test.url, test.at, body, err)
			}
		}
		if _, body, _ := content(t, a, "gopher://h.example/0/a", time.Time{}); body != "second" {
			t.Errorf("the last one is %q", body)
		}
		for _, url := range []string{"gopher://h.example/0/", "gopher://h.example/0/aa", "metadata:gopher://h.example/0/a", "", "warcinfo:x" + suffix} {
			if _, err := a.Find(url, time.Time{}); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}

// TestHostsBeyondASCII checks that a capture is found by each form of a host beyond ASCII.
func TestHostsBeyondASCII(t *testing.T) {
	forms := []string{"münchen.example", "xn--mnchen-3ya.example", "m%C3%BCnchen.example", "MÜNCHEN.example"}
	for _, recorded := range []string{"xn--mnchen-3ya.example", "m%C3%BCnchen.example", "M%C3%9CNCHEN.example"} {
		var records []warctest.Record
		for _, scheme := range []string{"http", "gopher"} {
			records = append(records, warctest.New(warc.Response, scheme+"://"+recorded+"/x", 0, warctest.Response, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", nil))
		}
		a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc"), records...))
		for _, asked := range forms {
			for _, scheme := range []string{"http", "gopher"} {
				if _, err := a.Find(scheme+"://"+asked+"/x", time.Time{}); err != nil {
					t.Errorf("%s for %s: %v", asked, recorded, err)
				}
			}
		}
		if site := SiteOf("http://" + recorded + "/x"); site.Host != "xn--mnchen-3ya.example" {
			t.Errorf("the site of %s is %v", recorded, site)
		}
	}
}

func TestCapture(t *testing.T) {
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc.gz"), warctest.Sample...))
	for url, want := range map[string]Capture{
		"ftp://h.example:2121/pub/x": {
			URL: "ftp://h.example:2121/pub/x", Time: warctest.Day.Add(time.Second), Type: warc.Resource, MediaType: "application/octet-stream",
			Digest: "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", Size: 3, Modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		},
		"http://example.org/dir/?a=1&b=2": {
			URL: "http://www.example.org/Dir/?b=2&a=1", Time: warctest.Day.Add(time.Second), Type: warc.Response, MediaType: "text/html; charset=utf-8", Status: 200,
			Digest: "sha1:PHIPOJVNXVPTP2TRPZXKMQ6K46SA5H6K", Size: 16, Modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		},
		"http://example.org/chunked": {
			URL: "http://example.org/chunked", Time: warctest.Day.Add(time.Second), Type: warc.Response, Status: 404, Size: -1,
			Digest: "sha1:NNPQN7DXVE5ZFQRZASNM7ZVXWV2SNS2K",
		},
	} {
		c, err := a.Find(url, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		got := Capture{c.URL, c.Time, c.Type, c.MediaType, c.Status, c.Digest, c.Size, c.Modified, c.Truncated, nil, "", 0, 0, "", ""}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Capture{}, part{})); diff != "" {
			t.Errorf("%s: %s", url, diff)
		}
	}
	doc, _, _ := content(t, a, "http://example.org/dir/?a=1&b=2", time.Time{})
	if head := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\n"; string(doc.Head) != head {
		t.Errorf("%q", doc.Head)
	}
}

func TestTruncated(t *testing.T) {
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc.gz"), warctest.Sample...))
	_, body, err := content(t, a, "ftp://h.example/pub/cut", time.Time{})
	if body != "ab" || !errors.Is(err, fetch.ErrTruncated) || !strings.Contains(err.Error(), "disconnect") {
		t.Errorf("%q, %v", body, err)
	}
}

func TestCaptures(t *testing.T) {
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc.gz"), warctest.Sample...))
	for prefix, want := range map[string]string{
		"gopher://h.example/0/":            "gopher://h.example/0/A+4 gopher://h.example/0/a+1 gopher://h.example/0/a+3",
		"gopher://h.example/0/a":           "gopher://h.example/0/a+1 gopher://h.example/0/a+3",
		"ftp://h.example/":                 "ftp://h.example/pub/+1 ftp://h.example/pub/cut+1",
		"ftp://h.example":                  "ftp://h.example/pub/+1 ftp://h.example/pub/cut+1 ftp://h.example:2121/pub/x+1",
		"http://example.org/":              "http://example.org/chunked+1",
		"https":                            "https://example.org/joined+1",
		"http://www.example.org/Dir/?b=2&": "http://www.example.org/Dir/?b=2&a=1+1",
		"http":                             "http://example.org/chunked+1 http://www.example.org/Dir/?b=2&a=1+1 https://example.org/joined+1",
		"wais:":                            "",
	} {
		var got []string
		for c, err := range a.Captures(prefix) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s+%d", c.URL, int(c.Time.Sub(warctest.Day)/time.Second)))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s:\n%s\nwant\n%s", prefix, s, want)
		}
	}
}

// TestTimes tests that the times are those of exactly one URL, also where the keys of several are the
// same, and those of all files.
func TestTimes(t *testing.T) {
	sample := warctest.Write(t, filepath.Join(t.TempDir(), "x.warc.gz"), warctest.Sample...)
	other := warctest.Write(t, filepath.Join(t.TempDir(), "y.warc.gz"), warctest.Sample...)
	for _, names := range [][]string{{sample}, {sample, other}} {
		a := open(t, names...)
		for url, want := range map[string][]int{
			"gopher://h.example/0/a": {1, 3}, "gopher://h.example/0/A": {4}, "gopher://h.example/0/": nil, "http://example.org/chunked": {1}, "https://example.org/chunked": nil, "": nil,
		} {
			var got []int
			for at, err := range a.Times(url) {
				if err != nil {
					t.Fatal(err)
				}
				if n := int(at.Sub(warctest.Day) / time.Second); len(got) == 0 || got[len(got)-1] != n {
					got = append(got, n)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q in %d files: %v, want %v", url, len(names), got, want)
			}
		}
	}
}

func TestSites(t *testing.T) {
	dir := t.TempDir()
	warctest.Write(t, filepath.Join(dir, "a.warc.gz"), warctest.Sample...)
	warctest.Write(t, filepath.Join(dir, "b.warc"), warctest.New(warc.Resource, "gopher://h/1", 0, "text/plain", "", nil), warctest.New(warc.Resource, "gopher://h-1", 0, "text/plain", "", nil),
		warctest.New(warc.Resource, "ftps://user@[::1]:99/x", 0, "text/plain", "", nil), warctest.New(warc.Resource, "gopher://H/", 0, "text/plain", "", nil), warctest.New(warc.Resource, "gopher://h", 0, "text/plain", "", nil))
	a := open(t, dir)
	got, err := a.Sites()
	want := []Site{
		{"ftp", "h.example", 21}, {"ftp", "h.example", 2121}, {"ftps", "[::1]", 99}, {"gopher", "h", 70}, {"gopher", "h-1", 70}, {"gopher", "h.example", 70},
		{"http", "example.org", 80}, {"http", "www.example.org", 80}, {"https", "example.org", 443}, {"news", "", 0},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
}

func TestRevisit(t *testing.T) {
	dir := t.TempDir()
	const digest = "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"
	warctest.Write(t, filepath.Join(dir, "1.warc.gz"),
		warctest.New(warc.Resource, "ftp://h/x", 0, "text/plain", "abc", nil),
		warctest.New(warc.Resource, "ftp://h/y", 5, "text/html", "abc", nil),
		warctest.New(warc.Response, "http://h/", 0, warctest.Response, "HTTP/1.1 200 OK\r\nA: 1\r\n\r\nabc", nil))
	revisit := func(refers ...string) warc.Header {
		h := warc.Header{{Name: warc.FieldProfile, Value: warc.IdenticalPayload}, {Name: warc.FieldPayloadDigest, Value: digest}}
		if len(refers) > 0 {
			h = append(h, warc.Field{Name: warc.FieldRefersToTargetURI, Value: refers[0]}, warc.Field{Name: warc.FieldRefersToDate, Value: refers[1]})
		}
		return h
	}
	warctest.Write(t, filepath.Join(dir, "2.warc.gz"),
		warctest.New(warc.Revisit, "ftp://h/x", 10, "", "", revisit()),
		warctest.New(warc.Revisit, "ftp://h/z", 10, "", "", revisit("ftp://h/y", "2026-11-24T12:00:05Z")),
		warctest.New(warc.Revisit, "ftp://h/none", 10, "", "", revisit("ftp://h/gone", "2026-11-24T12:00:05Z")),
		warctest.New(warc.Revisit, "http://h/", 10, warctest.Response, "HTTP/1.1 200 OK\r\nA: 2\r\n\r\n", revisit()),
		warctest.New(warc.Revisit, "http://h/", 20, warctest.Response, "HTTP/1.1 304 Not Modified\r\n\r\n", warc.Header{{Name: warc.FieldProfile, Value: warc.NotModified}, {Name: warc.FieldRefersToTargetURI, Value: "http://h/"}, {Name: warc.FieldRefersToDate, Value: "2026-11-24T12:00:00Z"}}))
	a := open(t, dir)
	for url, media := range map[string]string{"ftp://h/x": "text/plain", "ftp://h/z": "text/html"} {
		c, err := a.Find(url, time.Time{})
		if err != nil || c.Type != warc.Revisit || c.MediaType != media || c.Size != 3 || !c.Time.Equal(warctest.Day.Add(10*time.Second)) {
			t.Errorf("%+v, %v", c, err)
		}
		if _, body, err := content(t, a, url, time.Time{}); body != "abc" || err != nil {
			t.Errorf("%s: %q, %v", url, body, err)
		}
	}
	for at, head := range map[int]string{10: "HTTP/1.1 200 OK\r\nA: 2\r\n\r\n", 20: "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n"} {
		doc, body, err := content(t, a, "http://h/", warctest.Day.Add(time.Duration(at)*time.Second))
		if string(doc.Head) != head || body != "abc" || err != nil {
			t.Errorf("%q %q %v", doc.Head, body, err)
		}
	}
	c, err := a.Find("ftp://h/none", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(c); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "ftp://h/none") {
		t.Error(err)
	}
}

// TestDamaged changes each octet of a file, which every reader must notice.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	name := warctest.Write(t, filepath.Join(dir, "x.warc"), warctest.New(warc.Resource, "ftp://h/x", 0, "text/plain", "abc", nil))
	a := open(t, name)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[strings.LastIndex(string(data), "abc")] ^= 1
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := content(t, a, "ftp://h/x", time.Time{}); !errors.Is(err, fetch.ErrLocalIO) || !strings.Contains(err.Error(), "WARC-Block-Digest") {
		t.Error(err)
	}
	if err := os.WriteFile(name, append([]byte("\r\n"), data...), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := a.Find("ftp://h/x", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(c); err == nil || !strings.Contains(err.Error(), "fetch1738 warc index") {
		t.Error(err)
	}
}

// TestOtherProgram opens what wget has written: a response in chunks, and records of wget itself.
func TestOtherProgram(t *testing.T) {
	a := open(t, "warc/testdata/wget-1.21.3.warc.gz")
	n := 0
	for c, err := range a.Captures("") {
		if err != nil {
			t.Fatal(err)
		}
		doc, err := a.Open(c)
		if err != nil {
			t.Fatal(c.URL, err)
		}
		body, err := io.ReadAll(doc.Body)
		if err = errors.Join(err, doc.Body.Close()); err != nil || c.Size >= 0 && c.Size != int64(len(body)) {
			t.Errorf("%s: %d bytes, want %d; %v", c.URL, len(body), c.Size, err)
		}
		if c.Type == warc.Response && (c.Status == 0 || !strings.HasPrefix(string(doc.Head), "HTTP/")) {
			t.Errorf("%+v %q", c, doc.Head)
		}
		n++
	}
	if n == 0 {
		t.Error("no captures")
	}
}

// TestRecordsInOneMember opens a file in which all records are one gzip member: the second one is found
// by reading the first one.
func TestRecordsInOneMember(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(warctest.Write(t, filepath.Join(dir, "x.warc"), warctest.Sample...))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "one.warc.gz")
	if err := os.WriteFile(name, []byte(compressed(t, string(data))), 0o666); err != nil {
		t.Fatal(err)
	}
	same(t, open(t, filepath.Join(dir, "x.warc")), open(t, name))
}
