package mirror

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

// FuzzManifest checks that no file of a manifest is outside the directory or in mirror.Folder, and
// that a manifest can be written and read again.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{
		`{"url":"ftp://h/a","file":"a","size":3,"modified":"2020-01-02T03:04:05Z","sha256":"00","time":"2020-01-02T03:04:05Z"}` + "\n",
		`{"url":"ftp://h/a","file":"../a","size":3}` + "\n" + `{"url":"ftp://h/","size":-1,"start":true}`,
		`{"url":"x","file":"/etc/passwd"}`, `{"url":"x","file":".fetch1738/x"}`, `{"url":"x","file":".FETCH1738/x"}`, "{\n\n[]\nnull\n\"\"", `{"url":"x","error":"no","size":-1}`,
		`{"url":"x,","size":+1}`, `{"url":"x\",\"y","size":01}`, `{"url":"x","size":1,"url":"y","time":"2020-01-02T03:04:05+01:00"}`,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	root, err := disk.System().OpenRoot(dir) // once, because it takes longer than the rest
	if err == nil {
		err = root.Mkdir(Folder, 0o777)
	}
	if err == nil {
		root, err = root.OpenRoot(Folder)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	f.Fuzz(func(t *testing.T, text []byte) {
		for line := range bytes.Lines(text) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			var want ManifestLine
			if got, ok := decodePlain(line); ok && (json.Unmarshal(line, &want) != nil || !reflect.DeepEqual(got, want)) {
				t.Errorf("%q is read as %+v, want %+v", line, got, want)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, ManifestFile), text, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := openManifest(root)
		if err != nil {
			return
		}
		want := dump(t, m, text)
		if err := errors.Join(m.rewrite(root), m.close()); err != nil {
			t.Fatal(err)
		}
		again, err := openManifest(root)
		if err != nil {
			t.Fatal(err)
		}
		defer again.close()
		if got := dump(t, again, text); got != want {
			t.Errorf("read again:\n%s\nwas:\n%s", got, want)
		}
	})
}

// The lines of most files are decoded without package json.
func TestDecodePlain(t *testing.T) {
	line := ManifestLine{
		URL: "ftp://h/a?b,c", File: "a/b, c", Size: 3, Modified: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), ID: "<a@b>",
		Exact: time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC), SHA256: "00", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for _, plain := range []bool{true, false} {
		if !plain {
			line.File = `a"b\c`
		}
		text, err := encode(line)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if got, ok := decodePlain(text); ok != plain || ok && !reflect.DeepEqual(got, line) {
			t.Errorf("%s is read as %+v, %t", text, got, ok)
		}
		if got, ok := decode(text); !ok || !reflect.DeepEqual(got, line) {
			t.Errorf("%s is read as %+v, %t", text, got, ok)
		}
	}
}

// dump returns the lines of the complete and incomplete files in a manifest, for the URLs in a
// text.
func dump(t *testing.T, m *manifest, text []byte) string {
	t.Helper()
	lines := map[string]known{"": {done: m.start}}
	for r, err := range ReadManifest(bytes.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		k := m.lookup(r.URL)
		lines[r.URL] = k
		for _, file := range []string{k.done.File, k.begun.File} {
			if file != "" && (!fs.ValidPath(file) || strings.HasPrefix(strings.ToLower(file)+"/", Folder+"/")) {
				t.Errorf("%s has the file %q", r.URL, file)
			}
		}
	}
	return fmt.Sprintf("%+v", lines)
}

// FuzzPlace checks that the file of any item of a listing is in the directory, and is not the file
// of another item.
func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"a/b", "../x", "/etc/passwd", ".", "", "a\x00b", ".fetch1738/manifest.jsonl", `..\x`, "CON/NUL", "a//b", "gr\xfcn", " /. ", strings.Repeat(strings.Repeat("\xff", 60)+"/", 6)} {
		f.Add(seed)
	}
	root := &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}, HasPath: true}
	site := &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '1', HasPath: true}
	f.Fuzz(func(t *testing.T, text string) {
		parts := strings.Split(text, "/")
		for _, try := range []struct {
			tree tree
			at   locator.Locator
		}{
			{newFTPTree(*root), &locator.FTP{Server: root.Server, CWD: parts[:len(parts)-1], Name: parts[len(parts)-1], HasPath: true}},
			{newFTPTree(*root), &locator.FTP{Server: root.Server, CWD: parts[:len(parts)-1], Name: text, HasPath: true}},
			{newGopherTree(site), &locator.Gopher{HostPort: site.HostPort, Type: '0', Selector: text, HasPath: true}},
			{&newsTree{root}, root},
		} {
			at, err := try.tree.place(fetch.Item{Name: text, Locator: try.at})
			if err != nil {
				continue
			}
			checkPlace(t, text, at.path)
		}
	})
}

// checkPlace checks the file of a path on the server, with each naming.
func checkPlace(t *testing.T, text string, on []string) {
	t.Helper()
	for keep := filename.KeepSafe; keep <= filename.KeepAll; keep++ {
		for _, n := range []filename.Naming{{Keep: keep}, {Keep: keep, Portable: true}} {
			file := naming.Naming{Naming: n}.Path(on)
			names := naming.NewClaims(Folder)
			claimed := names.File(file)
			if long := len(file) > 1024; long != errors.Is(claimed, naming.ErrPath) {
				t.Errorf("a path of %d bytes: %v", len(file), claimed)
			} else if long {
				continue
			}
			if !filepath.IsLocal(file) || !fs.ValidPath(strings.ToValidUTF8(file, "_")) || file == "." || claimed != nil {
				t.Errorf("%q is stored as %q: %v", text, file, claimed)
			}
			for name := range strings.SplitSeq(file, "/") {
				if name[0] == '.' && keep == filename.KeepSafe || strings.HasPrefix(naming.Fold(name), naming.Fold(Folder)) || len(name) > 255 {
					t.Errorf("%q is stored as %q", text, file)
				}
			}
			if names.File(file) == nil {
				t.Errorf("%q may have two files", file)
			}
		}
	}
}

// FTP listings give only the day for older files.
func TestSameTime(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	got := []bool{
		site.SameTime(at("2020-03-04 05:06:00"), at("2020-03-04 05:06:00")),
		site.SameTime(at("2020-03-04 00:00:00"), at("2020-03-04 05:06:00")),
		site.SameTime(at("2020-03-04 05:06:00"), at("2020-03-04 00:00:00")),
		site.SameTime(at("2020-03-05 00:00:00"), at("2020-03-04 05:06:00")),
		site.SameTime(at("2020-03-04 05:07:00"), at("2020-03-04 05:06:00")),
	}
	if diff := cmp.Diff([]bool{true, true, false, false, false}, got); diff != "" {
		t.Error(diff)
	}
}
