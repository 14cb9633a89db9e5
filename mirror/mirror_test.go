package mirror_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// modified is the modification time of the files in tests.
var modified = time.Date(2020, time.March, 4, 5, 6, 7, 0, time.UTC)

// write writes files to a folder, by their names.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, modified, modified),
		); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the files in a folder, except those in mirror.Folder. The names of empty folders end
// in a slash.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case name == mirror.Folder:
			return fs.SkipDir
		case e.IsDir():
			entries, err := os.ReadDir(path)
			if len(entries) == 0 {
				files[filepath.ToSlash(name)+"/"] = ""
			}
			return err
		}
		b, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sameFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, read(t, dir)); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
	for file, sum := range sums(t, dir) {
		if got := sha256.Sum256([]byte(want[file])); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s has another checksum in the manifest", file)
		}
	}
}

// sums returns the checksums in the manifest, of files that are not gone.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(mirror.ManifestFile)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := make(map[string]string)
	for line, err := range mirror.ReadManifest(f) {
		if err != nil {
			t.Fatal(err)
		}
		if line.SHA256 != "" && !line.Gone {
			list[line.File] = line.SHA256
		}
	}
	return list
}

// start returns a Mirror of url with a new Resolver.
func start(t *testing.T, url string) *mirror.Mirror {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.AllGroups}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	r := new(fetch1738.Resolver)
	t.Cleanup(func() { r.Close() })
	return &mirror.Mirror{Fetcher: r, Start: ref.Locator, Dir: filepath.Join(t.TempDir(), "copy")}
}

// counts returns a Summary with Octets set to 0.
func counts(s mirror.Summary) mirror.Summary {
	s.Octets = 0
	return s
}

// ran runs m and checks its Summary.
func ran(t *testing.T, m *mirror.Mirror, want mirror.Summary) {
	t.Helper()
	got, err := m.Run(t.Context())
	if diff := cmp.Diff(want, counts(got)); diff != "" || (err != nil) != (want.Failed > 0) {
		t.Errorf("%v, and differs (-want +got):\n%s", err, diff)
	}
}

// asked returns the commands of one kind that a server has received.
func asked(s *testserver.Server, verb string) (lines []string) {
	for _, line := range s.Transcript().From(testserver.FromClient) {
		if strings.HasPrefix(line, verb) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

var someFiles = map[string]string{
	"pub/README": "read me\n", "pub/a b.txt": "space\n", "pub/old/a.txt": "old\n", "pub/old/deep/er/b.bin": "\x00\x01", "other/not.txt": "not\n",
}

var somePub = map[string]string{"README": "read me\n", "a b.txt": "space\n", "old/a.txt": "old\n", "old/deep/er/b.bin": "\x00\x01"}

// serveFTP serves files from a folder. The server does not support the commands in hide.
func serveFTP(t *testing.T, files map[string]string, hide ...string) (*ftptest.Server, string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Hide = os.DirFS(dir), hide }), dir
}

func TestFTP(t *testing.T) {
	for _, hide := range [][]string{nil, {"MLST", "MLSD"}, {"FEAT"}} {
		t.Run(fmt.Sprint(hide), func(t *testing.T) { testFTP(t, hide) })
	}
}

func testFTP(t *testing.T, hide []string) {
	srv, dir := serveFTP(t, someFiles, hide...)
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 4})
	sameFiles(t, m.Dir, somePub)
	if info, err := os.Stat(filepath.Join(m.Dir, "README")); err != nil || info.ModTime().UTC().Format(time.DateOnly) != "2020-03-04" {
		t.Errorf("README: %v, %v", info.ModTime(), err)
	}

	srv.ResetTranscript()
	ran(t, m, mirror.Summary{Unchanged: 4})
	if got := asked(&srv.Server, "RETR"); len(got) > 0 {
		t.Errorf("fetched again: %q", got)
	}

	write(t, dir, map[string]string{"pub/README": "read me again\n", "pub/new": "new\n"})
	if err := os.Remove(filepath.Join(dir, "pub/old/a.txt")); err != nil {
		t.Fatal(err)
	}
	srv.ResetTranscript()
	var gone []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Gone {
			gone = append(gone, e.File)
		}
	}
	ran(t, m, mirror.Summary{New: 1, Changed: 1, Unchanged: 2, Gone: 1})
	want := map[string]string{"README": "read me again\n", "new": "new\n", "a b.txt": "space\n", "old/a.txt": "old\n", "old/deep/er/b.bin": "\x00\x01"}
	sameFiles(t, m.Dir, want)
	if diff := cmp.Diff([]string{"RETR README", "RETR new"}, asked(&srv.Server, "RETR")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"old/a.txt"}, gone); diff != "" {
		t.Error(diff)
	}
	ran(t, m, mirror.Summary{Unchanged: 4}) // a deleted file is reported once
}

