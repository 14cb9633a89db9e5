package interop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// A copier runs one Mirror several times.
type copier struct{ mirror.Mirror }

func newCopier(t *testing.T, url string) *copier {
	t.Helper()
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	r := new(fetch1738.Resolver)
	t.Cleanup(func() { r.Close() })
	return &copier{Mirror: mirror.Mirror{Fetcher: r, Start: ref.Locator, Dir: t.TempDir()}}
}

// run runs the mirror. Its summary must be want, and the command must have been sent the given
// number of times.
func (c *copier) run(t *testing.T, want mirror.Summary, command string, times int) {
	t.Helper()
	sends(t, command, times, func(ctx context.Context) {
		got, err := c.Run(ctx)
		if got.Octets = 0; got != want || err != nil {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	})
}

// sends checks how often run sends a command.
func sends(t *testing.T, command string, times int, run func(context.Context)) {
	t.Helper()
	var n atomic.Int64
	run(fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(octets []byte) {
		if strings.HasPrefix(string(octets), command) {
			n.Add(1)
		}
	}}))
	if n := n.Load(); n != int64(times) {
		t.Errorf("%d times %s, want %d", n, command, times)
	}
}

// TestMirrorDaylight runs servers that list local times in one time zone and then in the next one, as
// after a change of daylight saving time. Nothing is transferred again, in either direction. The test
// is not parallel, because the zone is that of its environment.
func TestMirrorDaylight(t *testing.T) {
	for name, settings := range map[string][]string{"inetutils-ftpd": nil, "vsftpd": {"use_localtime=YES"}} {
		root := filepath.Join(serverDir(t), "root")
		makeDir(t, filepath.Join(root, "htdocs"), 0o755)
		site := diskSite(filepath.Join(root, "pub"))
		now := time.Now().UTC().Truncate(24 * time.Hour).Add(12*time.Hour + 30*time.Minute) // in no zone of the test is a file of midnight
		for i, file := range []string{"a", "sub/b", "sub/c"} {
			site.put(t, file, file)
			when := now.Add(-time.Duration(i*50+100) * time.Hour)
			if err := os.Chtimes(filepath.Join(root, "pub", file), when, when); err != nil {
				t.Fatal(err)
			}
		}
		site.put(t, "large", string(binary))
		when := now.Add(-500 * time.Hour)
		if err := os.Chtimes(filepath.Join(root, "pub/large"), when, when); err != nil {
			t.Fatal(err)
		}
		ftpservers.Own(t, root)
		addr := daemon.FreeAddr(t)
		down := newCopier(t, "ftp://"+addr+"/pub/")
		up := &deploy.Upload{Start: newCopier(t, "ftp://"+labUser+":"+labPassword+"@"+addr+"/htdocs/").Start, Dir: t.TempDir()}
		bring := func(t *testing.T, want deploy.Summary, command string, times int) {
			t.Helper()
			sends(t, command, times, func(ctx context.Context) {
				got, err := up.Run(ctx)
				if got.Octets = 0; got != want || err != nil {
					t.Errorf("%+v, %v, want %+v", got, err, want)
				}
			})
		}
		down.Dir = filepath.Join(t.TempDir(), "copy")
		for _, file := range []string{"x", "y"} {
			writeFile(t, filepath.Join(up.Dir, file), file)
			if err := os.Chtimes(filepath.Join(up.Dir, file), when, when); err != nil {
				t.Fatal(err)
			}
		}
		for n, zone := range []string{"AAA7", "AAA8", "AAA7", "AAA7"} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				t.Setenv("TZ", zone)
				ftpservers.Named(t, name).Start(t, &ftpservers.Server{Root: root, Addr: addr, Settings: settings})
				r := new(fetch1738.Resolver)
				defer r.Close()
				down.Fetcher, up.Fetcher = r, r
				if n == 0 {
					down.run(t, mirror.Summary{New: 4}, "RETR", 4)
					bring(t, deploy.Summary{New: 2}, "STOR", 2)
					return
				}
				large := 0
				if name == "vsftpd" && n < 3 { // its MDTM has local times, too
					large = 1
				}
				down.run(t, mirror.Summary{Unchanged: 4}, "RETR", large)
				bring(t, deploy.Summary{Unchanged: 2}, "RETR", 0)
			})
		}
	}
}

// sameFolder checks that a copy has the files of a folder, in the form in which the protocol sends
// them.
func sameFolder(t *testing.T, root, dir string, sent func(string) string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		n++
		name, _ := filepath.Rel(root, path)
		want, err1 := os.ReadFile(path)
		got, err2 := os.ReadFile(filepath.Join(dir, name))
		if string(got) != sent(string(want)) {
			t.Errorf("%s has %d bytes, want %d, or the contents differ", name, len(got), len(want))
		}
		return errors.Join(err1, err2)
	})
	if err != nil || n == 0 {
		t.Errorf("%d files, %v", n, err)
	}
}

func asItIs(s string) string { return s }

