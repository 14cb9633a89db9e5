package mirror_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// A copy of a part of a gopher site has what is below the menu it begins with. What a copy with Parent
// has besides does not count as gone.
func TestParent(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"gophermap":      "1Many\t/many\n0About\t/about.txt\n",
		"about.txt":      "About.\n",
		"many/gophermap": "1Home\t/\n0a\t/many/a.txt\n1Sub\t/many/sub\n1Other\t/many2\n",
		"many/a.txt":     "a\n", "many/sub/b.txt": "b\n", "many2/c.txt": "c\n",
	})
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = os.DirFS(dir) })
	m := start(t, srv.URL+"/1/many")
	var outside []string
	m.Report = func(e mirror.Event) {
		if errors.Is(e.Err, mirror.ErrOutside) {
			outside = append(outside, e.URL[len(srv.URL):])
		}
	}
	ran(t, m, mirror.Summary{New: 4, Skipped: 2})
	if !slices.Equal(outside, []string{"/1", "/1/many2"}) && !slices.Equal(outside, []string{"/1/", "/1/many2"}) {
		t.Errorf("outside: %q", outside)
	}
	m.Parent = true
	ran(t, m, mirror.Summary{New: 4, Unchanged: 4})
	m.Parent, m.Delete = false, true
	ran(t, m, mirror.Summary{Unchanged: 4, Skipped: 2})
	if files := read(t, m.Dir); len(files) != 8 || files["about.txt"] == "" {
		t.Errorf("%q", files)
	}
}

// A file below the menu that only a menu beside it lists is not deleted, if a run with Parent has copied it.
func TestParentDelete(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"many/gophermap": "1Other\t/other\n0a\t/many/a.txt\n", "many/a.txt": "a\n", "many/b.txt": "b\n",
		"other/gophermap": "0b\t/many/b.txt\n",
	})
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = os.DirFS(dir) })
	m := start(t, srv.URL+"/1/many")
	m.Parent = true
	ran(t, m, mirror.Summary{New: 4})
	var notes []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Noted {
			notes = append(notes, e.Err.Error())
		}
	}
	m.Parent, m.Delete = false, true
	ran(t, m, mirror.Summary{Unchanged: 2, Skipped: 1})
	if files := read(t, m.Dir); files["many/b.txt"] == "" || len(notes) != 1 {
		t.Errorf("%q, %q", files, notes)
	}
	m.Parent = true
	if err := os.Remove(dir + "/other/gophermap"); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 2, Changed: 1, Gone: 1})
}
