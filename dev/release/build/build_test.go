package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

var commit = time.Date(2026, 11, 23, 12, 0, 1, 0, time.UTC) // an odd second, which zip's old format cannot express

func TestVersion(t *testing.T) {
	for _, test := range []struct{ version, tilde, alpine string }{
		{"0.1.0", "0.1.0", "0.1.0"},
		{"1.20.3", "1.20.3", "1.20.3"},
		{"0.2.0-rc.1", "0.2.0~rc.1", "0.2.0_rc1"},
		{"0.2.0-rc1", "0.2.0~rc1", "0.2.0_rc1"},
		{"0.2.0-alpha", "0.2.0~alpha", "0.2.0_alpha"},
		{"0.0.0-20261123094608-5a4eb82a1b2c", "0.0.0~20261123094608.5a4eb82a1b2c", "0.0.0_pre20261123094608"},
		{"0.1.1-0.20261123094608-5a4eb82a1b2c", "0.1.1~0.20261123094608.5a4eb82a1b2c", "0.1.1_pre20261123094608"},
		{"0.2.0-rc.1.0.20261123094608-5a4eb82a1b2c", "0.2.0~rc.1.0.20261123094608.5a4eb82a1b2c", "0.2.0_pre20261123094608"},
		{"0.2.0-nightly", "0.2.0~nightly", ""},
	} {
		v := version(test.version)
		if got := v.tilde(); got != test.tilde {
			t.Errorf("%s for deb and rpm: %q, want %q", v, got, test.tilde)
		}
		if got, err := v.alpine(); got != test.alpine || (err != nil) != (test.alpine == "") {
			t.Errorf("%s for apk: %q, %v, want %q", v, got, err, test.alpine)
		}
	}
}

// TestStamped reads this test's own program, which has no version.
func TestStamped(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if v, _, err := stamped(program); err == nil || !strings.Contains(err.Error(), "clone of the repository") {
		t.Errorf("%q, %v, want an error that says what to do", v, err)
	}
}

