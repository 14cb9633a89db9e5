package used

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

func parsed(t *testing.T, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

// files returns the paths and contents of all files below dir.
func files(t *testing.T, dir string) (names []string, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&0o077 != 0 && path != dir {
			t.Errorf("%s: others may access it: %v", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		names, text = append(names, path), text+string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, text
}

func TestNotes(t *testing.T) {
	dir := t.TempDir()
	n := In(filepath.Join(dir, "fetch1738"))
	known := parsed(t, "ftp://user:secret@FTP.example.org/private/letter.txt")
	if n.Knows(known, "") {
		t.Error("a server that was not used is known")
	}
	n.Note(known, "")
	n.Note(known, "")
	n.Note(parsed(t, "http://www.example.org/"), "") // is not completed
	n.Note(parsed(t, "gopher://gopher.example.org/"), "socks5h://127.0.0.1:9050")
	for url, want := range map[string]bool{
		"ftp://ftp.example.org/": true, "ftp://other@ftp.example.org:21/x": true, "ftp://ftp.example.org:2121/": false, "ftps://ftp.example.org/": false,
		"ftp://example.org/": false, "gopher://ftp.example.org/": false, "http://www.example.org/": false, "gopher://gopher.example.org/": false,
	} {
		if got := n.Knows(parsed(t, url), ""); got != want {
			t.Errorf("%s is known: %v, want %v", url, got, want)
		}
	}
	if !n.Knows(parsed(t, "gopher://gopher.example.org/"), "socks5h://127.0.0.1:9050") {
		t.Error("a server that was used through a proxy is not known")
	}
	names, text := files(t, dir)
	if len(names) != 2 || text != "" || strings.Contains(strings.Join(names, ""), "example") {
		t.Errorf("the notes are %q %q", names, text)
	}
	old := time.Now().Add(-noteTime - time.Hour)
	for _, name := range names {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n.Knows(known, "") {
		t.Error("an old note is used")
	}
	n.Note(known, "")
	if names, _ := files(t, dir); len(names) != 1 {
		t.Errorf("old notes are kept: %q", names)
	}
}

func TestListings(t *testing.T) {
	dir := t.TempDir()
	n := In(filepath.Join(dir, "fetch1738"))
	if _, ok := n.Listing("ftp://h/"); ok {
		t.Error("a listing that was never kept")
	}
	n.Keep("ftp://h/", []string{"a", "b/"}, ListingTime)
	n.Keep("ftp://h/empty/", nil, FailureTime)
	if got, ok := n.Listing("ftp://h/"); !ok || strings.Join(got, " ") != "a b/" {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := n.Listing("ftp://h/empty/"); !ok || len(got) != 0 {
		t.Errorf("%q, %v", got, ok)
	}
	names, _ := files(t, dir)
	for _, age := range []time.Duration{ListingTime + time.Second, -time.Hour} {
		for _, name := range names {
			when := time.Now().Add(-age)
			if err := os.Chtimes(name, when, when); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := n.Listing("ftp://h/"); ok {
			t.Errorf("a listing of %v ago is used", age)
		}
	}
	n.Keep("ftp://h/large", []string{strings.Repeat("x", maxListing+1)}, ListingTime)
	if _, ok := n.Listing("ftp://h/large"); ok {
		t.Error("a listing that is too large is kept")
	}
}

func TestSwitchedOff(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if Open() == nil {
		t.Error("no notes by default")
	}
	t.Setenv(Variable, "off")
	n := Open()
	if n != nil {
		t.Errorf("notes although they are off: %+v", n)
	}
	n.Note(parsed(t, "ftp://h/"), "")
	n.Keep("x", nil, ListingTime)
	if _, ok := n.Listing("x"); ok || n.Knows(parsed(t, "ftp://h/"), "") {
		t.Error("no notes know something")
	}
}
