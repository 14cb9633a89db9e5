package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// recorded returns a line for each resource, response and revisit in WARC files: its type, its URL,
// and its WARC-Truncated.
func recorded(t *testing.T, pattern string) (lines []string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v %v", pattern, names, err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for r := warc.NewReader(file); ; {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch rec.Type() {
			case warc.Resource, warc.Response, warc.Revisit:
				lines = append(lines, strings.TrimSpace(string(rec.Type())+" "+rec.TargetURI()+" "+rec.Header.Get(warc.FieldTruncated)))
			}
		}
	}
	return lines
}

func wantRecorded(t *testing.T, pattern string, want ...string) {
	t.Helper()
	if got := strings.Join(recorded(t, pattern), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the records are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// runs runs the program, and compares its output and exit code.
func runs(t *testing.T, code int, output string, args ...string) (stderr string) {
	t.Helper()
	cmd := program(t, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code || string(out) != output {
		t.Errorf("%q: exit code %d, output %q, %s", args, got, out, errs.String())
	}
	return errs.String()
}

// TestWARC fetches by several protocols, and once more.
func TestWARC(t *testing.T) {
	content := fstest.MapFS{"a.txt": {Data: []byte("hello\n")}, "b.bin": {Data: []byte("0123456789")}}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = content })
	dir := t.TempDir()
	name := filepath.Join(dir, "x.warc.gz")
	runs(t, 0, "hello\nhello\r\nnot found\n", "--warc", name, ftp.URL+"/a.txt", "--next", gopher.URL+"/0/a.txt", web.URL+"/none")
	wantRecorded(t, name, "resource "+ftp.URL+"/a.txt", "resource "+gopher.URL+"/0/a.txt", "response "+web.URL+"/none")
	runs(t, 0, "hello\n", "--warc", name, "--warc-version", "1.0", ftp.URL+"/a.txt")
	if last := recorded(t, name)[3]; last != "revisit "+ftp.URL+"/a.txt" {
		t.Errorf("the second time: %s", last)
	}

	// A file is written to, a listing is shown and several URLs are fetched at once, as without
	// --warc. What breaks off is fetched from its beginning.
	ftp.On("RETR b.bin", 1, testserver.Truncate(4))
	name = filepath.Join(dir, "y.warc")
	out := filepath.Join(dir, "out")
	runs(t, 0, "", "-s", "--warc", name, "--retry", "1", "--retry-delay", "0.001", "-o", out, ftp.URL+"/b.bin")
	if octets, err := os.ReadFile(out); err != nil || string(octets) != "0123456789" {
		t.Errorf("%q %v", octets, err)
	}
	wantRecorded(t, name, "resource "+ftp.URL+"/b.bin disconnect", "resource "+ftp.URL+"/b.bin")
	name = filepath.Join(dir, "z.warc.gz")
	runs(t, 0, "", "-s", "-Z", "--segments", "4", "--warc", name, "-o", out, ftp.URL+"/b.bin", "-o", out+"2", gopher.URL+"/")
	if lines := recorded(t, name); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}

// TestWARCRefused has options that ask for a part of a document, or for an upload, and files that
// cannot be written.
func TestWARCRefused(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.warc")
	for option, value := range map[string]string{"-I": "", "-C": "-", "-r": "0-1", "-T": "f"} {
		args := []string{"--warc", name, option}
		if value != "" {
			args = append(args, value)
		}
		stderr := runs(t, 2, "", append(args, "ftp://localhost/a")...)
		if want := "--warc records whole documents from servers; it cannot be combined with " + option; !strings.Contains(stderr, want) {
			t.Errorf("%s: %s", option, stderr)
		}
	}
	runs(t, 2, "", "--warc", "-", "ftp://localhost/a")
	runs(t, 2, "", "--warc", name, "--warc-version", "2", "ftp://localhost/a")
	runs(t, 2, "", "mirror", "--warc", dir, "--dry-run", "ftp://localhost/a/", filepath.Join(dir, "copy"))
	runs(t, 2, "", "mirror", "--warc", dir, dir, "ftp://localhost/a/")
	stderr := runs(t, 23, "", "--warc", filepath.Join(dir, "none", "x.warc"), "ftp://localhost/a")
	if !strings.Contains(stderr, "the archive "+filepath.Join(dir, "none", "x.warc")+" (--warc): ") {
		t.Errorf("%s", stderr)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		t.Errorf("what was refused has left %v, %v", found, err)
	}
}

// TestMirrorWARC mirrors a tree twice. The second run fetches and records only what has changed.
func TestMirrorWARC(t *testing.T) {
	old := time.Unix(1e9, 0)
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a": {Data: []byte("a\n"), ModTime: old}, "sub/b": {Data: []byte("b\n"), ModTime: old}}
	})
	dir := t.TempDir()
	run := func(folder string) string {
		archive := filepath.Join(dir, folder)
		if stderr := runs(t, 0, "", "mirror", "-s", "--connections", "1", "--warc", archive, srv.URL+"/", filepath.Join(dir, "copy")); stderr != "" {
			t.Errorf("%s", stderr)
		}
		return filepath.Join(archive, "*.warc.gz")
	}
	root, sub := srv.URL+"/", srv.URL+"/sub/"
	wantRecorded(t, run("1"), "resource "+root, "resource "+sub, "resource "+root+"a", "resource "+sub+"b")
	srv.PutModified("a", []byte("new\n"), old.Add(time.Hour))
	wantRecorded(t, run("2"), "resource "+root, "resource "+sub, "resource "+root+"a")
	small := filepath.Join(dir, "small") // each access begins another file
	runs(t, 0, "", "mirror", "-s", "--warc", small, "--warc-size", "1", "--warc-version", "1.0", root, filepath.Join(dir, "copy2"))
	if files, err := filepath.Glob(filepath.Join(small, "*.warc.gz")); err != nil || len(files) != 4 {
		t.Errorf("%q, %v", files, err)
	}
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("a\n")}} })
	for range 2 { // the second run adds a file to the folder, and knows what the first one has
		runs(t, 0, "", "mirror", "-s", "--connections", "1", "--warc", filepath.Join(dir, "3"), gopher.URL+"/", filepath.Join(dir, "copy3"))
	}
	wantRecorded(t, filepath.Join(dir, "3", "*.warc.gz"), "resource "+gopher.URL+"/", "resource "+gopher.URL+"/0/a.txt",
		"revisit "+gopher.URL+"/", "revisit "+gopher.URL+"/0/a.txt")
}
