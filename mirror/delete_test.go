package mirror_test

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// some returns n files in a folder.
func some(folder string, n int) map[string]string {
	files := make(map[string]string)
	for i := range n {
		files[fmt.Sprintf("%s/%02d", folder, i)] = fmt.Sprint(folder, i, "\n")
	}
	return files
}

// together returns the union of sets of files.
func together(sets ...map[string]string) map[string]string {
	all := make(map[string]string)
	for _, files := range sets {
		maps.Copy(all, files)
	}
	return all
}

// remove removes what matches the patterns.
func remove(t *testing.T, dir string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// complaints returns the URLs of the events about files that MaxDelete kept, below base.
func complaints(m *mirror.Mirror, base string) *[]string {
	urls := new([]string)
	m.Report = func(e mirror.Event) {
		if errors.Is(e.Err, mirror.ErrMaxDelete) {
			*urls = append(*urls, strings.TrimPrefix(e.URL, base)+": "+e.Err.Error())
		}
	}
	return urls
}

// An empty listing that the server calls complete deletes nothing, however often it comes. With a
// sufficient MaxDelete it does.
func TestEmptyListing(t *testing.T) {
	for name, fault := range map[string]struct {
		stage string
		fault ftptest.Fault
		hide  []string
	}{
		"MLSD, no data": {"MLSD", testserver.Data(""), nil},
		"LIST, no data": {"LIST", testserver.Data(""), []string{"MLST", "MLSD"}},
		"LIST, total 0": {"LIST", testserver.Data("total 0\r\n"), []string{"MLST", "MLSD"}},
		"LIST, 550":     {"LIST", testserver.Reply("550 No files found."), []string{"MLST", "MLSD"}},
		"MLSD, 550":     {"MLSD", testserver.Reply("550 No files found."), nil},
	} {
		t.Run(name, func(t *testing.T) {
			pub := some("pub", 40)
			srv, _ := serveFTP(t, pub, fault.hide...)
			m := start(t, srv.URL+"/pub")
			ran(t, m, mirror.Summary{New: 40})
			want := read(t, m.Dir)
			srv.On(fault.stage, 0, fault.fault)
			m.Delete = true
			for _, m.MaxDelete = range []int{0, 0, 39} {
				got, err := m.Run(t.Context())
				if counts(got) != (mirror.Summary{Kept: 40, Failed: 1}) || !errors.Is(err, mirror.ErrMaxDelete) || !errors.Is(err, fetch.ErrTruncated) {
					t.Errorf("MaxDelete %d: %+v, %v", m.MaxDelete, got, err)
				}
				sameFiles(t, m.Dir, want)
			}
			srv.ResetFaults()
			m.MaxDelete = 0
			ran(t, m, mirror.Summary{Unchanged: 40})
			srv.On(fault.stage, 0, fault.fault)
			m.MaxDelete = 40
			ran(t, m, mirror.Summary{Gone: 40})
			sameFiles(t, m.Dir, map[string]string{})
		})
	}
}

// maxDeleteCases are about the files that a run may delete: which are removed on the server, and
// which of those the copy keeps.
var maxDeleteCases = map[string]struct {
	files     map[string]string
	removed   []string
	maxDelete int
	kept      []string // patterns
	complain  []string
}{
	"half of a tree": {files: some("a", 12), removed: []string{"a/0[0-5]"}},
	"more than half": {
		files: some("a", 12), removed: []string{"a/0[0-6]"}, kept: []string{"a/0[0-6]"},
		complain: []string{"/: 7 of 12 files of the copy are no longer listed, more than half; none of them is deleted; use Mirror.MaxDelete 7 or Mirror.MaxDelete -1"},
	},
	"more than half, permitted":     {files: some("a", 12), removed: []string{"a/0[0-6]"}, maxDelete: 7},
	"more than half, all permitted": {files: some("a", 12), removed: []string{"a/0[0-6]"}, maxDelete: -1},
	"more than half, too few permitted": {
		files: some("a", 12), removed: []string{"a/0[0-6]"}, maxDelete: 6, kept: []string{"a/0[0-6]"},
		complain: []string{"/: 7 files of the copy are no longer listed, more than Mirror.MaxDelete 6; none of them is deleted; use Mirror.MaxDelete 7 or Mirror.MaxDelete -1"},
	},
	"fewer than half, too few permitted": {
		files: some("a", 12), removed: []string{"a/00", "a/01"}, maxDelete: 1, kept: []string{"a/0[01]"},
		complain: []string{"/: 2 files of the copy are no longer listed, more than Mirror.MaxDelete 1;"},
	},
	"nine of ten": {files: some("a", 10), removed: []string{"a/0[0-8]"}},
	"more than half, by folders": {
		files: together(some("a", 5), some("b", 4), some("b/c", 3)), removed: []string{"b"}, kept: []string{"b/0*", "b/c"},
		complain: []string{"/: 7 of 12 files"},
	},
	"a folder of few files": {
		files: together(some("a", 3), some("b", 1)), removed: []string{"b/00"}, kept: []string{"b/00"},
		complain: []string{"/b/: lists no files, but the copy has 1; none of them is deleted; use Mirror.MaxDelete 1 or Mirror.MaxDelete -1 to delete them"},
	},
	"a folder as a whole": {files: together(some("a", 7), some("b", 3), some("b/c", 3)), removed: []string{"b"}},
	"a folder and other files": {
		files: together(some("a", 20), some("b", 5)), removed: []string{"a/0[0-4]", "b/*"}, kept: []string{"b/*"},
		complain: []string{"/b/: lists no files, but the copy has 5;"},
	},
	"folders, and then more than half of all": {
		files: together(some("a", 20), some("b", 5)), removed: []string{"a/0*", "a/1[0-4]", "b/*"}, kept: []string{"a/0*", "a/1[0-4]", "b/*"},
		complain: []string{"/: 15 of 25 files of the copy are no longer listed, more than half; none of them is deleted; use Mirror.MaxDelete 20 or", "/b/: lists no files, but the copy has 5; none of them is deleted; use Mirror.MaxDelete 20 or"},
	},
	"two folders": {
		files: together(some("a", 3), some("b", 2), some("c", 4)), removed: []string{"a/*", "b/*"}, kept: []string{"a/*", "b/*"},
		complain: []string{"/a/: lists no files, but the copy has 3; none of them is deleted; use Mirror.MaxDelete 5 or", "/b/: lists no files, but the copy has 2; none of them is deleted; use Mirror.MaxDelete 5 or"},
	},
	"a folder that lists nothing, with folders": {
		files: together(some("a", 3), some("b/c", 2), some("b/d/e", 4)), removed: []string{"b/*"}, kept: []string{"b/*"},
		complain: []string{"/b/: lists no files, but the copy has 6;"},
	},
	"a folder that lists folders only": {
		files: together(some("a", 3), some("b", 2), some("b/c", 2), some("b/d/e", 4)), removed: []string{"b/0*", "b/d"}, kept: []string{"b/0*"},
		complain: []string{"/b/: lists no files, but the copy has 2;"},
	},
	"a folder that never had files": {files: together(some("a", 3), some("b/c", 2), some("b/d/e", 4)), removed: []string{"b/d"}},
	"everything": {
		files: together(some("a", 3), some("b", 4)), removed: []string{"*"}, kept: []string{"*"},
		complain: []string{"/: lists no files, but the copy has 7;"},
	},
}

// What is kept is the same for all trees of directories, and in a dry run.
func TestMaxDelete(t *testing.T) {
	for name, c := range maxDeleteCases {
		for _, scheme := range []string{"ftp", "file"} {
			t.Run(name+"/"+scheme, func(t *testing.T) {
				srv, dir := serveFTP(t, c.files)
				base := srv.URL
				if scheme == "file" {
					base = "file://" + (&url.URL{Path: filepath.ToSlash(dir)}).EscapedPath()
				}
				m := start(t, base+"/")
				ran(t, m, mirror.Summary{New: len(c.files)})
				remove(t, dir, c.removed...)
				left := read(t, dir)
				kept := map[string]string{}
				for file, text := range c.files {
					if _, there := left[file]; !there && matchesAny(c.kept, file) {
						kept[file] = text
					}
				}
				want := mirror.Summary{Kept: len(kept), Failed: len(c.complain)}
				for file := range left {
					if !strings.HasSuffix(file, "/") {
						want.Unchanged++
					}
				}
				want.Gone = len(c.files) - want.Unchanged - want.Kept
				m.Delete, m.MaxDelete, m.DryRun = true, c.maxDelete, true
				before := complaints(m, base)
				ran(t, m, want)
				if diff := cmp.Diff(c.files, read(t, m.Dir)); diff != "" {
					t.Errorf("a dry run deletes:\n%s", diff)
				}
				if len(*before) != len(c.complain) {
					t.Errorf("a dry run reports %q", *before)
				}
				m.DryRun = false
				after := complaints(m, base)
				ran(t, m, want)
				sameKept(t, m.Dir, left, kept)
				slices.Sort(*after)
				for i, text := range c.complain {
					if i >= len(*after) || !strings.HasPrefix(simple((*after)[i], base), text) {
						t.Errorf("%q, want %q", *after, text)
					}
				}
			})
		}
	}
}

// simple returns a complaint without its operation and URL.
func simple(text, base string) string {
	at, rest, _ := strings.Cut(text, ": ")
	return at + ": " + strings.TrimPrefix(rest, "mirror "+base+at+": truncated: ")
}

// matchesAny reports whether a pattern matches a file or a folder above it.
func matchesAny(patterns []string, file string) bool {
	for ; file != "."; file = filepath.ToSlash(filepath.Dir(file)) {
		for _, pattern := range patterns {
			if ok, _ := filepath.Match(pattern, file); ok {
				return true
			}
		}
	}
	return false
}

// sameKept checks the files of a copy: those that are left on the server, and those that are kept.
func sameKept(t *testing.T, dir string, left, kept map[string]string) {
	t.Helper()
	isFolder := func(name, _ string) bool { return strings.HasSuffix(name, "/") }
	want, got := together(left, kept), read(t, dir)
	maps.DeleteFunc(want, isFolder)
	maps.DeleteFunc(got, isFolder)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
}

// Files that were modified or removed locally are not deleted, so they do not count.
func TestMaxDeleteModified(t *testing.T) {
	srv, dir := serveFTP(t, some("a", 12))
	m := start(t, srv.URL+"/")
	ran(t, m, mirror.Summary{New: 12})
	remove(t, dir, "a/0[0-7]")
	write(t, m.Dir, map[string]string{"a/00": "mine, and longer\n"})
	remove(t, m.Dir, "a/01")
	m.Delete = true
	ran(t, m, mirror.Summary{Unchanged: 4, Gone: 8})
	if got := read(t, m.Dir); len(got) != 5 || got["a/00"] != "mine, and longer\n" {
		t.Errorf("%q", got)
	}
}

// An incomplete file survives a listing that is not believed.
func TestMaxDeleteParts(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 20<<10)
	srv, _ := serveFTP(t, together(some("pub", 3), map[string]string{"pub/big": big}), "MLST", "MLSD")
	m := start(t, srv.URL+"/pub")
	m.Delete, m.Connections = true, 1
	srv.On("RETR big", 1, testserver.Truncate(100_000))
	ran(t, m, mirror.Summary{New: 3, Failed: 1})
	srv.On("LIST", 1, testserver.Data(""))
	ran(t, m, mirror.Summary{Kept: 3, Failed: 1})
	srv.ResetFaults()
	srv.ResetTranscript()
	ran(t, m, mirror.Summary{New: 1, Unchanged: 3})
	if diff := cmp.Diff([]string{"REST 95904"}, asked(&srv.Server, "REST")); diff != "" {
		t.Error(diff)
	}
}

