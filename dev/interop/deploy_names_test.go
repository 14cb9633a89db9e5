package interop

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// unholdable are names that some servers cannot hold.
var unholdable = []string{
	" lead", "trail ", "a  b", "caf\xe9", "iac\xff.txt", "\xff\xff", "iac\xff\xf4", "iac\xff\xfb!", "iac\xff", "é.txt", "-dash", "~tilde", "~dir/~x", "[x]*", "%41", `back\slash`, `quo"te`, "tab\tx",
	"x;type=a", "..x", "...", ".dot", "Case", "case", "new\nline", "ctl\x01", "dir x/ lead", "dir x/trail ", strings.Repeat("long", 60), "a->b", "l -> m",
	"d\ttab/x", "d\ttab/sub/y", "d trail /x", `d"quo/x`, "d\xe9/x",
}

// missingFiles matches the last line of an upload that has not brought all files.
var missingFiles = regexp.MustCompile(`^(\d+) missing on the server, or old there: `)

// TestDeployNames sends files with odd names. What a server does not have then is reported.
func TestDeployNames(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			d := ofDaemon(t, kind.Name)
			for i, name := range unholdable {
				d.write(t, name, fmt.Sprint("content ", i, "\n"), i+1)
			}
			var lost [2][]string
			for i := range lost { // the second run sees what the first has left
				r := d.try(t)
				has := d.server.files(t)
				for name, data := range filesBelow(t, d.dir) {
					if has[name] != data {
						lost[i] = append(lost[i], name)
					}
				}
				slices.Sort(lost[i])
				reported := 0
				if m := missingFiles.FindStringSubmatch(r.last()); m != nil {
					reported, _ = strconv.Atoi(m[1])
				}
				if reported < len(lost[i]) || (r.code == 0) != (reported == 0) {
					t.Errorf("exit %d, %d files reported as missing, but %q are missing\n%s\n%s", r.code, reported, lost[i], r.out, tail(r.said))
				} else if reported > len(lost[i]) {
					t.Logf("%d files reported as missing, but only %q are missing: %s", reported, lost[i], r.out)
				}
				for name, data := range d.owned {
					if has[name] != data {
						t.Errorf("the owner's %s has changed", name)
					}
				}
				for name := range has {
					if partName.MatchString(name) && d.owned[name] == "" {
						t.Errorf("%s is left", name)
					}
				}
			}
			t.Logf("not held: %q", lost[1])
			for _, name := range lost[1] { // what fails with a broken connection is sent then
				if !slices.Contains(lost[0], name) {
					t.Errorf("the second run lost %q", name)
				}
			}
		})
	}
}

// TestDeployQuota fills a quota: a file that is too large fails, the others are sent.
func TestDeployQuota(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, d *uploader) {
		t.Helper()
		d.write(t, "a.html", "a\n", 3)
		d.write(t, "large", strings.Repeat(string(binary), 24), 3)
		d.write(t, "z/z.html", "z\n", 3)
	}
	check := func(t *testing.T, d *uploader, r uploaded) {
		t.Helper()
		if !strings.HasPrefix(r.last(), "1 missing on the server, or old there: large;") {
			t.Errorf("the last line is %q", r.last())
		}
		has := d.server.files(t)
		if has["a.html"] != "a\n" || has["z/z.html"] != "z\n" || has["large"] != "" {
			t.Errorf("the server has %q", slices.Sorted(maps.Keys(has)))
		}
	}
	t.Run("pure-ftpd -n", func(t *testing.T) {
		t.Parallel()
		d := ofPureFTPd(t, "-n", "1000:1")
		write(t, d)
		for range 2 {
			// While the large file fills the quota, the server refuses what another connection sends.
			r := d.try(t, "--connections", "1")
			if r.code == 0 {
				t.Errorf("exit 0\n%s", r.said)
			}
			check(t, d, r)
		}
		d.remove(t, "large")
		d.run(t, 0, "--delete")
		d.check(t, nil)
	})
	for _, reply := range []string{"452 Insufficient storage space.", "552 Exceeded storage allocation."} {
		t.Run(reply[:3], func(t *testing.T) {
			t.Parallel()
			d, _ := ofPersonality(t, func(s *ftptest.Server) {
				s.MaxUpload, s.Replies = 1<<20, ftptest.Replies{"STOR 552": reply, "APPE 552": reply}
			})
			write(t, d)
			for range 2 {
				r := d.try(t)
				if r.code == 0 || !strings.Contains(r.said, reply) {
					t.Errorf("exit %d\n%s", r.code, r.said)
				}
				check(t, d, r)
			}
		})
	}
}