// The manifest has a line with a checksum for each file.
func TestManifest(t *testing.T) {
	srv, _ := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub/")
	ran(t, m, mirror.Summary{New: 4})
	f, err := os.Open(filepath.Join(m.Dir, filepath.FromSlash(mirror.ManifestFile)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make(map[string]string)
	for line, err := range mirror.ReadManifest(f) {
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(line.URL, srv.URL)] = fmt.Sprint(line.File, " ", line.Size, " ", line.SHA256)
		if line.Time.IsZero() {
			t.Errorf("%s has no time", line.URL)
		}
	}
	want := map[string]string{"/pub/": " -1 "}
	for name, text := range somePub {
		sum := sha256.Sum256([]byte(text))
		want["/pub/"+strings.ReplaceAll(name, " ", "%20")] = fmt.Sprint(name, " ", len(text), " ", hex.EncodeToString(sum[:]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDelete(t *testing.T) {
	srv, dir := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 4})
	write(t, m.Dir, map[string]string{"old/mine": "mine\n"})
	if err := os.WriteFile(filepath.Join(m.Dir, "README"), []byte("written to\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pub/README", "pub/a b.txt", "pub/old"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.Delete, m.MaxDelete, m.DryRun = true, 4, true // the folder lists nothing now
	ran(t, m, mirror.Summary{Gone: 4})
	if got := read(t, m.Dir); len(got) != 5 {
		t.Errorf("a dry run deleted files: %q", got)
	}
	m.DryRun = false
	ran(t, m, mirror.Summary{Gone: 4})
	sameFiles(t, m.Dir, map[string]string{"README": "written to\n", "old/mine": "mine\n"})
}

// An incomplete file is resumed, unless it has changed.
func TestResume(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 20<<10)
	for _, changed := range []bool{false, true} {
		srv, dir := serveFTP(t, map[string]string{"big": big, "small": "small\n"}, "MLST", "MLSD")
		m := start(t, srv.URL+"/")
		m.Connections = 1
		srv.On("RETR", 1, testserver.Truncate(100_000))
		got, err := m.Run(t.Context())
		if counts(got) != (mirror.Summary{New: 1, Failed: 1}) || !errors.Is(err, fetch.ErrTruncated) {
			t.Errorf("truncated transfer: %+v, %v", got, err)
		}
		sameFiles(t, m.Dir, map[string]string{"small": "small\n"})
		want, rest := big, []string{"REST 95904"}
		if changed { // its date too, but not in the listing
			want, rest = strings.ToUpper(big), []string{"REST 95904"}
			path := filepath.Join(dir, "big")
			if err := errors.Join(os.WriteFile(path, []byte(want), 0o644), os.Chtimes(path, modified, modified.Add(time.Second))); err != nil {
				t.Fatal(err)
			}
		}
		srv.ResetTranscript()
		ran(t, m, mirror.Summary{New: 1, Unchanged: 1})
		sameFiles(t, m.Dir, map[string]string{"small": "small\n", "big": want})
		if diff := cmp.Diff(rest, asked(&srv.Server, "REST")); diff != "" {
			t.Error(diff)
		}
		if entries, err := os.ReadDir(filepath.Join(m.Dir, mirror.Folder)); err != nil || len(entries) != 1 {
			t.Errorf("left over: %v, %v", entries, err)
		}
	}
}

// An incomplete file is not completed by a server that ignores REST, nor by a file that has changed
// without a sign. The size shows it where the compared bytes are equal.
func TestAnotherPart(t *testing.T) {
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&text, "%09d\n", i)
	}
	for name, tc := range map[string]struct {
		old, now string
		stage    string
		fault    ftptest.Fault
	}{
		"REST ignored":             {text.String(), text.String(), "REST", testserver.FromStart()},
		"REST ignored, all zeros":  {strings.Repeat("\x00", 300_000), strings.Repeat("\x00", 300_000), "REST", testserver.FromStart()},
		"changed, same size, time": {strings.Repeat("x", 300_000), text.String(), "NOOP", testserver.Close()},
	} {
		srv, dir := serveFTP(t, map[string]string{"big": tc.old})
		m := start(t, srv.URL+"/")
		m.Connections = 1
		srv.On("RETR", 1, testserver.Truncate(128_000))
		if _, err := m.Run(t.Context()); !errors.Is(err, fetch.ErrTruncated) {
			t.Fatalf("%s: %v", name, err)
		}
		write(t, dir, map[string]string{"big": tc.now})
		srv.ResetFaults()
		srv.On(tc.stage, 0, tc.fault)
		ran(t, m, mirror.Summary{New: 1})
		sameFiles(t, m.Dir, map[string]string{"big": tc.now})
		if len(asked(&srv.Server, "REST")) != 1 {
			t.Errorf("%s: not resumed", name)
		}
		srv.ResetFaults()
	}
}

// An incomplete file in which something has changed the first bytes is not completed.
func TestChangedPart(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 20<<10)
	srv, _ := serveFTP(t, map[string]string{"big": big})
	m := start(t, srv.URL+"/")
	srv.On("RETR", 1, testserver.Truncate(100_000))
	if _, err := m.Run(t.Context()); !errors.Is(err, fetch.ErrTruncated) {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(m.Dir, mirror.Folder, "*.part"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	text, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	text[0] = 'X'
	if err := os.WriteFile(parts[0], text, 0o666); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{New: 1})
	sameFiles(t, m.Dir, map[string]string{"big": big})
}

// After a cancelled run the next one resumes.
func TestInterrupted(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 20<<10)
	srv, _ := serveFTP(t, map[string]string{"a": "a\n", "big": big, "z": "z\n"})
	m := start(t, srv.URL+"/")
	m.Connections = 1
	srv.On("RETR", 2, testserver.Drip(20_000, time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var octets atomic.Int64
	got, err := m.Run(fetch.WithTrace(ctx, &fetch.Trace{Body: func(n int64) {
		if octets.Add(n) > 15_000 {
			cancel()
		}
	}}))
	if counts(got) != (mirror.Summary{New: 1}) || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := srv.PendingFaults(); err != nil {
		t.Error(err)
	}
	srv.ResetFaults()
	srv.ResetTranscript()
	ran(t, m, mirror.Summary{New: 2, Unchanged: 1})
	sameFiles(t, m.Dir, map[string]string{"a": "a\n", "big": big, "z": "z\n"})
	if got := asked(&srv.Server, "REST"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// An incomplete line left by a crash is skipped, and nothing is appended to it.
func TestTornManifest(t *testing.T) {
	srv, _ := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 4})
	name := filepath.Join(m.Dir, filepath.FromSlash(mirror.ManifestFile))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b[:len(b)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 4}) // the file of that line agrees with the listing
	if again, err := os.ReadFile(name); err != nil || bytes.Count(again, []byte("\n")) != bytes.Count(b, []byte("\n")) {
		t.Errorf("the manifest is %q, was %q; %v", again, b, err)
	}
}

// Existing files that agree with the listing count as copied; others are kept and fail.
func TestForeignFiles(t *testing.T) {
	srv, _ := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	write(t, m.Dir, map[string]string{"README": "mine, not to be lost\n", "a b.txt": "space\n"})
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{New: 2, Unchanged: 1, Failed: 1}) || !errors.Is(err, fs.ErrExist) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := read(t, m.Dir)["README"]; got != "mine, not to be lost\n" {
		t.Errorf("README is %q", got)
	}
}

// TestChangedCopy tests that a file of the copy which is no longer what the manifest says is fetched
// again, and replaced also if the server has what the manifest says. Without times, only the bytes
// show that.
func TestChangedCopy(t *testing.T) {
	files := map[string]string{"a.txt": "from the server\r\n"}
	ftp, _ := serveFTP(t, files)
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte(files["a.txt"])}, "gophermap": {Data: []byte("0A\t/a.txt\n")}}
	})
	for name, m := range map[string]*mirror.Mirror{"ftp": start(t, ftp.URL+"/"), "gopher": start(t, gopher.URL+"/")} {
		t.Run(name, func(t *testing.T) {
			if _, err := m.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(m.Dir, "a.txt")
			if err := os.WriteFile(path, []byte("from the user..\r\n"), 0o644); err != nil { // of the same size
				t.Fatal(err)
			}
			got, err := m.Run(t.Context())
			if text := read(t, m.Dir)["a.txt"]; text != files["a.txt"] || got.Changed != 1 || err != nil {
				t.Errorf("%q, %+v, %v", text, got, err)
			}
		})
	}
}