// A menu of a gopher site that lists nothing any more, although it has its end mark.
func TestMaxDeleteGopher(t *testing.T) {
	for name, c := range map[string]struct {
		removed []string
		want    mirror.Summary
		at      string
	}{
		"a menu":         {[]string{"b/*"}, mirror.Summary{Changed: 1, Unchanged: 5, Kept: 2, Failed: 1}, "/1/b: "},
		"a menu, and it": {[]string{"b"}, mirror.Summary{Changed: 1, Unchanged: 4, Gone: 3}, ""},
		"the root":       {[]string{"a", "b"}, mirror.Summary{Changed: 1, Kept: 7, Failed: 1}, "/: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, together(some("a", 3), some("b", 2)))
			srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = os.DirFS(dir) })
			m := start(t, srv.URL+"/")
			_, err := m.Run(t.Context())
			if got, again := m.Run(t.Context()); err != nil || again != nil || got.Unchanged != 8 {
				t.Fatalf("%+v, %v, %v", got, err, again)
			}
			want := read(t, m.Dir)
			remove(t, dir, c.removed...)
			m.Delete = true
			for round := range 2 { // the menu itself changes in the first one
				if round == 1 {
					c.want.Changed, c.want.Unchanged = 0, c.want.Unchanged+1
					c.want.Gone = 0
				}
				failed := complaints(m, srv.URL)
				ran(t, m, c.want)
				if c.at != "" && (len(*failed) != 1 || !strings.HasPrefix((*failed)[0], c.at)) {
					t.Errorf("%q", *failed)
				}
				for file := range read(t, m.Dir) {
					delete(want, file)
				}
				if len(want) > 0 && c.at != "" {
					t.Errorf("deleted: %q", want)
				}
			}
		})
	}
}