// TestDeployResumes cuts the transfer of a large file. The next run sends the rest; but all of it,
// if the server has other bytes.
func TestDeployResumes(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" || kind.Name == "goftp" || !kind.Can(ftpservers.EPSV) {
			continue // goftp keeps the connections of a client that has gone, and APPE replaces the file
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			k := newCut(t, kind.Name)
			k.cut(t)
			r := k.try(t)
			t.Logf("APPE %d, REST %d, STOR %d", r.times("APPE"), r.times("REST"), r.times("STOR"))
			switch {
			case kind.Can(ftpservers.APPE, ftpservers.REST):
				if r.code != 0 || r.times("APPE") != 1 || r.times("STOR") != 0 {
					t.Errorf("exit %d, not resumed:\n%s", r.code, tail(r.said))
				}
			case r.code != 0: // APPE does not append
				k.run(t, 0)
			}
			k.check(t, nil)

			k.large(t)
			part := k.cut(t)
			k.process.kill() // it may be writing what it has received
			info, err := os.Stat(part)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, part, string(randomOctets(int(info.Size()))))
			k.start(t)
			r = k.run(t, 0)
			if r.times("APPE") != 0 || r.times("STOR") != 1 {
				t.Errorf("APPE %d, STOR %d; a part with other bytes must not be resumed\n%s", r.times("APPE"), r.times("STOR"), tail(r.said))
			}
			k.check(t, nil)
		})
	}
}

// A cut is a killer of clients that send one large file.
type cut struct{ *killer }

func newCut(t *testing.T, name string) cut {
	t.Helper()
	k := cut{newKillerOf(t, name, rand.New(rand.NewPCG(1, 2)))}
	k.large(t)
	return k
}

func (k cut) large(t *testing.T) {
	t.Helper()
	k.write(t, "large", string(randomOctets(4<<20)), 3)
}

// cut kills the client in the middle of the file, and returns the path of what the server has of
// it.
func (k cut) cut(t *testing.T) (part string) {
	t.Helper()
	over := daemon.TimeOver(t)
	k.first = func() { // the server stores some of it
		for size := int64(0); size < 1<<20; {
			part, size = k.part()
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
	k.killAt(t, 250, false)
	if _, size := k.part(); size < 1<<20 || size >= 4<<20 {
		t.Fatalf("%q has %d bytes of the file", part, size)
	}
	return part
}

// part returns the path and the size of what the server has of the file.
func (k cut) part() (part string, size int64) {
	root := filepath.Join(k.site.Root, "htdocs")
	_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(root, path); partName.MatchString(name) && k.owned[name] == "" {
			part = path
		}
		return err
	})
	if info, err := os.Stat(part); err == nil {
		size = info.Size()
	}
	return part, size
}

