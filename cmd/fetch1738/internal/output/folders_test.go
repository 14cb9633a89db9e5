package output

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFolders has two paths that lead to one file found to be one, whether the file
// is there or not, and whatever folder was looked at before.
func TestFolders(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("a/old", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "a", "b/old": "../a/old", "b/dangling": "../a/new", "b/null": os.DevNull} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip("no links on this system:", err)
		}
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	var f Folders
	for _, c := range []struct{ path, place string }{
		{"a/new", "a/new"}, {"link/new", "a/new"}, {filepath.Join(root, "link", "new"), "a/new"}, {"b/../a/new", "a/new"},
		{"a/old", "a/old"}, {"link/old", "a/old"}, {"b/old", "a/old"},
		{"b/new", "b/new"}, {"b/dangling", "b/dangling"}, {"new", "new"}, {"none/new", "none/new"},
		{"a", ""}, {"", ""}, {os.DevNull, ""}, {"b/null", ""},
	} {
		want := c.place
		if want != "" {
			want = filepath.Join(real, filepath.FromSlash(want))
		}
		if got := f.Place(&Sink{Path: c.path}); got != want {
			t.Errorf("%s is at %q, want %q", c.path, got, want)
		}
	}
}
