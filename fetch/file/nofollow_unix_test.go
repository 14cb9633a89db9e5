//go:build unix

package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/locator"
)

// An exchanging is the disk of the system, on which another program acts after the Lstat of a name.
type exchanging struct {
	disk.Disk
	name string
	act  func()
}

func (d exchanging) OpenRoot(name string) (disk.Folder, error) {
	f, err := d.Disk.OpenRoot(name)
	return exchangingFolder{f, d}, err
}

type exchangingFolder struct {
	disk.Folder
	disk exchanging
}

func (f exchangingFolder) OpenRoot(name string) (disk.Folder, error) {
	below, err := f.Folder.OpenRoot(name)
	return exchangingFolder{below, f.disk}, err
}

func (f exchangingFolder) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.Folder.Lstat(name)
	if name == f.disk.name {
		f.disk.act()
	}
	return info, err
}

func at(path string) locator.Locator {
	return &locator.File{Segments: strings.Split(strings.TrimPrefix(path, "/"), "/")}
}

// tree makes files, with the directories that they are in.
func tree(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), name)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// With NoFollow no link leads to other files, also not one that has come in the place of a directory after
// a look at it. Directories above are followed.
func TestNoFollow(t *testing.T) {
	for _, tc := range []struct {
		name      string
		target    string // of the link
		link      string // in its place
		meanwhile bool   // it comes after the look
	}{
		{"the directory", "../other", "d/e", false},
		{"one above it", "other", "d", false},
		{"outside the tree", "OUTSIDE", "d/e", false},
		{"meanwhile, the directory", "../other", "d/e", true},
		{"meanwhile, one above it", "other", "d", true},
		{"meanwhile, outside the tree", "OUTSIDE", "d", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			tree(t, dir, "d/e/f", "other/f", "other/e/f")
			tree(t, outside, "f", "e/f")
			exchange := func() {
				if err := os.Rename(filepath.Join(dir, tc.link), filepath.Join(dir, "moved")); err != nil {
					t.Fatal(err)
				}
				link(t, strings.Replace(tc.target, "OUTSIDE", outside, 1), filepath.Join(dir, tc.link))
			}
			ctx := t.Context()
			if tc.meanwhile {
				ctx = disk.With(ctx, exchanging{disk.System(), filepath.Base(tc.link), exchange})
			} else {
				exchange()
			}
			req := &fetch.Request{Locator: at(dir + "/d/e/"), Options: &Options{NoFollow: 2}}
			edits := []fetch.Edit{{Kind: fetch.EditRemove, Name: "f"}}
			if err := new(Fetcher).Edit(ctx, req, edits); err == nil || edits[0].Done {
				t.Errorf("edit: %v, %+v", err, edits)
			}
			if _, err := new(Fetcher).Fetch(t.Context(), req); err == nil {
				t.Error("the listing is that of another directory")
			}
			for _, path := range []string{dir + "/other/f", dir + "/other/e/f", outside + "/f", outside + "/e/f"} {
				read(t, path)
			}
		})
	}
	dir := t.TempDir()
	tree(t, dir, "d/e/f")
	link(t, "d", filepath.Join(dir, "above"))
	req := &fetch.Request{Locator: at(dir + "/above/e/"), Options: &Options{NoFollow: 1}}
	res, err := new(Fetcher).Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	edits := []fetch.Edit{{Kind: fetch.EditRemove, Name: "f"}, {Kind: fetch.EditMakeDir, Name: "g"}, {Kind: fetch.EditRename, Name: "g", To: "h"}}
	err = new(Fetcher).Edit(t.Context(), req, edits)
	if err != nil || slices.ContainsFunc(edits, func(e fetch.Edit) bool { return e.Err != nil }) || names(t, dir+"/d/e") != "h" {
		t.Errorf("%v, %+v: %s", err, edits, names(t, dir+"/d/e"))
	}
}

// A ".." after a link leads to the directory above its target, as in a listing.
func TestEditAbove(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "f", "a/f", "a/b/g")
	link(t, "a/b", filepath.Join(dir, "l"))
	edits := []fetch.Edit{{Kind: fetch.EditRemove, Name: "f"}}
	err := new(Fetcher).Edit(t.Context(), &fetch.Request{Locator: at(dir + "/l/../")}, edits)
	if err != nil || edits[0].Err != nil || names(t, dir) != "a f l" || names(t, dir+"/a") != "b" {
		t.Errorf("%v, %v: %s; %s", err, edits[0].Err, names(t, dir), names(t, dir+"/a"))
	}
}