// A directory is the copy of one tree, and only one run at a time may use it.
func TestOneTree(t *testing.T) {
	srv, _ := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 4})
	other := start(t, srv.URL+"/other")
	other.Dir = m.Dir
	if _, err := other.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is already a mirror of "+srv.URL+"/pub/") {
		t.Errorf("%v", err)
	}
	mistyped := start(t, srv.URL+"/pbu")
	if _, err := mistyped.Run(t.Context()); !errors.Is(err, fetch.ErrNotFound) {
		t.Error(err)
	}
	other.Dir = mistyped.Dir
	ran(t, other, mirror.Summary{New: 1})
	var inside error
	again := *m
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Planned {
			_, inside = again.Run(t.Context())
		}
	}
	ran(t, m, mirror.Summary{Unchanged: 4})
	if inside == nil || !strings.Contains(inside.Error(), "another mirror is running") {
		t.Errorf("two at once: %v", inside)
	}
}

// Of runs that begin at any time in one directory, each one is alone or fails. A run that ends does
// not take away what the next one has begun.
func TestAtOnce(t *testing.T) {
	text := strings.Repeat("All files of a gopher menu are fetched by every run.\r\n", 500)
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte(text)}, "b.txt": {Data: []byte(text)}}
	})
	m := start(t, srv.URL)
	var complete atomic.Int64
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for complete.Load() < 50 {
				again := *m
				switch sum, err := again.Run(t.Context()); {
				case err == nil && sum.Failed == 0:
					complete.Add(1)
				case !strings.Contains(fmt.Sprint(err), "another mirror is running"):
					t.Errorf("%v: %+v", err, sum)
					return
				}
			}
		})
	}
	workers.Wait()
	ran(t, m, mirror.Summary{Unchanged: 3})
	left, err := filepath.Glob(filepath.Join(m.Dir, mirror.Folder, "*"))
	if len(left) != 1 || err != nil {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestDryRun(t *testing.T) {
	srv, _ := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	m.DryRun = true
	var files []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Added {
			files = append(files, e.File)
		}
	}
	ran(t, m, mirror.Summary{New: 4})
	if diff := cmp.Diff([]string{"README", "a b.txt", "old/a.txt", "old/deep/er/b.bin"}, files); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(m.Dir); !errors.Is(err, fs.ErrNotExist) || len(asked(&srv.Server, "RETR")) > 0 {
		t.Errorf("%v, %q", err, asked(&srv.Server, "RETR"))
	}
}