// asText returns a text as gopher sends it.
func asText(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// plantTree creates files, nested, with spaces in their names.
func plantTree(t *testing.T, root string, files int) {
	t.Helper()
	for i := range files {
		path := filepath.Join(root, fmt.Sprintf("dir %d", i%7), strings.Repeat("deep/", i%3), fmt.Sprintf("file %d.txt", i))
		makeDir(t, filepath.Dir(path), 0o755)
		writeFile(t, path, strings.Repeat(fmt.Sprintln("line of file", i), i+1))
		when := time.Now().Add(-time.Duration(i) * 24 * time.Hour) // some times appear in the listing without a year, some with it
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMirrorVsftpd(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t, "max_per_ip=2")
	tree := filepath.Join(srv.root, "tree")
	plantTree(t, tree, 400)
	c := newCopier(t, "ftp://"+srv.addr+"/tree")
	c.Connections = 5 // the server accepts two of them
	c.run(t, mirror.Summary{New: 400}, "RETR", 400)
	sameFolder(t, tree, c.Dir, asItIs)
	c.run(t, mirror.Summary{Unchanged: 400}, "RETR", 0)

	writeFile(t, filepath.Join(tree, "dir 1/deep/file 1.txt"), "changed")
	writeFile(t, filepath.Join(tree, "new"), "new")
	if err := os.Remove(filepath.Join(tree, "dir 0/file 0.txt")); err != nil {
		t.Fatal(err)
	}
	c.run(t, mirror.Summary{New: 1, Changed: 1, Unchanged: 398, Gone: 1}, "RETR", 2)
	sameFolder(t, tree, c.Dir, asItIs)
	if _, err := os.Stat(filepath.Join(c.Dir, "dir 0/file 0.txt")); err != nil {
		t.Error(err)
	}
	c.Delete = true
	c.run(t, mirror.Summary{Unchanged: 400, Gone: 1}, "RETR", 0)
	if _, err := os.Stat(filepath.Join(c.Dir, "dir 0/file 0.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestMirrorGophernicus(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	// The server does not find what is below such a folder, which it lists.
	if err := os.RemoveAll(filepath.Join(srv.root, "with#040")); err != nil {
		t.Fatal(err)
	}
	c := newCopier(t, "gopher://"+srv.addr+"/")
	const all, out = 116, 3                                                       // a search, a web page and a telnet session are not mirrored
	c.run(t, mirror.Summary{New: all, Skipped: out, Unsure: 109}, "/many/i", 100) // the server marks the ends of menus only
	many := c.Dir + "/many"
	sameFolder(t, srv.root+"/many", many, asText)
	sameFolder(t, srv.root+"/bin.d", c.Dir+"/bin.d", asItIs)
	// Plain gopher has no dates: everything is requested again, and nothing written.
	before := fileTimes(t, c.Dir)
	c.run(t, mirror.Summary{Unchanged: all, Skipped: out}, "/many/i", 100)
	if diff := cmp.Diff(before, fileTimes(t, c.Dir)); diff != "" {
		t.Error(diff)
	}
	folder, err := os.Stat(filepath.Join(srv.root, "many"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(srv.root, "many/i07.txt"), "another item\n")
	if err := os.Remove(filepath.Join(srv.root, "many/i08.txt")); err != nil {
		t.Fatal(err)
	}
	// The menu above shows the folder's time, to the minute.
	if err := os.Chtimes(filepath.Join(srv.root, "many"), folder.ModTime(), folder.ModTime()); err != nil {
		t.Fatal(err)
	}
	c.run(t, mirror.Summary{Changed: 2, Unchanged: all - 3, Gone: 1, Skipped: out}, "/many/i", 100) // the menu has changed, too; a changed text without an end is requested twice
	sameFolder(t, srv.root+"/many", many, asText)
	c.NewOnly = true
	c.run(t, mirror.Summary{Unchanged: all - 1, Skipped: out}, "/many/i", 0)

	// In place of a menu that is missing, the server sends a text.
	for _, path := range []string{"/1/missing", "/1/missing/"} {
		m := newCopier(t, "gopher://"+srv.addr+path)
		if got, err := m.Run(t.Context()); got.New != 0 || got.Failed != 1 || err == nil {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

// fileTimes returns when the files of a copy were written, without the manifest.
func fileTimes(t *testing.T, root string) map[string]time.Time {
	t.Helper()
	times := make(map[string]time.Time)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && !strings.HasSuffix(mirror.ManifestFile, e.Name()) {
			times[path] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func TestMirrorINN(t *testing.T) {
	t.Parallel()
	host := startINN(t)
	host.fill(t)
	n := len(host.letters)
	c := newCopier(t, "nntp://"+host.Addr+"/local.test")
	c.run(t, mirror.Summary{New: n}, "ARTICLE", n)
	for i, l := range host.letters {
		b, err := os.ReadFile(filepath.Join(c.Dir, fmt.Sprint(i+1)))
		if _, body, _ := strings.Cut(string(b), "\r\n\r\n"); err != nil || body != l.body {
			t.Errorf("article %d: %v, %d bytes, want %d", i+1, err, len(body), len(l.body))
		}
	}
	c.run(t, mirror.Summary{Unchanged: n}, "ARTICLE", 0)
	if err := os.Remove(filepath.Join(c.Dir, "7")); err != nil {
		t.Fatal(err)
	}
	c.run(t, mirror.Summary{New: 1, Unchanged: n - 1}, "ARTICLE", 1)
}
