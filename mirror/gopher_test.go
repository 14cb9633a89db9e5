package mirror_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// A gopher site has cycles, and links to other servers.
func TestGopher(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"gophermap":   "Welcome\n1A\t/a\n1B\t/b/\n0About\t/about.txt\n7Search\t/find\n8Telnet\t\thost\t23\n0Elsewhere\t/x\tother.example\t70\nhWeb\tURL:http://h/\n",
		"a/gophermap": "1B\t/b\n1Home\t/\n9Data\t/a/data.bin\n0Up\t/../../etc/passwd\n",
		"b/gophermap": "1A\t/a\n0About\t/about.txt\n",
		"about.txt":   "About.\n", "a/data.bin": "\x00\x01\x02",
	})
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = os.DirFS(dir) })
	m := start(t, srv.URL+"/")
	var skipped []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Skipped {
			skipped = append(skipped, e.File)
		}
	}
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{New: 5, Failed: 1, Skipped: 4, Unsure: 1}) {
		t.Errorf("%+v, %v; %q", got, err, skipped)
	}
	files := read(t, m.Dir)
	if files["about.txt"] != "About.\r\n" || files["a/data.bin"] != "\x00\x01\x02" || len(files) != 5 {
		t.Errorf("%q", files)
	}
	if menu := files["b/gophermap"]; !strings.HasPrefix(menu, "1A\t/a\t127.0.0.1\t") || strings.Contains(menu, "\n.\r") {
		t.Errorf("the menu is %q", menu)
	}
	// Without dates every document is fetched again, and nothing is written.
	write(t, dir, map[string]string{"about.txt": "Other.\n"})
	if got, err = m.Run(t.Context()); counts(got) != (mirror.Summary{Changed: 1, Unchanged: 4, Failed: 1, Skipped: 4}) {
		t.Errorf("%+v, %v", got, err)
	}
	if files := read(t, m.Dir); files["about.txt"] != "Other.\r\n" {
		t.Errorf("%q", files)
	}
	// A file that was modified locally is replaced, and so is a menu.
	write(t, m.Dir, map[string]string{"b/gophermap": "spoilt"})
	if got, err = m.Run(t.Context()); counts(got) != (mirror.Summary{Changed: 1, Unchanged: 4, Failed: 1, Skipped: 4}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := read(t, m.Dir)["b/gophermap"]; got != files["b/gophermap"] {
		t.Errorf("the menu is %q", got)
	}
	// With NewOnly nothing is fetched again.
	write(t, dir, map[string]string{"about.txt": "Third.\n"})
	srv.ResetTranscript()
	m.NewOnly = true
	if got, err = m.Run(t.Context()); counts(got) != (mirror.Summary{Unchanged: 5, Failed: 1, Skipped: 4}) {
		t.Errorf("%+v, %v", got, err)
	}
	if strings.Contains(srv.Transcript().String(), "about.txt") {
		t.Error("about.txt was asked for")
	}
}

// Gopher+ has the modification times of items, so that unchanged items are not fetched.
func TestGopherPlus(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Dialect = gophertest.UMNGopher
		s.Content = fstest.MapFS{
			"salmon": {Data: []byte("Salmon.\n"), ModTime: modified}, "trout": {Data: []byte("Trout.\n"), ModTime: modified},
		}
	})
	m := start(t, srv.URL+"/")
	ran(t, m, mirror.Summary{New: 3})
	srv.ResetTranscript()
	ran(t, m, mirror.Summary{Unchanged: 3})
	if said := srv.Transcript().String(); strings.Contains(said, "salmon\r") || strings.Contains(said, `salmon"`) {
		t.Errorf("fetched again: %s", said)
	}
	if info, err := os.Stat(filepath.Join(m.Dir, "salmon")); err != nil || !info.ModTime().Equal(modified) {
		t.Errorf("%v, %v", info, err)
	}
}

