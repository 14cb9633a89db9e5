package wacz

import (
	"archive/zip"
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

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/internal/warctest"
	"github.com/fetch1738/fetch1738/archive/warc"
)

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

// fixed is what the tests write WACZ files with.
var fixed = Options{Title: "T", Software: "test/1", Now: func() time.Time { return warctest.Day }}

// writeWACZ writes a WACZ file.
func writeWACZ(t *testing.T, a *archive.Archive, name string) string {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Write(file, a, fixed), file.Close()); err != nil {
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
	one := warctest.Write(t, filepath.Join(dir, "a", "x.warc.gz"), warctest.Sample...)
	two := warctest.Write(t, filepath.Join(dir, "b", "x.warc.gz"),
		warctest.New(warc.Resource, "gopher://h.example/1/", 0, "application/gopher-menu", "1To the \xfcber menu\t/m\tH.example\t70\r\n0text\t/t\th.example\t70\r\n", nil),
		warctest.New(warc.Resource, "gopher://h.example/1/m", 1, "application/gopher-menu", "", nil),
		warctest.New(warc.Resource, "gopher://h.example/1/m", 5, "application/gopher-menu", "i", warc.Header{{Name: warc.FieldTruncated, Value: "time"}}),
		warctest.New(warc.Resource, "gopher://h.example:70/1/a%20b", 2, "application/gopher-menu", "", nil),
		warctest.New(warc.Response, "http://h.example/", 3, warctest.Response, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+
			"<!-- <title>old</title> --><script>'<title>no</title>'</script><title lang='>'>1 <b> &lt;\n\xfc</title ><title>no</title>", nil))
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
		"http://h.example/ 2026-11-24T12:00:03Z 1 <b> < ü",
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

// TestLongIndex has an index in three blocks.
func TestLongIndex(t *testing.T) {
	var records []warctest.Record
	for i := range 2*perBlock + 10 {
		records = append(records, warctest.New(warc.Resource, fmt.Sprintf("gopher://h/0/%d", i), i, "text/plain", fmt.Sprint(i), nil))
	}
	a := open(t, warctest.Write(t, filepath.Join(t.TempDir(), "x.warc"), records...))
	name := writeWACZ(t, a, filepath.Join(t.TempDir(), "x.wacz"))
	_, contents := members(t, name)
	list := contents["indexes/index.idx"]
	if strings.Count(list, "\n") != 4 || !strings.HasPrefix(list, "!meta 0 {\"format\": \"cdxj-gzip-1.0\"") || !strings.Contains(list, "\ngopher://h/0/0 20261124120000 {\"offset\": 0,") {
		t.Error(list)
	}
	same(t, a, open(t, name))
}

// same compares the captures of two archives and their contents.
func same(t *testing.T, a, b *archive.Archive) {
	t.Helper()
	list := func(a *archive.Archive) (lines []string) {
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