// Articles of a newsgroup expire; a group that is empty deletes none.
func TestMaxDeleteNews(t *testing.T) {
	article := "From: a@b.example\r\nNewsgroups: g.test\r\nSubject: s\r\nDate: Wed, 04 Mar 2020 05:06:07 +0000\r\nMessage-ID: <1@x.example>\r\n\r\none\r\n"
	groups := map[string][]string{"g.test": {article}}
	srv := nntptest.New(t, func(s *nntptest.Server) { s.Groups = groups })
	m := start(t, srv.URL+"/g.test")
	ran(t, m, mirror.Summary{New: 1})
	srv.On("GROUP", 0, testserver.Reply("211 0 2 1 g.test"))
	m.Delete = true
	ran(t, m, mirror.Summary{Kept: 1, Failed: 1})
	m.MaxDelete = 1
	ran(t, m, mirror.Summary{Gone: 1})
}

// No error of a listing deletes anything in its folder or below it, whatever was received before and
// whatever MaxDelete permits.
func TestListingErrorsDeleteNothing(t *testing.T) {
	const one = "type=file;size=4;modify=20200304050607; 00\r\n"
	for name, faults := range map[string]map[string][]ftptest.Fault{
		"refused":              {"MLSD": {testserver.Reply("550 No.")}, "LIST": {testserver.Reply("550 No.")}},
		"refused for now":      {"MLSD": {testserver.Reply("450 Not now.")}},
		"no such folder":       {"CWD": {testserver.Reply("550 No such directory.")}},
		"broken off":           {"MLSD": {testserver.Data(one)}, "END": {testserver.Reply("426 Broken off.")}},
		"broken off, empty":    {"MLSD": {testserver.Data("")}, "END": {testserver.Reply("426 Broken off.")}},
		"aborted, empty":       {"MLSD": {testserver.Data("")}, "END": {testserver.Reply("451 Local error.")}},
		"connection is closed": {"MLSD": {testserver.Data(one)}, "END": {testserver.Close()}},
		"closed, empty":        {"MLSD": {testserver.Data("")}, "END": {testserver.Close()}},
		"cut":                  {"MLSD": {testserver.Truncate(50)}},
		"reset":                {"MLSD": {testserver.Reset(50)}},
		"421":                  {"MLSD": {testserver.Reply("421 Goodbye.")}},
	} {
		for _, at := range []string{"/a", "/"} {
			t.Run(name+at, func(t *testing.T) {
				srv, _ := serveFTP(t, together(some("a", 4), some("a/deep", 2), some("b", 20)))
				m := start(t, srv.URL+at)
				m.Connections = 1
				if _, err := m.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := read(t, m.Dir)
				for stage, list := range faults {
					srv.On(stage, 0, list...)
				}
				m.Delete, m.MaxDelete = true, -1
				got, err := m.Run(t.Context())
				if err == nil || got.Failed == 0 || got.Gone > 0 || errors.Is(err, mirror.ErrMaxDelete) {
					t.Errorf("%+v, %v", got, err)
				}
				sameFiles(t, m.Dir, want)
			})
		}
	}
}