func TestNews(t *testing.T) {
	article := func(id, body string) string {
		return "From: a@b.example\r\nNewsgroups: g.test\r\nSubject: s\r\nDate: Wed, 04 Mar 2020 05:06:07 +0000\r\nMessage-ID: <" + id + "@x.example>\r\n\r\n" + body
	}
	srv := nntptest.New(t, func(s *nntptest.Server) {
		s.Groups = map[string][]string{"g.test": {article("1", "one\r\n"), article("2", ".two\r\n")}}
	})
	m := start(t, srv.URL+"/g.test")
	ran(t, m, mirror.Summary{New: 2})
	if got := read(t, m.Dir); got["2"] != article("2", ".two\r\n") || len(got) != 2 {
		t.Errorf("%q", got)
	}
	srv.ResetTranscript()
	ran(t, m, mirror.Summary{Unchanged: 2})
	if got := asked(&srv.Server, "ARTICLE"); len(got) > 0 {
		t.Errorf("%q", got)
	}

	other := nntptest.New(t, func(s *nntptest.Server) {
		s.Groups = map[string][]string{"g.test": {article("9", "nine\r\n"), article("1", "one\r\n"), article("3", "three\r\n")}}
	})
	n := start(t, "news:g.test")
	n.Fetcher = newsFrom(t, srv.Addr)
	ran(t, n, mirror.Summary{New: 2})
	n.Fetcher = newsFrom(t, other.Addr) // on which the articles have other numbers
	got, err := n.Run(t.Context())
	if counts(got) != (mirror.Summary{New: 1, Unchanged: 1, Gone: 1, Failed: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"1": article("1", "one\r\n"), "2": article("2", ".two\r\n"), "3": article("3", "three\r\n")}, read(t, n.Dir)); diff != "" {
		t.Error(diff)
	}
}

// newsFrom returns a Resolver that fetches news URLs from a server.
func newsFrom(t *testing.T, addr string) driver.Fetcher {
	r := &fetch1738.Resolver{Env: fetch.Env{NewsServer: addr}}
	t.Cleanup(func() { r.Close() })
	return r
}

// serveNotes serves a site of three texts and a binary, in two menus.
func serveNotes(t *testing.T, configure ...func(*gophertest.Server)) (*gophertest.Server, string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one.txt": "The first text.\nIt has two lines.\n", "sub/two.txt": "The second text.\n", "sub/three.txt": "The third text.\n", "data.bin": "\x00\x01\x02",
	})
	content := func(s *gophertest.Server) { s.Content = os.DirFS(dir) }
	return gophertest.New(t, append([]func(*gophertest.Server){content}, configure...)...), dir
}

// A truncated menu or text looks complete except for its missing end mark. It deletes nothing and
// replaces no copy.
func TestGopherCut(t *testing.T) {
	noDot := func(s *gophertest.Server) { s.NoDot = true }
	for _, server := range []struct {
		name      string
		configure func(*gophertest.Server)
		unsure    int // in the first run
	}{
		{"marks ends", func(*gophertest.Server) {}, 1},
		{"marks none", noDot, 6},
	} {
		for _, cut := range []struct {
			name, stage string
			octets      int64
		}{
			{"empty root", "REQUEST ", 0}, {"one item", "REQUEST ", 34}, {"middle of a line", "REQUEST ", 50},
			{"empty menu", "REQUEST /sub", 0}, {"first item of a menu", "REQUEST /sub", 44}, {"first line of a menu", "REQUEST /sub", 20},
			{"empty text", "REQUEST /one.txt", 0}, {"first line of a text", "REQUEST /one.txt", 17}, {"first word", "REQUEST /one.txt", 3},
			{"binary", "REQUEST /data.bin", 1},
		} {
			t.Run(server.name+"/"+cut.name, func(t *testing.T) {
				srv, _ := serveNotes(t, server.configure)
				m := start(t, srv.URL+"/")
				m.Delete = true
				ran(t, m, mirror.Summary{New: 6, Unsure: server.unsure})
				want := read(t, m.Dir)
				srv.On(cut.stage, 0, testserver.Truncate(cut.octets))
				got, err := m.Run(t.Context())
				if !errors.Is(err, fetch.ErrTruncated) || got.Failed == 0 || got.Gone+got.Changed+got.New > 0 {
					t.Errorf("%+v, %v", got, err)
				}
				sameFiles(t, m.Dir, want)
				srv.ResetFaults()
				if _, err := m.Run(t.Context()); err != nil {
					t.Error(err)
				}
				sameFiles(t, m.Dir, want)
			})
		}
	}
}

