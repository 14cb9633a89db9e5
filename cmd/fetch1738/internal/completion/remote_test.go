package completion

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/used"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// run is a run of the program at which the servers of urls were used.
func run(t *testing.T, urls ...string) stdio.Streams {
	t.Helper()
	t.Setenv("HOME", t.TempDir()) // without a configuration file
	t.Setenv("XDG_CONFIG_HOME", "")
	notes := used.In(t.TempDir())
	for _, url := range urls {
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		notes.Note(ref.Locator, "")
	}
	return stdio.Streams{Notes: notes}
}

// safe reports whether no shell interprets text in a word, and no terminal obeys it.
func safe(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._~+,@-/%:", r)
	})
}

// TestHostileListing: names of a server come as parts of URLs that name these files, in characters that
// mean nothing to a shell.
func TestHostileListing(t *testing.T) {
	names := []string{"a b", "it's", "$(reboot)", "`id`", "esc\x1b[2J", "\u009b2J", "tab\there", `back\slash`, "*?[x]{a,b}", "%41", "#x", ";type=d", "ünï", "~root", "!!", "a=b:c@d", "&&|><"}
	content := fstest.MapFS{"pub/dir with space/x": {}}
	for _, name := range names {
		content["pub/"+name] = &fstest.MapFile{Data: []byte(name)}
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	std := run(t, srv.URL)
	found := remotePaths(t.Context(), std, srv.URL+"/pub/")
	for _, url := range found {
		if !safe(url) {
			t.Errorf("%q is not safe", url)
		}
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		l := ref.Locator.(*locator.FTP)
		if i := slices.Index(names, l.Name); i >= 0 && len(l.CWD) == 1 && l.Type == 0 {
			names = slices.Delete(names, i, i+1)
		} else if l.Name != "" || len(l.CWD) != 2 || l.CWD[1] != "dir with space" {
			t.Errorf("%s names %q %q", url, l.CWD, l.Name)
		}
	}
	if len(names) > 0 {
		t.Errorf("not found: %q in %q", names, found)
	}
}

// TestContinued: what is typed stays as it is, however it is encoded.
func TestContinued(t *testing.T) {
	for _, tc := range []struct{ typed, line, want string }{
		{"", "a%20b", "a%20b"}, {"a", "a%20b", "a%20b"}, {"a%2", "a%20b", "a%20b"}, {"a%", "a%20b", "a%20b"}, {"a b", "a%20b", "a b"}, {"a ", "a%20b%20c", "a b%20c"},
		{"%61", "a%20b", "%61%20b"}, {"it'", "it%27s%28", "it's%28"}, {"x", "a%20b", ""}, {"a%20b", "a%20b/", "a%20b/"}, {"A", "a", ""},
		{"%C3%BC", "%C3%BCn", "%C3%BCn"}, {"ü", "%C3%BCn", "ün"}, {"%c3%bc", "%C3%BCn", "%c3%bcn"}, {"%25", "%2541", "%2541"}, {"%4", "%2541", ""},
	} {
		got, ok := continued(tc.typed, tc.line)
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("%q, %q: %q, %v", tc.typed, tc.line, got, ok)
		}
	}
}

func FuzzContinued(f *testing.F) {
	f.Add("a b", "a b c")
	f.Add("%c3", "ü")
	f.Fuzz(func(t *testing.T, typed, name string) {
		got, ok := continued(typed, encoded(name))
		if rest, begins := strings.CutPrefix(got, typed); ok && (!begins || !safe(rest)) {
			t.Errorf("%q becomes %q", typed, got)
		}
	})
}

// TestNotAsked: what cannot or may not be completed reaches no server.
func TestNotAsked(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"pub/a": {}} })
	std := run(t, srv.URL)
	at := strings.TrimPrefix(srv.URL, "ftp://")
	for _, typed := range []string{
		"", "x", "ftp:", "ftp://", srv.URL, "ftp://me:secret@" + at + "/", "ftp://me:@" + at + "/", srv.URL + "/p*", srv.URL + "/{a,b}/", srv.URL + "/pub;type=", srv.URL + "/[a]/",
		srv.URL + "/pub/\x1b", srv.URL + "/pub/\x00", "http://" + at + "/", "ftps://" + at + "/", "mailto:a@b/", "nntp://" + at + "/a/1", "foo://" + at + "/", "://" + at + "/",
	} {
		if got := remotePaths(t.Context(), std, typed); got != nil {
			t.Errorf("%q becomes %q", typed, got)
		}
	}
	if got := remotePaths(t.Context(), stdio.Streams{}, srv.URL+"/"); got != nil {
		t.Errorf("without notes: %q", got)
	}
	if lines := srv.Transcript().From(testserver.FromClient); len(lines) > 0 {
		t.Errorf("sent %q", lines)
	}
	if got := remotePaths(t.Context(), std, srv.URL+"/"); !slices.Equal(got, []string{srv.URL + "/pub/"}) {
		t.Errorf("got %q", got)
	}
}

// TestFailure: a listing that fails or does not come in time is not requested again at once.
func TestFailure(t *testing.T) {
	for name, fault := range map[string]ftptest.Fault{"silent": testserver.Silence(), "refuses": testserver.Reply("530 Not now.")} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"pub/a": {}} })
			srv.On("PASS", 0, fault)
			std := run(t, srv.URL)
			first, cancel := t.Context(), func() {}
			if name == "silent" {
				first, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond) // in place of patience
			}
			defer cancel()
			if got := remotePaths(first, std, srv.URL+"/"); got != nil {
				t.Errorf("got %q", got)
			}
			srv.ResetFaults()
			if got := remotePaths(t.Context(), std, srv.URL+"/"); got != nil {
				t.Errorf("the server was asked again: %q", got)
			}
			if got := remotePaths(t.Context(), std, srv.URL+"/pub/"); !slices.Equal(got, []string{srv.URL + "/pub/a"}) {
				t.Errorf("another directory: %q", got)
			}
		})
	}
}

// TestNoPrompt: without a password, the paths of a user are not completed. A prompt would have the
// terminal, and this test wait for it.
func TestNoPrompt(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content, s.Users = fstest.MapFS{"pub/a": {}}, map[string]testserver.User{"me": {Password: "secret"}}
	})
	std := run(t, srv.URL)
	if got := remotePaths(t.Context(), std, strings.Replace(srv.URL, "ftp://", "ftp://me@", 1)+"/"); got != nil {
		t.Errorf("got %q", got)
	}
}

// TestMenus completes gopher-paths by the menus that have them.
func TestMenus(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"gophermap":     {Data: []byte("1Pub\t/pub\n0About\tabout me\n7Find\t/find\n1Other\t/\tgopher.example.org\t70\nhWeb\tURL:http://h/\ninfo\n")},
			"pub/gophermap": {Data: []byte("0One\t/pub/one\n1Deep\t/pub/deep\n")},
		}
	})
	std := run(t, srv.URL)
	for typed, want := range map[string][]string{
		"/": {"/0/about%20me", "/1/pub", "/7/find"}, "/1": {"/1/pub"}, "/0/a": {"/0/about%20me"}, "/1/pub/": {"/1/pub/deep"}, "/0/pub/": {"/0/pub/one"}, "/0/pub/x": nil, "/9": nil,
	} {
		var urls []string
		for _, path := range want {
			urls = append(urls, srv.URL+path)
		}
		if got := remotePaths(t.Context(), std, srv.URL+typed); !slices.Equal(got, urls) {
			t.Errorf("%s becomes %q, want %q", typed, got, urls)
		}
	}
}