// TestDryRunOrder checks the order of events with so large a number of files that concurrent
// reports would be out of order.
func TestDryRunOrder(t *testing.T) {
	many := make(map[string]string)
	for i := range 500 {
		many[fmt.Sprintf("pub/%03d", i)] = "x"
	}
	srv, _ := serveFTP(t, many)
	m := start(t, srv.URL+"/pub")
	m.DryRun = true
	var files []string
	m.Report = func(e mirror.Event) {
		if runtime.Gosched(); e.Action == mirror.Added {
			files = append(files, e.File)
		}
	}
	ran(t, m, mirror.Summary{New: 500})
	if !slices.IsSorted(files) {
		t.Errorf("%q", files)
	}
}

// Files left out by filters and depth do not count as gone.
func TestParts(t *testing.T) {
	srv, _ := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 4})
	for _, part := range []struct {
		include, exclude []string
		depth            int
		want             int
	}{
		{depth: 1, want: 2},
		{depth: 2, want: 3},
		{include: []string{"*.txt"}, want: 2},
		{include: []string{"*.txt"}, exclude: []string{"old/"}, want: 1},
		{exclude: []string{"old/**/*.bin"}, want: 3},
		{include: []string{"old/*"}, want: 1},
	} {
		m.Include, m.Exclude, m.Depth, m.Delete = part.include, part.exclude, part.depth, true
		ran(t, m, mirror.Summary{Unchanged: part.want})
	}
	sameFiles(t, m.Dir, somePub)
}

// Files below a listing that fails do not count as gone; other files are still fetched.
func TestFailedListing(t *testing.T) {
	srv, dir := serveFTP(t, someFiles)
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 4})
	if err := os.Remove(filepath.Join(dir, "pub/README")); err != nil {
		t.Fatal(err)
	}
	srv.On("CWD old", 0, testserver.Reply("550 Not now."))
	m.Delete, m.Connections = true, 1
	ran(t, m, mirror.Summary{Unchanged: 1, Gone: 1, Failed: 1})
	sameFiles(t, m.Dir, map[string]string{"a b.txt": "space\n", "old/a.txt": "old\n", "old/deep/er/b.bin": "\x00\x01"})
}

