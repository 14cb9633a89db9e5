//go:build unix

package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// An exchanging is the disk of the system, on which another program acts when a file is deleted.
type exchanging struct {
	disk.Disk
	name string
	act  func()
}

func (d exchanging) OpenRoot(name string) (disk.Folder, error) {
	f, err := d.Disk.OpenRoot(name)
	return exchangingFolder{f, d}, err
}

func (d exchanging) Remove(name string) error { return exchangingFolder{d.Disk, d}.Remove(name) }

type exchangingFolder struct {
	disk.Folder
	disk exchanging
}

func (f exchangingFolder) OpenRoot(name string) (disk.Folder, error) {
	below, err := f.Folder.OpenRoot(name)
	return exchangingFolder{below, f.disk}, err
}

func (f exchangingFolder) Remove(name string) error {
	if filepath.Base(name) == f.disk.name {
		f.disk.act()
	}
	return f.Folder.Remove(name)
}

// rm -r does not follow a link that comes in the place of a directory after the listing.
func TestRemoveExchanged(t *testing.T) {
	for _, exchanged := range []string{"x/d", "x/d/e"} {
		dir, kept := t.TempDir(), t.TempDir()
		for _, name := range []string{dir + "/x/first", dir + "/x/d/e/f", kept + "/e/f", kept + "/f"} {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		exchange := func() {
			if err := os.RemoveAll(filepath.Join(dir, exchanged)); err != nil {
				t.Error(err)
			}
			if err := os.Symlink(kept, filepath.Join(dir, exchanged)); err != nil {
				t.Error(err)
			}
		}
		ctx := disk.With(t.Context(), exchanging{disk.System(), "first", exchange})
		code, out, complaint := performIn(ctx, t, "rm", "-rf", "file://"+dir+"/x")
		if code != 23 || out != "1 file deleted, 1 failed\n" {
			t.Errorf("%s: exit code %d: %s%s", exchanged, code, out, complaint)
		}
		for _, name := range []string{kept + "/e/f", kept + "/f"} {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", exchanged, err)
			}
		}
		if info, err := os.Lstat(filepath.Join(dir, exchanged)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: %v, %v", exchanged, info, err)
		}
	}
}