// The copy of a document that had an end mark is not replaced by a response without one, even if two
// requests return the same. That it had one is remembered, whatever came meanwhile.
func TestGopherMarkMissing(t *testing.T) {
	for _, doc := range []struct {
		stage, file string
		changes     map[string]string
		cut         int64 // after the first line
	}{
		{"REQUEST /one.txt", "one.txt", map[string]string{"one.txt": "Another text.\nIt has two lines, too.\n"}, 15},
		{"REQUEST /sub", "sub/gophermap", map[string]string{"sub/another.txt": "Another text.\n"}, 30},
	} {
		for _, tc := range []struct {
			name     string
			unmarked int  // the run in which the server sends no end mark, if any
			runs     int  // before the document changes
			spoilt   bool // the copy, before the last of these runs
		}{
			{"received once", 0, 1, false}, {"then unmarked", 2, 2, false}, {"then unmarked, in place of a spoilt copy", 2, 2, true}, {"unmarked at first", 1, 2, false},
		} {
			t.Run(doc.file+"/"+tc.name, func(t *testing.T) {
				srv, dir := serveNotes(t)
				m := start(t, srv.URL+"/")
				for n := 1; n <= tc.runs; n++ {
					if n == tc.unmarked {
						srv.On(doc.stage, 0, testserver.NoDot())
					}
					if n > 1 && tc.spoilt {
						write(t, m.Dir, map[string]string{doc.file: "spoilt"})
					}
					if _, err := m.Run(t.Context()); err != nil {
						t.Fatal(err)
					}
					srv.ResetFaults()
				}
				want := read(t, m.Dir)
				write(t, dir, doc.changes)
				srv.On(doc.stage, 0, testserver.Truncate(doc.cut))
				got, err := m.Run(t.Context())
				if !errors.Is(err, fetch.ErrTruncated) || !strings.Contains(err.Error(), "although the copy had one") || got.Changed > 0 {
					t.Errorf("%+v, %v", got, err)
				}
				sameFiles(t, m.Dir, want)
			})
		}
	}
}

// A server without end marks can be mirrored: new documents are copied, changed ones are requested
// twice, and nothing counts as gone.
func TestGopherWithoutMarks(t *testing.T) {
	srv, dir := serveNotes(t, func(s *gophertest.Server) { s.NoDot = true })
	m := start(t, srv.URL+"/")
	ran(t, m, mirror.Summary{New: 6, Unsure: 6})
	ran(t, m, mirror.Summary{Unchanged: 6, Unsure: 2}) // received twice, so only the menus are unsure
	write(t, dir, map[string]string{"one.txt": "Another text.\n", "new.txt": "New.\n"})
	srv.ResetTranscript()
	ran(t, m, mirror.Summary{New: 1, Changed: 2, Unchanged: 4, Unsure: 3})
	if asks := strings.Count(srv.Transcript().String(), `"/one.txt\r\n"`); asks != 2 {
		t.Errorf("one.txt was requested %d times", asks)
	}
	if got := read(t, m.Dir); got["one.txt"] != "Another text.\r\n" || got["new.txt"] != "New.\r\n" {
		t.Errorf("%q", got)
	}

	// The copy of a text that differs in each response is kept.
	write(t, dir, map[string]string{"one.txt": "It is ten.\n"})
	srv.On("REQUEST /one.txt", 2, testserver.Data("It is eleven.\r\n"))
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{Unchanged: 6, Failed: 1, Unsure: 2}) || !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("%+v, %v", got, err)
	}
	srv.ResetFaults()
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 6, Unsure: 2})

	// Files that disappear are kept, which is an error with Delete.
	if err := os.Remove(filepath.Join(dir, "data.bin")); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 5, Unsure: 2})
	m.Delete = true
	got, err = m.Run(t.Context())
	if counts(got) != (mirror.Summary{Unchanged: 6, Failed: 1, Unsure: 2}) || !errors.Is(err, fetch.ErrTruncated) ||
		!strings.Contains(err.Error(), "1 files are no longer in any menu but were not deleted") {
		t.Errorf("%+v, %v", got, err)
	}
	if got := read(t, m.Dir)["data.bin"]; got != "\x00\x01\x02" {
		t.Errorf("data.bin is %q", got)
	}
}