// A directory that vsftpd cannot read is not an empty one: it is a failure, and nothing below it
// counts as gone.
func TestUnreadableDirectory(t *testing.T) {
	closed := ""
	srv := ftptest.New(t, ftptest.VSFTPD, func(s *ftptest.Server) {
		s.Content = unreadable{fstest.MapFS{"pub/README": {Data: []byte("read me\n")}, "pub/old/a.txt": {Data: []byte("old\n")}}, &closed}
	})
	m := start(t, srv.URL+"/pub")
	ran(t, m, mirror.Summary{New: 2})
	closed, m.Delete = "pub/old", true
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{Unchanged: 1, Failed: 1}) || !errors.Is(err, fetch.ErrPermission) {
		t.Errorf("%+v, %v", got, err)
	}
	sameFiles(t, m.Dir, map[string]string{"README": "read me\n", "old/a.txt": "old\n"})
}

// unreadable is a file system with a directory that can be entered, but not read.
type unreadable struct {
	fs.FS
	dir *string
}

func (u unreadable) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == *u.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return fs.ReadDir(u.FS, name)
}

// Files missing from a listing that the server itself calls truncated do not count as gone.
// pure-ftpd truncates listings after 10,000 entries.
func TestTruncatedListing(t *testing.T) {
	for _, hide := range [][]string{nil, {"MLST", "MLSD"}} {
		srv, _ := serveFTP(t, someFiles, hide...)
		m := start(t, srv.URL+"/pub")
		m.Delete, m.Connections = true, 1
		ran(t, m, mirror.Summary{New: 4})
		listing, verb := "type=file;size=8;modify=20200304050607; README\r\n", "MLSD"
		if hide != nil {
			listing, verb = "-rw-r--r--   1 0  0  8 Mar  4  2020 README\r\n", "LIST"
		}
		srv.On(verb, 1, testserver.Data(listing))
		srv.On("END", 1, testserver.Reply("226 Output truncated to 1 matches"))
		got, err := m.Run(t.Context())
		if counts(got) != (mirror.Summary{Unchanged: 1, Failed: 1}) || !errors.Is(err, fetch.ErrTruncated) {
			t.Errorf("%s: %+v, %v", verb, got, err)
		}
		sameFiles(t, m.Dir, somePub)
		srv.ResetFaults()
		ran(t, m, mirror.Summary{Unchanged: 4})
	}
}

// Files of a directory with lines that are not understood, or whose last line is cut, do not count
// as gone, although the server calls the listing complete. Nor do those below it. A mirror without
// the files of such lines is not whole: that is a failure.
func TestUnreadListing(t *testing.T) {
	const mlsd, list = "type=file;size=8;modify=20200304050607; README\r\n", "-rw-r--r--   1 0  0  8 Mar  4  2020 README\r\n"
	for _, c := range []struct {
		verb, listing string
		want          mirror.Action
	}{
		{"MLSD", mlsd + "type=file;size=6;modify=2020030405060", mirror.Failed}, {"MLSD", mlsd + "who knows what this is\r\n", mirror.Failed}, {"MLSD", strings.TrimSpace(mlsd), mirror.Skipped},
		{"LIST", list + "-rw-r--r--   1 0  0  6 Mar  4", mirror.Failed}, {"LIST", list + "who knows what this is\r\n", mirror.Failed}, {"LIST", strings.TrimSpace(list), mirror.Skipped},
		{"LIST", list + "-rw-r--r--   1 0  0  6 Foo  4  2020 a b.txt\r\n", mirror.Failed}, // NLST has "old", too
	} {
		var hide []string
		if c.verb == "LIST" {
			hide = []string{"MLST", "MLSD"}
		}
		srv, _ := serveFTP(t, someFiles, hide...)
		m := start(t, srv.URL+"/pub")
		m.Delete, m.Connections = true, 1
		ran(t, m, mirror.Summary{New: 4})
		srv.On(c.verb, 1, testserver.Data(c.listing))
		var events []mirror.Event
		m.Report = func(e mirror.Event) {
			if e.Action == mirror.Skipped || e.Action == mirror.Failed {
				events = append(events, e)
			}
		}
		sum, reason := mirror.Summary{Unchanged: 1, Skipped: 1}, mirror.ErrCut
		if c.want == mirror.Failed {
			sum, reason = mirror.Summary{Unchanged: 1, Failed: 1}, fetch.ErrProtocol
		}
		ran(t, m, sum)
		if len(events) != 1 || events[0].Action != c.want || !errors.Is(events[0].Err, reason) || events[0].URL != srv.URL+"/pub/" {
			t.Errorf("%q: %+v", c.listing, events)
		}
		sameFiles(t, m.Dir, somePub)
		srv.ResetFaults()
		ran(t, m, mirror.Summary{Unchanged: 4})
	}
}

