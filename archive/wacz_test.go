package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// fixed is what the tests write WACZ files with.
var fixed = WACZ{Title: "T", Software: "test/1", Now: func() time.Time { return day }}

// writeWACZ writes a WACZ file.
func writeWACZ(t *testing.T, a *Archive, name string) string {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.WriteWACZ(file, fixed), file.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// members returns the members of a ZIP file in order, and their contents.
func members(t *testing.T, name string) (names []string, contents map[string]string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	contents = make(map[string]string)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		contents[f.Name] = string(data)
		if strings.HasPrefix(f.Name, "archive/") != (f.Method == zip.Store) && !strings.HasPrefix(f.Name, "indexes/") {
			t.Errorf("%s has the method %d", f.Name, f.Method)
		}
	}
	return names, contents
}

func TestWriteWACZ(t *testing.T) {
	dir := t.TempDir()
	one := write(t, filepath.Join(dir, "a", "x.warc.gz"), sample...)
	two := write(t, filepath.Join(dir, "b", "x.warc.gz"),
		record{warc.Resource, "gopher://h.example/1/", 0, menuType, "1To the \xfcber menu\t/m\tH.example\t70\r\n0text\t/t\th.example\t70\r\n", nil},
		record{warc.Resource, "gopher://h.example/1/m", 1, menuType, "", nil},
		record{warc.Resource, "gopher://h.example/1/m", 5, menuType, "i", warc.Header{{Name: warc.FieldTruncated, Value: "time"}}},
		record{warc.Resource, "gopher://h.example:70/1/a%20b", 2, menuType, "", nil})
	a := open(t, one, two)
	name := writeWACZ(t, a, filepath.Join(t.TempDir(), "out.wacz"))
	names, contents := members(t, name)
	want := []string{"archive/x.warc.gz", "archive/2-x.warc.gz", "indexes/index.cdx", "pages/pages.jsonl", "datapackage.json", "datapackage-digest.json"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	var pages []string
	for line := range strings.Lines(contents["pages/pages.jsonl"]) {
		var p struct{ URL, TS, Title string }
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, strings.TrimSpace(p.URL+" "+p.TS+" "+p.Title))
	}
	wantPages := []string{
		"All Pages",
		"ftp://h.example/pub/ 2026-11-24T12:00:01Z pub",
		"gopher://h.example/1/ 2026-11-24T12:00:00Z h.example",
		"gopher://h.example/1/m 2026-11-24T12:00:01Z To the über menu",
		"gopher://h.example:70/1/a%20b 2026-11-24T12:00:02Z a b",
		"http://www.example.org/Dir/?b=2&a=1 2026-11-24T12:00:01Z x",
	}
	if diff := cmp.Diff(wantPages, pages); diff != "" {
		t.Error(diff)
	}
	var list struct {
		Profile, WACZ_Version, Title, MainPageURL, MainPageDate string
		Resources                                               []struct {
			Name, Path, Hash string
			Bytes            int
		}
	}
	if err := json.Unmarshal([]byte(contents["datapackage.json"]), &list); err != nil {
		t.Fatal(err)
	}
	if list.Profile != "data-package" || list.WACZ_Version != "1.1.1" || list.Title != "T" || list.MainPageURL != "gopher://h.example/1/" || list.MainPageDate != "2026-11-24T12:00:00Z" {
		t.Errorf("%+v", list)
	}
	for i, r := range list.Resources {
		data := contents[names[i]]
		if r.Path != names[i] || r.Name != filepath.Base(r.Path) || r.Bytes != len(data) || r.Hash != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(data))) {
			t.Errorf("%+v, want %s", r, names[i])
		}
	}
	if len(list.Resources) != 4 {
		t.Errorf("%d resources", len(list.Resources))
	}
	if want := fmt.Sprintf(`"sha256:%x"`, sha256.Sum256([]byte(contents["datapackage.json"]))); !strings.Contains(contents["datapackage-digest.json"], want) {
		t.Error(contents["datapackage-digest.json"])
	}
	same(t, a, open(t, name))
	same(t, a, open(t, filepath.Dir(name))) // the folder with the file
}

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

// TestLongIndex has an index in three blocks.
func TestLongIndex(t *testing.T) {
	var records []record
	for i := range 2*perBlock + 10 {
		records = append(records, record{warc.Resource, fmt.Sprintf("gopher://h/0/%d", i), i, "text/plain", fmt.Sprint(i), nil})
	}
	a := open(t, write(t, filepath.Join(t.TempDir(), "x.warc"), records...))
	name := writeWACZ(t, a, filepath.Join(t.TempDir(), "x.wacz"))
	_, contents := members(t, name)
	list := contents["indexes/index.idx"]
	if strings.Count(list, "\n") != 4 || !strings.HasPrefix(list, "!meta 0 {\"format\": \"cdxj-gzip-1.0\"") || !strings.Contains(list, "\ngopher://h/0/0 20261124120000 {\"offset\": 0,") {
		t.Error(list)
	}
	same(t, a, open(t, name))
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
	data, err := os.ReadFile(write(t, filepath.Join(dir, "x.warc.gz"), sample...))
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
	data, err := os.ReadFile(write(t, filepath.Join(t.TempDir(), "x.warc.gz"), sample...))
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
		a, err := Open(zipped(t, contents...))
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
		if err := WriteIndex(&b, files...); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	one := write(t, filepath.Join(dir, "1.warc.gz"), sample...)
	two := write(t, filepath.Join(dir, "2.warc"), record{warc.Resource, "gopher://z/0/z", 0, "text/plain", "z", nil})
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
	write(t, two, record{warc.Resource, "gopher://z/0/new", 0, "text/plain", "z", nil})
	if a := open(t, dir); a.parts[0].temp == nil {
		t.Error("the index of a file that has grown is used")
	}
	write(t, filepath.Join(dir, "3.warc"))
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
	if err := WriteIndex(io.Discard, one, filepath.Join(dir, "..", filepath.Base(dir))); err == nil || !strings.Contains(err.Error(), "another file with this name") {
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
		a, err := Open(filepath.Join(dir, name))
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
	name := write(t, filepath.Join(dir, "x.warc"), sample[0], sample[1])
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
	if _, err := a.Find(sample[1].url, time.Time{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := a.WriteWACZ(io.Discard, fixed); err == nil || !strings.Contains(err.Error(), "still being written") {
		t.Error(err)
	}
	if err := os.Rename(name+warc.OpenSuffix, name); err != nil {
		t.Fatal(err)
	}
	if _, body, err := content(t, a, sample[0].url, time.Time{}); body != sample[0].body || err != nil {
		t.Error(body, err)
	}
}
