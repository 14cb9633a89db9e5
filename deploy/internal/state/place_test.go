package state

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// states is the directory of states on a simulated disk.
const states = "/home/state/fetch1738"

// openIn opens the state of a tree in states.
func openIn(t *testing.T, p disk.Disk, tree string, readOnly bool) (*State, error) {
	t.Helper()
	root, err := p.OpenRoot(tree)
	must(t, err)
	defer root.Close()
	return Open(p, root, Place{Dir: states, Tree: tree}, url, readOnly)
}

// bring adds a file to the state of a tree, and returns the files that were in it.
func bring(t *testing.T, p disk.Disk, tree, file string) (had []string) {
	t.Helper()
	s, err := openIn(t, p, tree, false)
	must(t, err)
	for _, rec := range s.All() {
		had = append(had, rec.File)
	}
	must(t, errors.Join(s.Add(Line{URL: url + file, File: file, SHA256: "00"}), s.Close(true)))
	return had
}

// names returns the names of the files in a directory of a simulated disk.
func names(d *simdisk.Disk, dir string) (list []string) {
	for name := range d.Files() {
		if path.Dir(name) == dir {
			list = append(list, path.Base(name))
		}
	}
	slices.Sort(list)
	return list
}

// Each tree has a state of its own outside of it, which only this user can read. Two with the same
// base name have two; by a symbolic link a tree has the same one, which only one run at a time uses.
func TestStatesOfSeveralTrees(t *testing.T) {
	d := simdisk.New(simdisk.Options{})
	d.Put("/a/site/x", nil, then)
	d.Put("/b/site/x", nil, then)
	p := d.Process(nil)
	must(t, p.Symlink("/a/site", "/link"))
	bring(t, p, "/a/site", "from a")
	if had := bring(t, p, "/b/site", "from b"); had != nil {
		t.Errorf("the state of another tree has %q", had)
	}
	if had := bring(t, p, "/link", "by a link"); !slices.Equal(had, []string{"from a"}) {
		t.Errorf("by a link: %q", had)
	}
	if list := names(d, states); len(list) != 2 {
		t.Errorf("%d states: %q", len(list), list)
	}
	for _, tree := range []string{"/a/site", "/b/site"} {
		if _, err := p.Lstat(tree + "/" + Folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s in the tree: %v", Folder, err)
		}
		data, _ := d.Get(states + "/" + nameOf(url, tree))
		if want := fmt.Sprintf(`"folder":%q`, tree); !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
	for name, want := range map[string]fs.FileMode{"/home/state": 0o700, states: 0o700, states + "/" + nameOf(url, "/a/site"): 0o600} {
		if info, err := p.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	first, err := openIn(t, p, "/a/site", false)
	must(t, err)
	if _, err := openIn(t, d.Process(nil), "/link", false); err != errLocked {
		t.Errorf("a second run: %v", err)
	}
	other, err := openIn(t, d.Process(nil), "/b/site", false)
	must(t, err)
	must(t, errors.Join(first.Close(true), other.Close(true)))
}

// A state in the tree stays in use, at its place, whatever interrupts a run. If there is another
// one, that is said.
func TestStateInTheTree(t *testing.T) {
	for seed := range uint64(100) {
		d := simdisk.New(simdisk.Options{})
		d.Put("/site/x", nil, then)
		old := "/site/" + Folder + "/" + nameFor(url)
		d.Put(old, []byte(fmt.Sprintf(`{"url":%q,"start":true}`+"\n"+`{"url":%q,"file":"sent before"}`+"\n", url, url+"sent%20before")), then)
		r, n := rand.New(rand.NewPCG(seed, 1)), 0
		stop := r.IntN(20)
		func() {
			p := d.Process(func(*simdisk.Call) error {
				if n++; n > stop {
					return syscall.EIO
				}
				return nil
			})
			root, err := p.OpenRoot("/site")
			if err != nil {
				return
			}
			if s, err := Open(p, root, Place{Dir: states, Tree: "/site"}, url, false); err == nil {
				_ = errors.Join(s.Add(Line{URL: url + "a", File: "a"}), s.Close(true))
			}
		}()
		if seed%2 == 0 {
			d.Crash(r)
		}
		if had := bring(t, d.Process(nil), "/site", "b"); !slices.Contains(had, "sent before") {
			t.Fatalf("seed %d: %q after %d calls", seed, had, stop)
		}
		if list := names(d, states); len(list) > 0 {
			t.Fatalf("seed %d: a second state %q", seed, list)
		}
	}
	d := simdisk.New(simdisk.Options{})
	d.Put("/site/x", nil, then)
	bring(t, d.Process(nil), "/site", "a")
	d.Put("/site/"+Folder+"/"+nameFor(url), nil, then)
	s, err := openIn(t, d.Process(nil), "/site", true)
	must(t, err)
	if !strings.Contains(s.Note, "/site/.fetch1738/to-") || !strings.Contains(s.Note, states+"/to-") {
		t.Errorf("the note is %q", s.Note)
	}
}

// What was known before a run is known after a crash of the system at its end.
func TestStateOutsideCrash(t *testing.T) {
	for seed := range uint64(200) {
		d := simdisk.New(simdisk.Options{})
		d.Put("/site/x", nil, then)
		bring(t, d.Process(nil), "/site", "a")
		d.Settle()
		bring(t, d.Process(nil), "/site", "b")
		d.Crash(rand.New(rand.NewPCG(seed, 1)))
		if had := bring(t, d.Process(nil), "/site", "c"); !slices.Contains(had, "a") {
			t.Fatalf("seed %d: %q", seed, had)
		}
	}
}

// A tree that was moved has no state, and it is said which one it may have had, but not that of a
// tree that still exists. Renamed, it is the state of the tree.
func TestMovedTree(t *testing.T) {
	d := simdisk.New(simdisk.Options{})
	for _, tree := range []string{"/old", "/other", "/new"} {
		d.Put(tree+"/x", nil, then)
	}
	p := d.Process(nil)
	bring(t, p, "/old", "sent")
	bring(t, p, "/other", "else")
	must(t, errors.Join(p.Remove("/old/x"), p.Remove("/old")))
	old, fresh := states+"/"+nameOf(url, "/old"), states+"/"+nameOf(url, "/new")
	for _, dry := range []bool{true, false} {
		s, err := openIn(t, p, "/new", dry)
		must(t, err)
		if want := old + " is that of /old, which no longer exists"; !strings.Contains(s.Note, want) || !strings.Contains(s.Note, "rename that file to "+fresh) || strings.Contains(s.Note, "other") {
			t.Errorf("the note is %q", s.Note)
		}
		must(t, s.Close(true))
	}
	must(t, p.Rename(old, fresh))
	if had := bring(t, p, "/new", "more"); !slices.Equal(had, []string{"sent"}) {
		t.Errorf("%q", had)
	}
	if data, _ := d.Get(fresh); !strings.Contains(string(data), `"folder":"/new"`) {
		t.Errorf("the state is still that of the old path: %s", data)
	}
}

// A directory of states that cannot be used is an error that says what to do, before anything is
// sent. A dry run without one knows nothing.
func TestStatesCannotBeKept(t *testing.T) {
	d := simdisk.New(simdisk.Options{})
	d.Put("/site/x", nil, then)
	dry, err := openIn(t, d.Process(nil), "/site", true)
	must(t, err)
	if all := dry.All(); len(all) > 0 || dry.Note != "" {
		t.Errorf("%v, %q", all, dry.Note)
	}
	for _, op := range []string{"mkdir", "open"} {
		refused := d.Process(func(c *simdisk.Call) error {
			if c.Op == op && strings.HasPrefix(c.Name, "/home") {
				return syscall.EROFS
			}
			return nil
		})
		_, err := openIn(t, refused, "/site", false)
		if !errors.Is(err, syscall.EROFS) || !strings.HasSuffix(err.Error(), "; Upload.State keeps it elsewhere") {
			t.Errorf("%s: %v", op, err)
		}
		must(t, d.Process(nil).MkdirAll(states, 0o700))
	}
}

// The path of the tree is not in what goes to the server.
func TestTextForOthers(t *testing.T) {
	d := simdisk.New(simdisk.Options{})
	d.Put("/site/x", nil, then)
	s, err := openIn(t, d.Process(nil), "/site", false)
	must(t, err)
	for here, want := range map[bool]bool{true: true, false: false} {
		text, err := s.Text(here)
		must(t, err)
		if got := strings.Contains(string(text), "/site\""); got != want {
			t.Errorf("here %v: %s", here, text)
		}
	}
	must(t, s.Close(false))
}

// The file keeps the permissions that a user has given it.
func TestPermissionsStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := t.TempDir()
	s, err := open(t, dir, false)
	must(t, err)
	must(t, s.Close(false))
	name := filepath.Join(dir, Folder, nameFor(url))
	must(t, os.Chmod(name, 0o620))
	s, err = open(t, dir, false)
	must(t, err)
	must(t, errors.Join(s.Add(Line{URL: url + "a", File: "a"}), s.Close(true)))
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o620 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