// serveStrangely serves files from a folder, with listings in a format that nobody knows. LIST is
// refused if that is "".
func serveStrangely(t *testing.T, files map[string]string, format string) (*ftptest.Server, string) {
	dir := t.TempDir()
	write(t, dir, files)
	return ftptest.New(t, func(s *ftptest.Server) {
		s.Content, s.Hide, s.BareNLST = os.DirFS(dir), []string{"MLSD", "MLST"}, true
		if format == "" {
			s.Hide = append(s.Hide, "LIST")
		}
		s.Listing = func(l ftptest.Listing) []string {
			lines := l.Usual()
			for i, e := range l.Entries {
				if l.Command == "LIST" {
					lines[i] = format + e.Name()
				}
			}
			return lines
		}
	}), dir
}

// A tree whose listings are not understood is copied by the names of NLST, with the sizes and times
// that the server states. What is no longer listed is gone, unless only NLST lists it: then a
// directory may be missing. A name that may be a directory is not a file that replaces one.
func TestNamesOnly(t *testing.T) {
	for _, format := range []string{"1 Foo 2024 | ", ""} {
		srv, dir := serveStrangely(t, someFiles, format)
		m := start(t, srv.URL+"/pub")
		m.Delete, m.Connections = true, 1
		skipped := map[string]int{"": 4}[format] // nothing in these directories counts as gone
		ran(t, m, mirror.Summary{New: 4, Skipped: skipped})
		sameFiles(t, m.Dir, somePub)
		if info, err := os.Stat(filepath.Join(m.Dir, "README")); err != nil || info.ModTime().UTC().Format(time.DateOnly) != "2020-03-04" {
			t.Errorf("README: %v, %v", info.ModTime(), err)
		}
		srv.ResetTranscript()
		ran(t, m, mirror.Summary{Unchanged: 4, Skipped: skipped})
		if got := asked(&srv.Server, "RETR"); len(got) > 0 {
			t.Errorf("fetched again: %q", got)
		}
		if err := os.Remove(filepath.Join(dir, "pub/a b.txt")); err != nil {
			t.Fatal(err)
		}
		sum := mirror.Summary{Unchanged: 3, Gone: 1}
		if format == "" {
			sum = mirror.Summary{Unchanged: 3, Skipped: 4}
		}
		ran(t, m, sum)
		again := start(t, srv.URL+"/pub")
		again.Delete, again.Connections, again.Dir = true, 1, m.Dir
		srv.On("CWD", 2, testserver.Reply("550 Permission denied.")) // of old, which may be a file then
		if got, err := again.Run(t.Context()); err == nil || got.Gone > 0 || got.Failed != 1 {
			t.Errorf("%q: %+v %v", format, got, err)
		}
		srv.ResetFaults()
		sum.Gone = 0
		ran(t, again, sum)
	}
}

// A file whose name follows a path is on the server, whether the path is understood or not: it does
// not count as gone.
func TestNamesWithPath(t *testing.T) {
	for _, c := range []struct {
		path string
		want mirror.Summary
	}{
		{"./", mirror.Summary{Unchanged: 4}}, {"pub/", mirror.Summary{Unchanged: 4}}, {"/pub/", mirror.Summary{Unchanged: 4}},
		{"/elsewhere/", mirror.Summary{Unchanged: 3, Failed: 1}}, {"old/", mirror.Summary{Unchanged: 3, Failed: 1}}, {"../", mirror.Summary{Unchanged: 3, Failed: 1}},
	} {
		for verb, listing := range map[string]string{
			"MLSD": "type=file;size=8;modify=20200304050607; README\r\ntype=file;size=6;modify=20200304050607; PATHa b.txt\r\ntype=dir; old\r\n",
			"LIST": "-rw-r--r--   1 0  0  8 Mar  4  2020 README\r\n-rw-r--r--   1 0  0  6 Mar  4  2020 PATHa b.txt\r\ndrwxr-xr-x   1 0  0  0 Mar  4  2020 old\r\n",
		} {
			var hide []string
			if verb == "LIST" {
				hide = []string{"MLST", "MLSD", "NLST"}
			}
			srv, _ := serveFTP(t, someFiles, hide...)
			m := start(t, srv.URL+"/pub")
			m.Delete, m.Connections = true, 1
			ran(t, m, mirror.Summary{New: 4})
			srv.On(verb, 1, testserver.Data(strings.ReplaceAll(listing, "PATH", c.path)))
			ran(t, m, c.want)
			sameFiles(t, m.Dir, somePub)
		}
	}
}