// A text in place of a menu, by which gophernicus says that it is missing, is not a copy of it, nor
// does anything count as gone.
func TestGopherNoMenu(t *testing.T) {
	srv, _ := serveNotes(t)
	m := start(t, srv.URL+"/")
	const page = "Error: File or directory not found!\r\n___\r\n   Gophered by Gophernicus\r\n"
	srv.On("REQUEST /sub", 1, testserver.Data(page))
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{New: 3, Unsure: 1, Failed: 1}) || !errors.Is(err, fetch.ErrProtocol) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, there := read(t, m.Dir)["sub/gophermap"]; there {
		t.Error("the text is in the copy")
	}
	srv.ResetFaults()
	ran(t, m, mirror.Summary{New: 3, Unchanged: 3})
	before := read(t, m.Dir)
	m.Delete = true
	for _, stage := range []string{"REQUEST /sub", "REQUEST "} {
		srv.On(stage, 0, testserver.Data(page))
		if got, err := m.Run(t.Context()); got.Gone != 0 || got.Failed != 1 || !errors.Is(err, fetch.ErrProtocol) {
			t.Errorf("%s: %+v, %v", stage, got, err)
		}
		srv.ResetFaults()
	}
	if diff := cmp.Diff(before, read(t, m.Dir)); diff != "" {
		t.Error(diff)
	}
}

// A truncated menu is detected even if a filter excludes menus from the copy.
func TestGopherCutFiltered(t *testing.T) {
	srv, _ := serveNotes(t)
	m := start(t, srv.URL+"/")
	m.Delete, m.Include = true, []string{"*.txt"}
	ran(t, m, mirror.Summary{New: 3})
	want := read(t, m.Dir)
	srv.On("REQUEST /sub", 0, testserver.Truncate(0))
	got, err := m.Run(t.Context())
	if !errors.Is(err, fetch.ErrTruncated) || counts(got) != (mirror.Summary{Unchanged: 1, Failed: 1, Unsure: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	sameFiles(t, m.Dir, want)
}

// A document that was truncated in the first run is replaced by the next one, even if the server
// sends dates.
func TestGopherFirstAnswerCut(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Dialect = gophertest.UMNGopher
		s.Content = fstest.MapFS{"salmon": {Data: []byte("Salmon.\nTrout.\n"), ModTime: modified}}
	})
	srv.On("REQUEST /salmon", 1, testserver.Truncate(9))
	m := start(t, srv.URL+"/")
	ran(t, m, mirror.Summary{New: 2, Unsure: 1})
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 1})
	ran(t, m, mirror.Summary{Unchanged: 2})
	sums(t, m.Dir)
	if got := read(t, m.Dir)["salmon"]; got != "Salmon.\r\nTrout.\r\n" {
		t.Errorf("%q", got)
	}
}

// A site whose menus use another name for the server is mirrored with that name as an alias. All
// requests go to the server of the start URL.
func TestAliases(t *testing.T) {
	srv, _ := serveNotes(t, func(s *gophertest.Server) { s.Host, s.Port = "Notes.example", 70 })
	for _, aliases := range [][]string{nil, {"other.example:70"}, {"notes.example"}, {"notes.example:71"}} {
		m := start(t, srv.URL+"/")
		m.Aliases = aliases
		ran(t, m, mirror.Summary{New: 1, Skipped: 3})
	}
	m := start(t, srv.URL+"/")
	m.Aliases = []string{"other.example", "notes.example:70"}
	ran(t, m, mirror.Summary{New: 6, Unsure: 1})
	ran(t, m, mirror.Summary{Unchanged: 6})
	if got := read(t, m.Dir); got["sub/two.txt"] != "The second text.\r\n" || len(got) != 6 {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{"", "a/b", "a:b", "a b"} {
		m.Aliases = []string{bad}
		if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "expected HOST or HOST:PORT") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