// TestArchives: the same files give the same bytes; modes, owners and dates are not those of the
// machine.
func TestArchives(t *testing.T) {
	list := []file{{name: "d/fetch1738", data: []byte("program"), exec: true}, {name: "d/docs/a.md", data: []byte("text")}}
	for name, pack := range map[string]func([]file, time.Time) ([]byte, error){"tar": tarred, "zip": zipped} {
		one, err1 := pack(list, commit)
		two, err2 := pack(list, commit.In(time.FixedZone("elsewhere", 9*3600)).UTC())
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s: two archives of the same files differ", name)
		}
		want := []string{"d/fetch1738 -rwxr-xr-x 2026-11-23T12:00:01Z program", "d/docs/a.md -rw-r--r-- 2026-11-23T12:00:01Z text"}
		if diff := cmp.Diff(want, contents(t, name, one)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// contents lists the files of an archive.
func contents(t *testing.T, format string, data []byte) (list []string) {
	t.Helper()
	if format == "zip" {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			body, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(body)
			list = append(list, fmt.Sprintf("%s %v %s %s", f.Name, f.Mode(), f.Modified.UTC().Format(time.RFC3339), text))
		}
		return list
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !gz.ModTime.IsZero() || gz.Name != "" {
		t.Errorf("the gzip header has the name %q and the time %v", gz.Name, gz.ModTime)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "root" {
			t.Errorf("%s belongs to %d, %d, %q", h.Name, h.Uid, h.Gid, h.Uname)
		}
		text, _ := io.ReadAll(r)
		list = append(list, fmt.Sprintf("%s %v %s %s", h.Name, h.FileInfo().Mode(), h.ModTime.UTC().Format(time.RFC3339), text))
	}
}

// TestLicences: the modules that are really linked have licences that licenceOf knows.
func TestLicences(t *testing.T) {
	modules, err := linkedModules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, m := range modules {
		got[m.path] = m.licence
	}
	want := map[string]string{
		"go.etcd.io/bbolt": "MIT", "github.com/yuin/goldmark": "MIT",
		"stdlib": "BSD-3-Clause", "golang.org/x/net": "BSD-3-Clause", "golang.org/x/sys": "BSD-3-Clause", "golang.org/x/term": "BSD-3-Clause",
		"github.com/klauspost/compress": "BSD-3-Clause",
		"golang.org/x/text":             "BSD-3-Clause", "golang.org/x/tools": "BSD-3-Clause", "github.com/spf13/pflag": "BSD-3-Clause", "github.com/ziutek/telnet": "BSD-3-Clause",
		"github.com/jimsmart/grobotstxt": "Apache-2.0",
		"github.com/jlaffaye/ftp":        "ISC", "github.com/hashicorp/go-cleanhttp": "MPL-2.0", "github.com/hashicorp/go-retryablehttp": "MPL-2.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := licenceOf([]byte("All rights reserved.")); got != "" {
		t.Errorf("licence of a text that permits nothing: %q", got)
	}
}

// TestDescriptions compares what describes a release with golden files: the SPDX document, the
// formula, the manifest, the checksums and Debian's changelog.
func TestDescriptions(t *testing.T) {
	r := &release{
		dist: t.TempDir(), version: "0.1.0", date: commit,
		modules: []linked{{path: "golang.org/x/net", version: "v0.62.0", licence: "BSD-3-Clause"}, {path: "stdlib", version: "1.26.8", licence: "BSD-3-Clause"}},
	}
	var built []target
	for name := range strings.SplitSeq(targets, ",") {
		system := parseTarget(name)
		suffix := ".tar.gz"
		if system.os == "windows" {
			suffix = ".zip"
		}
		if err := r.write(r.stem(system)+suffix, []byte("archive for "+name)); err != nil { // the bytes of a real one change with Go
			t.Fatal(err)
		}
		built = append(built, system)
	}
	if err := r.finish(built); err != nil {
		t.Fatal(err)
	}
	if err := r.write("changelog", debianChangelog(r)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fetch1738_0.1.0.spdx.json", "fetch1738_0.1.0_checksums.txt", "fetch1738.rb", "fetch1738.json", "changelog"} {
		got, err := os.ReadFile(filepath.Join(r.dist, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got), go test -update writes it:\n%s", name, diff)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(got) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

// TestSizes: the table for the page has the sizes of the program and of its archive.
// TestOwnedDirectories has each directory of a package's own, however deep its files are.
func TestOwnedDirectories(t *testing.T) {
	files := []file{{name: "usr/bin/fetch1738"}, {name: "usr/share/doc/fetch1738/README.md"}, {name: "usr/share/doc/fetch1738/docs/decisions/ftp.md"}, {name: "usr/share/doc/fetch1738x/a"}, {name: "usr/share/man/man1/fetch1738.1.gz"}}
	want := []string{"usr/share/doc/fetch1738", "usr/share/doc/fetch1738/docs", "usr/share/doc/fetch1738/docs/decisions"}
	if diff := cmp.Diff(want, ownedDirectories(files, []string{"usr/share/doc/fetch1738", "usr/share/licenses/fetch1738"})); diff != "" {
		t.Error(diff)
	}
}

func TestSizes(t *testing.T) {
	r := &release{dist: t.TempDir(), work: t.TempDir(), version: "0.1.0"}
	windows := target{"windows", "arm64"}
	err := os.Mkdir(filepath.Dir(r.path(windows)), 0o755)
	if err == nil {
		err = os.WriteFile(r.path(windows), make([]byte, 18_460_000), 0o644)
	}
	if err == nil {
		err = r.write(r.archiveName(windows), make([]byte, 7_949_999))
	}
	if err == nil {
		err = r.sizes([]target{windows})
	}
	if err != nil {
		t.Fatal(err)
	}
	const want = "| system | program | download |\n| --- | --- | --- |\n| windows/arm64 | 18.5 MB | 7.9 MB |\n"
	if got, err := os.ReadFile(filepath.Join(r.dist, "page", "sizes.md")); err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestEmptyDir: files of an earlier release are not overwritten or listed.
func TestEmptyDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dist")
	if err := emptyDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := emptyDir(dir); err == nil || !strings.Contains(err.Error(), "-o") {
		t.Errorf("%v, want an error that names -o", err)
	}
}