// Files whose names begin with a dot are copied from servers that list them only by LIST -a. If
// they are not listed because they are not asked for, or because the server takes "-a" for a name,
// they do not count as gone; others do.
func TestHiddenFiles(t *testing.T) {
	files := map[string]string{".htaccess": "deny\n", "index.html": "index\n", "old.html": "old\n", ".well-known/a.txt": "a\n", "sub/.hidden": "hidden\n", "sub/b": "b\n"}
	copied := maps.Clone(files)
	dir := t.TempDir()
	write(t, dir, files)
	srv := ftptest.New(t, ftptest.VSFTPD, func(s *ftptest.Server) { s.Content = os.DirFS(dir) })
	m := start(t, srv.URL+"/")
	m.Delete = true
	ran(t, m, mirror.Summary{New: 6})
	sameFiles(t, m.Dir, copied)
	ran(t, m, mirror.Summary{Unchanged: 6})

	if err := errors.Join(os.Remove(filepath.Join(dir, "old.html")), os.Remove(filepath.Join(dir, ".htaccess"))); err != nil {
		t.Fatal(err)
	}
	delete(copied, "old.html")
	m.NoHidden = true
	ran(t, m, mirror.Summary{Unchanged: 2, Gone: 1})
	sameFiles(t, m.Dir, copied)
	m.NoHidden = false
	srv.On("LIST -a", 0, testserver.Reply("550 -a: No such file."))
	ran(t, m, mirror.Summary{Unchanged: 2})
	sameFiles(t, m.Dir, copied)
	srv.ResetFaults()
	m.Options = &ftp.Options{ListCommand: "LIST"}
	ran(t, m, mirror.Summary{Unchanged: 2})
	sameFiles(t, m.Dir, copied)

	m.Fetcher, m.Options = start(t, srv.URL+"/").Fetcher, nil // which has not seen the refusal
	ran(t, m, mirror.Summary{Unchanged: 4, Gone: 1})
	delete(copied, ".htaccess")
	sameFiles(t, m.Dir, copied)
}

// A server that lists names with a dot by LIST, as some of them show, has no more of them.
func TestListedHiddenFiles(t *testing.T) {
	srv, dir := serveFTP(t, map[string]string{".a": "a", ".b": "b", "c": "c"}, "MLSD", "MLST")
	m := start(t, srv.URL+"/")
	m.NoHidden, m.Delete = true, true
	ran(t, m, mirror.Summary{New: 3})
	if err := os.Remove(filepath.Join(dir, ".a")); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 2, Gone: 1})
}

// The number of connections is lowered for a server that refuses more, or closes or resets
// them without a reply.
func TestCrowded(t *testing.T) {
	files := make(map[string]string)
	for i := range 40 {
		files[fmt.Sprint("f", i)] = fmt.Sprint("file ", i)
	}
	for name, fault := range map[string]ftptest.Fault{
		"a reply": testserver.Reply("421 There are too many connections from your internet address."),
		"closed":  testserver.Close(),
		"reset":   testserver.Reset(0),
	} {
		srv, _ := serveFTP(t, files)
		for n := 3; n < 10; n++ {
			srv.On("CONNECT", n, fault)
		}
		m := start(t, srv.URL+"/")
		m.Connections = 8
		t.Log(name)
		ran(t, m, mirror.Summary{New: 40})
		sameFiles(t, m.Dir, files)
		srv.ResetFaults() // the number of attempts may vary
	}
}

