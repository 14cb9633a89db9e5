package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/archive/internal/warctest"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// same compares the captures of two archives and their contents.
func same(t *testing.T, a, b *Archive) {
	t.Helper()
	list := func(a *Archive) (lines []string) {
		for c, err := range a.Captures("") {
			if err != nil {
				t.Fatal(err)
			}
			doc, err := a.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(doc.Body)
			_ = doc.Body.Close()
			lines = append(lines, fmt.Sprint(c.URL, c.Time, c.Type, c.MediaType, c.Status, c.Digest, c.Size, c.Modified, c.Truncated, string(doc.Head), string(body), err))
		}
		return lines
	}
	if diff := cmp.Diff(list(a), list(b)); diff != "" {
		t.Error(diff)
	}
}

// zipped makes a ZIP file. A name with "!" at the end is compressed.
func zipped(t *testing.T, contents ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(contents); i += 2 {
		name, compressed := strings.CutSuffix(contents[i], "!")
		h := &zip.FileHeader{Name: name, Method: zip.Store}
		if compressed {
			h.Method = zip.Deflate
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, contents[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.wacz")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestForeignWACZ has indexes as other programs make them: with other keys, unsorted, compressed, in
// several files, or none.
func TestForeignWACZ(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(warctest.Write(t, filepath.Join(dir, "x.warc.gz"), warctest.Sample...))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for c, err := range open(t, dir).Captures("") {
		if err != nil {
			t.Fatal(err)
		}
		lines = append([]string{fmt.Sprintf("%s %s {\"url\": %q, \"offset\": %d, \"length\": \"%d\", \"filename\": \"x.warc.gz\"}\n", strings.ToLower(c.URL), c.Time.Format("20060102150405"), c.URL, c.offset, c.length)}, lines...)
	}
	all, half := strings.Join(lines, ""), len(lines)/2
	for _, indexes := range [][]string{
		{"indexes/index.cdx", all},
		{"indexes/index.cdxj!", all},
		{"indexes/index.cdx.gz", compressed(t, all)},
		{"indexes/index.cdxj.gz!", compressed(t, strings.Join(lines[:half], "")) + compressed(t, strings.Join(lines[half:], "")), "indexes/index.idx", "x"},
		{"indexes/a.cdxj", strings.Join(lines[:half], ""), "indexes/b.cdxj", strings.Join(lines[half:], "")},
		{},
	} {
		a := open(t, zipped(t, append([]string{"archive/x.warc.gz", string(data)}, indexes...)...))
		for url, want := range map[string]string{"gopher://h.example/0/A": "upper case", "gopher://h.example/0/a": "second", "http://example.org/chunked": "abcde"} {
			if _, body, err := content(t, a, url, time.Time{}); body != want || err != nil {
				t.Errorf("%s: %q, %v", url, body, err)
			}
		}
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHostileWACZ(t *testing.T) {
	data, err := os.ReadFile(warctest.Write(t, filepath.Join(t.TempDir(), "x.warc.gz"), warctest.Sample...))
	if err != nil {
		t.Fatal(err)
	}
	line := `ftp://h/x 20261124120000 {"url":"ftp://h/x","filename":"x","offset":"0","length":"5"}` + "\n"
	for want, contents := range map[string][]string{
		"no WARC files":        {"a", "x"},
		"store it without":     {"archive/x.warc.gz!", string(data)},
		"too long":             {"archive/x.warc.gz", string(data), "indexes/index.cdx.gz", compressed(t, strings.Repeat(line, 100_000))},
		"not KEY TIMESTAMP":    {"archive/x.warc.gz", string(data), "indexes/index.cdx", "x\n"},
		"gzip: invalid header": {"archive/x.warc.gz", string(data), "indexes/index.cdx.gz", "xxxxxxxxxxxx"},
		"not a gzip member":    {"archive/x.warc.gz", "\x1f\x8bx"},
		"too long for":         {"archive/x.warc.gz", string(data), "indexes/index.cdx!", strings.Repeat("x", 5<<20)},
	} {
		a, err := Open(t.Context(), zipped(t, contents...))
		if err == nil {
			_ = a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.wacz") {
			t.Errorf("%s: %v", want, err)
		}
	}
	// The index leads to no other file, and to no other place than that of a record.
	for i, l := range []string{
		`ftp://h/x 20261124120000 {"url":"ftp://h/x","filename":"../../../etc/passwd","offset":"0"}`,
		`ftp://h/x 20261124120000 {"url":"ftp://h/x","filename":"x.warc.gz","offset":"7"}`,
		`ftp://h/x 20261124120000 {"url":"ftp://h/x","filename":"x.warc.gz","offset":"0"}`,
		`ftp://h/x 20261124120000 {"url":"ftp://h/x","filename":"x.warc.gz","offset":"9223372036854775807","length":"9223372036854775807","type":"resource"}`,
	} {
		a := open(t, zipped(t, "archive/x.warc.gz", string(data), "indexes/index.cdx", l+"\n"))
		c, err := a.Find("ftp://h/x", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Open(c); err == nil || !strings.Contains(err.Error(), "fetch1738 warc index") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestIndexFile opens an index that is beside the files, and makes a new one if it is not of the files
// as they are.
func TestIndexFile(t *testing.T) {
	dir := t.TempDir()
	index := func(name string, files ...string) {
		t.Helper()
		var b bytes.Buffer
		if err := WriteIndex(t.Context(), &b, files...); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	one := warctest.Write(t, filepath.Join(dir, "1.warc.gz"), warctest.Sample...)
	two := warctest.Write(t, filepath.Join(dir, "2.warc"), warctest.New(warc.Resource, "gopher://z/0/z", 0, "text/plain", "z", nil))
	index(one+".cdxj", one)
	index(filepath.Join(dir, "index.cdxj"), dir)
	for _, test := range []struct {
		names []string
		made  bool // an index is made
	}{{[]string{one}, false}, {[]string{two}, true}, {[]string{dir}, false}} {
		a := open(t, test.names...)
		if made := a.parts[0].temp != nil; made != test.made || len(a.parts) != 1 {
			t.Errorf("%v: made %v, %d parts", test.names, made, len(a.parts))
		}
	}
	same(t, open(t, dir), open(t, two, one))
	a := open(t, dir)
	if sites, err := a.Sites(); err != nil || len(sites) != 8 {
		t.Error(sites, err)
	}
	warctest.Write(t, two, warctest.New(warc.Resource, "gopher://z/0/new", 0, "text/plain", "z", nil))
	if a := open(t, dir); a.parts[0].temp == nil {
		t.Error("the index of a file that has grown is used")
	}
	warctest.Write(t, filepath.Join(dir, "3.warc"))
	index(filepath.Join(dir, "index.cdxj"), one, two)
	if a := open(t, dir); a.parts[0].temp == nil {
		t.Error("an index without one of the files is used")
	}
	if err := os.WriteFile(filepath.Join(dir, "index.cdxj"), []byte("b\na\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if a := open(t, dir); a.parts[0].temp == nil {
		t.Error("an index that is not sorted is used")
	}
	if err := WriteIndex(t.Context(), io.Discard, one, filepath.Join(dir, "..", filepath.Base(dir))); err == nil || !strings.Contains(err.Error(), "another file with this name") {
		t.Error(err)
	}
}

// TestOpenErrors names what cannot be opened.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a.txt": "x", "half.warc": "WARC/1.1\r\nWARC-Type: resource\r\n", "none.wacz": "PK"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"absent.warc": "no such file", "a.txt": "not a WARC file", "empty": "there are no WARC or WACZ files", "half.warc": "record at offset 0", "none.wacz": "not a valid zip file",
	} {
		a, err := Open(t.Context(), filepath.Join(dir, name))
		if err == nil {
			_ = a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnfinished opens a file that is being written, and finds its records after its writer has
// closed it.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	name := warctest.Write(t, filepath.Join(dir, "x.warc"), warctest.Sample[0], warctest.Sample[1])
	if err := os.Rename(name, name+warc.OpenSuffix); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name + warc.OpenSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+warc.OpenSuffix, data[:len(data)-50], 0o666); err != nil { // within the last record
		t.Fatal(err)
	}
	a := open(t, dir)
	if _, err := a.Find(warctest.Sample[1].URL, time.Time{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := a.Files()[0].Open(); err == nil || !strings.Contains(err.Error(), "still being written") {
		t.Error(err)
	}
	if err := os.Rename(name+warc.OpenSuffix, name); err != nil {
		t.Fatal(err)
	}
	if _, body, err := content(t, a, warctest.Sample[0].URL, time.Time{}); body != warctest.Sample[0].Body || err != nil {
		t.Error(body, err)
	}
}