// TestDeployMachines has two folders that share their state at the server.
func TestDeployMachines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"vsftpd", "proftpd", "pure-ftpd", "pyftpdlib", "ftp-srv", "nodeftpd"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const shared = "--remote-state"
			d := ofDaemon(t, name)
			other := *d
			other.dir, other.home = t.TempDir(), t.TempDir()
			for i, name := range []string{"index.html", "a/b", "a/c", "big"} {
				data := strings.Repeat(name, 1+i*30_000)
				d.write(t, name, data, 5)
				other.write(t, name, data, 9)
			}
			state := func() map[string]string {
				const file = "machines.state"
				data, ok := d.server.files(t)[file]
				if !ok {
					t.Error("the server has no state")
				}
				return map[string]string{file: data}
			}
			d.run(t, 0, shared, "machines.state", "--chmod").counts(t, 4, 0, 0)
			d.check(t, state())
			r := other.run(t, 0, shared, "machines.state", "--chmod")
			r.counts(t, 0, 0, 4)
			r.sends(t, 1, 1) // the state, whose times have changed
			other.remove(t, "a/b")
			other.run(t, 0, shared, "machines.state", "--delete").counts(t, 0, 0, 3)
			other.check(t, state())
			d.remove(t, "a/b")
			r = d.run(t, 0, shared, "machines.state", "--delete")
			r.counts(t, 0, 0, 3)
			d.check(t, state())
		})
	}
}

// TestDeployModes tests --chmod.
func TestDeployModes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"vsftpd", "proftpd", "pure-ftpd", "inetutils-ftpd", "pyftpdlib"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := ofDaemon(t, name)
			for name, mode := range map[string]os.FileMode{"script.cgi": 0o755, "page.html": 0o604} {
				d.write(t, name, name, 3)
				if err := os.Chmod(filepath.Join(d.dir, name), mode); err != nil {
					t.Fatal(err)
				}
			}
			d.run(t, 0, "--chmod")
			d.check(t, nil)
			for name, mode := range map[string]os.FileMode{"script.cgi": 0o755, "page.html": 0o604} {
				if info, err := os.Stat(filepath.Join(string(d.server.(diskSite)), name)); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v, want %v", name, info, err, mode)
				}
			}
		})
	}
}

// TestDeployLinks tests --links.
func TestDeployLinks(t *testing.T) {
	t.Parallel()
	start := map[string]func(t *testing.T) *uploader{
		"file": func(t *testing.T) *uploader {
			root := filepath.Join(t.TempDir(), "site")
			return newUploader(t, "file://"+root+"/", uploader{server: diskSite(root)})
		},
	}
	for _, name := range []string{"vsftpd", "proftpd", "pure-ftpd", "pyftpdlib"} {
		start[name] = func(t *testing.T) *uploader {
			if name == "proftpd" {
				return ofDaemon(t, name, "ModulePath "+ftpservers.Modules, "LoadModule mod_site_misc.c")
			}
			return ofDaemon(t, name)
		}
	}
	for name, start := range start {
		for _, word := range []string{"skip", "follow", "copy"} {
			t.Run(name+" "+word, func(t *testing.T) {
				t.Parallel()
				d := start(t)
				d.write(t, "page", "page\n", 3)
				d.write(t, "folder/x", "x\n", 3)
				for link, to := range map[string]string{"link": "page", "folder/up": "../page", "way": "folder"} {
					if err := os.Symlink(to, filepath.Join(d.dir, link)); err != nil {
						t.Fatal(err)
					}
				}
				want := maps.Clone(d.owned)
				maps.Copy(want, map[string]string{"page": "page\n", "folder/x": "x\n"})
				code := 0
				switch {
				case word == "follow":
					maps.Copy(want, map[string]string{"link": "page\n", "folder/up": "page\n", "way/x": "x\n", "way/up": "page\n"})
				case word == "copy" && (name == "file" || name == "proftpd"):
					maps.Copy(want, map[string]string{"link": "page\n", "folder/up": "page\n"})
				case word == "copy":
					code = -1
				}
				for range 2 {
					r := d.try(t, "--links", word)
					if (code == 0) != (r.code == 0) {
						t.Errorf("exit %d\n%s\n%s", r.code, r.out, tail(r.said))
					}
					has := d.server.files(t)
					delete(has, "way") // a link to a folder is not read
					if diff := differences(has, want); len(diff) > 0 {
						t.Errorf("%s\n%s\n%s", diff, r.out, tail(r.said))
					}
				}
			})
		}
	}
}