// A tree is mirrored over ftps as over ftp.
func TestFTPS(t *testing.T) {
	https := httptest.NewTLSServer(nil) // used for its certificate and authority
	defer https.Close()
	trusting := https.Client().Transport.(*http.Transport).TLSClientConfig
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.TLS, s.ImplicitTLS = https.TLS, true
		s.Content = fstest.MapFS{"pub/a": {Data: []byte("a\n"), ModTime: modified}, "pub/d/b": {Data: []byte("b\n"), ModTime: modified}}
	})
	m := start(t, srv.URL+"/pub")
	f := &ftp.Fetcher{Env: &fetch.Env{TLS: func() (*tls.Config, error) { return trusting, nil }}}
	t.Cleanup(func() { f.Close() })
	m.Fetcher = f
	ran(t, m, mirror.Summary{New: 2})
	ran(t, m, mirror.Summary{Unchanged: 2})
	sameFiles(t, m.Dir, map[string]string{"a": "a\n", "d/b": "b\n"})
	if !strings.HasPrefix(srv.URL, "ftps:") {
		t.Error(srv.URL)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, someFiles)
	if err := errors.Join(
		os.Symlink("..", filepath.Join(dir, "pub/loop")), os.Symlink("/etc/passwd", filepath.Join(dir, "pub/passwd")),
		os.Symlink("README", filepath.Join(dir, "pub/link")), os.MkdirAll(filepath.Join(dir, "pub/empty"), 0o755),
	); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no links on this system:", err)
	}
	m := start(t, (&locator.File{Segments: strings.Split(strings.Trim(filepath.ToSlash(dir), "/")+"/pub", "/")}).String())
	ran(t, m, mirror.Summary{New: 4, Skipped: 3})
	want := map[string]string{"empty/": ""}
	for name, text := range somePub {
		want[name] = text
	}
	sameFiles(t, m.Dir, want)
	ran(t, m, mirror.Summary{Unchanged: 4, Skipped: 3})
}

func TestRefused(t *testing.T) {
	for url, want := range map[string]string{
		"http://h/":            "only ftp, gopher, file, news and nntp",
		"mailto:a@b":           "only ftp, gopher, file, news and nntp",
		"ftp://h/x;type=a":     "remove ;type=a",
		"gopher://h/0readme":   "type 1",
		"gopher://h/7find%09x": "type 1",
		"news:*":               "give the name of a newsgroup",
		"nntp://h/":            "nntp://h/comp.lang.go",
		"news:a@b":             "give the name of a newsgroup",
		"nntp://h/g/1":         "not a single article",
	} {
		m := start(t, url)
		_, err := m.Run(t.Context())
		if !errors.Is(err, fetch.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
		if _, err := os.Stat(m.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory was created", url)
		}
	}
	m := start(t, "ftp://h/")
	m.Exclude = []string{"[a"}
	if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `invalid pattern "[a"`) {
		t.Error(err)
	}
	if _, err := new(mirror.Mirror).Run(t.Context()); err == nil {
		t.Error("an empty Mirror runs")
	}
}

// Links and devices in a listing are skipped.
func TestFTPLinks(t *testing.T) {
	srv, _ := serveFTP(t, map[string]string{"a": "a\n"}, "MLST", "MLSD")
	srv.On("LIST", 1, testserver.Data("lrwxrwxrwx   1 0  0  7 Mar  4  2020 up -> ../../etc\r\n"+
		"brw-rw----   1 0  6  8, 0 Mar  4  2020 sda\r\n-rw-r--r--   1 0  0  2 Mar  4  2020 a\r\n"))
	m := start(t, srv.URL+"/")
	var skipped []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Skipped {
			skipped = append(skipped, e.File+": "+e.Err.Error())
		}
	}
	ran(t, m, mirror.Summary{New: 1, Skipped: 2})
	if diff := cmp.Diff([]string{"up: symbolic link", "sda: not a regular file or directory"}, skipped); diff != "" {
		t.Error(diff)
	}
}

// TestHostBeyondASCII checks that the items of a server are on that server, whose name they have in
// ASCII.
func TestHostBeyondASCII(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a": {Data: []byte("a"), ModTime: modified}, "d/b": {Data: []byte("b"), ModTime: modified}}
	})
	m := start(t, srv.URL+"/")
	at := *m.Start.(*locator.FTP)
	at.Host = "münchen.example"
	m.Start = &at
	m.Fetcher.(*fetch1738.Resolver).Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if host != "xn--mnchen-3ya.example" && host != "127.0.0.1" || err != nil {
			t.Errorf("dialled %s, %v", address, err)
		}
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}
	ran(t, m, mirror.Summary{New: 2})
	ran(t, m, mirror.Summary{Unchanged: 2})

	// Earlier versions have copied it with the name as it was given.
	manifest, err := os.ReadFile(filepath.Join(m.Dir, mirror.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	write(t, m.Dir, map[string]string{mirror.ManifestFile: strings.ReplaceAll(string(manifest), "xn--mnchen-3ya", "münchen")})
	ran(t, m, mirror.Summary{Unchanged: 2})
}
