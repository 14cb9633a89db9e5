package browse

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// browsed runs a session with commands from a pipe.
func browsed(t *testing.T, commands string, args ...string) (code int, out, errs string) {
	t.Helper()
	var shown, told strings.Builder
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	code = Command().Run(context.Background(), args, stdio.Streams{In: strings.NewReader(commands), Out: &shown, Err: &told})
	return code, shown.String(), told.String()
}

// A server's links are the server's, not the user's: they may not lead to local files or to ports of
// other services.
func TestLinksAreLinks(t *testing.T) {
	for name, content := range map[string]string{
		"page": `<a href="file:///etc/hostname">1</a> <a href="gopher://127.0.0.1:25/1x">2</a>`,
		"text": "file:///etc/hostname gopher://127.0.0.1:25/1x",
	} {
		web := webtest.New(t, func(s *webtest.Server) {
			s.Content = fstest.MapFS{"page.html": {Data: []byte(content)}}
			s.MediaTypes = map[string]string{".html": map[string]string{"page": "text/html", "text": "text/plain"}[name]}
		})
		for _, command := range []string{"1", "save 1", "save 1 x", "explain 1", "open 1 with cat", "source 1", "2", "save 2", "mirror 2"} {
			t.Chdir(t.TempDir())
			code, out, errs := browsed(t, command+"\n", web.URL+"/page.html")
			rule, want := "remote-to-local", 1
			if strings.Contains(command, "2") {
				rule, want = "reserved-port", 120
			}
			if code != want || !strings.Contains(errs, rule) {
				t.Errorf("%s: %s: exit code %d, %s%s", name, command, code, out, errs)
			}
			if files, _ := filepath.Glob("*"); len(files) > 0 && command != "mirror 2" {
				t.Errorf("%s left %q", command, files)
			}
		}
	}
}

// The login of -u is for the server of the first URL.
func TestLoginStays(t *testing.T) {
	users := map[string]testserver.User{"lab": {Password: "secret"}}
	other := webtest.New(t, func(s *webtest.Server) {
		s.Content, s.Users = fstest.MapFS{"x": {Data: []byte("other\n")}}, users
	})
	first := webtest.New(t, func(s *webtest.Server) {
		s.Users = users
		s.Content = fstest.MapFS{"page.html": {Data: []byte(`<a href="` + other.URL + `/x">1</a> <a href="here.txt">2</a>`)}, "here.txt": {Data: []byte("here\n")}}
	})
	code, out, errs := browsed(t, "1\ngo "+other.URL+"/x\nback\nback\n2\n", "-u", "lab:secret", first.URL+"/page.html")
	if code != 22 || !strings.Contains(out, "here\n") || strings.Contains(out, "other\n") || strings.Count(errs, "401") != 2 {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	for _, line := range other.Transcript() {
		if strings.Contains(line.Text, "Authorization") {
			t.Errorf("the other server got %s", line.Text)
		}
	}
}

// A bookmark has no password.
func TestBookmarkWithoutPassword(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) {
		s.Content, s.Users = fstest.MapFS{"f.txt": {Data: []byte("text\n")}}, map[string]testserver.User{"lab": {Password: "secret"}}
	})
	marks := filepath.Join(t.TempDir(), "new", "marks")
	code, out, errs := browsed(t, "bookmark\nbookmark 1\n", "--bookmarks", marks, strings.Replace(ftp.URL, "//", "//lab:secret@", 1)+"/")
	content, err := os.ReadFile(marks)
	if err != nil || code != 0 {
		t.Fatalf("exit code %d, %v, %s%s", code, err, out, errs)
	}
	at := strings.Replace(ftp.URL, "//", "//lab@", 1)
	if want := at + "/\n" + at + "/f.txt f.txt\n"; string(content) != want {
		t.Errorf("%q, want %q", content, want)
	}
	if strings.Contains(out+errs, "secret") {
		t.Error(out, errs)
	}
	if info, err := os.Stat(marks); err == nil && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v", info.Mode())
	}
}

// A save whose connection breaks off is resumed.
func TestSaveResumes(t *testing.T) {
	data := strings.Repeat("0123456789", 20_000)
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"f.bin": {Data: []byte(data)}} })
	ftp.On("RETR", 1, testserver.Truncate(150_000))
	t.Chdir(t.TempDir())
	code, out, errs := browsed(t, "save f.bin\n", ftp.URL+"/")
	if got, err := os.ReadFile("f.bin"); err != nil || string(got) != data {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if code != 0 || !strings.Contains(out, "saved f.bin, 200000 bytes\n") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if !slices.ContainsFunc(ftp.Transcript(), func(l testserver.Line) bool { return strings.HasPrefix(l.Text, "REST ") }) {
		t.Error("it was not resumed")
	}
}

// A page that is not read to its end is left before the next command: its connection is closed, also if
// the server goes on sending.
func TestUnreadPageIsClosed(t *testing.T) {
	content := fstest.MapFS{"big": {Data: make([]byte, 8<<20)}}
	for name, start := range map[string]func(t *testing.T) (*testserver.Server, string){
		"ftp": func(t *testing.T) (*testserver.Server, string) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, content })
			return srv.Common(), srv.URL
		},
		"http": func(t *testing.T) (*testserver.Server, string) {
			srv := webtest.New(t, func(s *webtest.Server) { s.InMemory, s.Content = true, content })
			return srv.Common(), srv.URL
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			synctest.Test(t, func(t *testing.T) {
				srv, url := start(t)
				in := readFunc(func([]byte) (int, error) { // after the page, which a user is reading
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					defer cancel()
					if err := srv.WaitIdle(ctx); err != nil {
						t.Error("the connection is still open: ", err)
					}
					return 0, io.EOF
				})
				var out, errs strings.Builder
				code := Command().Run(t.Context(), []string{url + "/big"}, stdio.Streams{In: in, Out: &out, Err: &errs, Dial: srv.Dial})
				if want := url + "/big: binary file, 8388608 bytes\n" + aboutBinary + "\n"; code != 0 || out.String() != want {
					t.Errorf("exit code %d, %s%s", code, &out, &errs)
				}
			})
		})
	}
}

// readFunc is an io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// The words of a search go to the only search of a page, which may be a form in HTML.
func TestSearch(t *testing.T) {
	web := webtest.New(t, func(s *webtest.Server) {
		s.Content = fstest.MapFS{"page.html": {Data: []byte(`<form action="find"><input type=hidden name=in value="a&amp;b"><input name=q></form> <a href="find">apple trees</a>`)}, "find": {Data: []byte("found\n")}}
		s.MediaTypes = map[string]string{".html": "text/html"}
	})
	code, out, errs := browsed(t, "search apple trees\nsearch 1 figs\nback 1\nsearch 1 plums\nback\n1\nsearch apple trees\n", web.URL+"/page.html")
	var asked []string
	for _, line := range web.Transcript() {
		if path, ok := strings.CutPrefix(line.Text, "GET "); ok {
			asked = append(asked, strings.TrimSuffix(path, " HTTP/1.1"))
		}
	}
	if want := []string{"/page.html", "/find?in=a%26b&q=apple+trees", "/find?in=a%26b&q=1+figs", "/find?in=a%26b&q=plums", "/find?in=a%26b&q=apple+trees"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q; %s", asked, want, out)
	}
	if code != 2 || errs != "fetch1738: (2) link 1 is a form; enter search 1 WORDS\n" || !strings.Contains(out, `/find?in=a%26b&q=1+figs: text, search for "1 figs", 1 line`) {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// TestAbove tests where up leads to.
func TestAbove(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://h/a/b":               "ftp://h/a/",
		"ftp://h/a/":                "ftp://h/",
		"ftp://h/":                  "",
		"http://h/a/b?c=d":          "http://h/a/",
		"http://h/a/":               "http://h/",
		"http://h":                  "",
		"ftp://h":                   "",
		"file:///a/b":               "file:///a/",
		"gopher://h:71/0/a/b%20c":   "gopher://h:71/1/a",
		"gopher://h/1/a/":           "gopher://h/",
		"gopher://h/7/a/find%09x":   "gopher://h/1/a",
		"gopher://h/7/a/find?x/y":   "gopher://h/1/a",
		"gopher://h/00/a/b":         "gopher://h/11/a",
		"gopher://h/9a":             "gopher://h/",
		"gopher://h/hURL:http://x/": "gopher://h/",
		"gopher://h/7":              "gopher://h/",
		"gopher://h/":               "",
		"gopher://h":                "",
		"nntp://h/a.b/7":            "nntp://h/a.b",
		"nntp://h:1119/a.b":         "nntp://h:1119/",
		"nntps://h/a.b":             "nntps://h/",
		"nntp://h/":                 "",
		"news:a.b":                  "news:*",
		"news:*":                    "",
		"wais://h/db?x":             "wais://h/db",
		"wais://h/db":               "wais://h/",
		"wais://h/":                 "",
		"prospero://h//a/b":         "prospero://h//a",
		"prospero://h/a":            "",
		"mailto:a@h":                "",
	} {
		got := ""
		if l := above(parsed(t, url)); l != nil {
			got = l.String()
		}
		if got != want {
			t.Errorf("above %s: %q, want %q", url, got, want)
		}
	}
}

// The names that a server chooses stay in the folder, and no word of a program's command comes from
// the server.
func TestNamesFromServers(t *testing.T) {
	web := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"d/gophermap": {Data: []byte("0one\t/../../x\n0two\t/-rf\n0three\t/a;touch pwned\n")}, "x": {}, "-rf": {}, "a;touch pwned": {Data: []byte("text\n")}}
	})
	t.Chdir(t.TempDir())
	_, out, errs := browsed(t, "save 1\nsave 2\nopen 3 with cat\n", web.URL+"/1/d")
	files, _ := filepath.Glob("*")
	for _, name := range files {
		if strings.HasPrefix(name, "-") || name == "pwned" {
			t.Errorf("file %q", name)
		}
	}
	if _, err := os.Stat("../x"); err == nil || !strings.HasSuffix(out, "\ntext\r\n") {
		t.Errorf("%v, %q %s", err, out, errs)
	}
}

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                    nil,
		"save 1":              {"save", "1"},
		` save "a b"  c `:     {"save", "a b", "c"},
		`say "open`:           {"say", `"open`},
		`open 1 with a "b c"`: {"open", "1", "with", "a", "b c"},
	} {
		if got := split(line); !slices.Equal(got, want) {
			t.Errorf("split(%q) = %q, want %q", line, got, want)
		}
	}
}

// A link is named by its number, its name, or the beginning of that if no other begins so.
func TestEntry(t *testing.T) {
	s := &session{pages: []*page{{links: []link{{name: "Alpha"}, {name: "alpine"}, {name: "beta test"}, {name: "beta"}}}}}
	for word, want := range map[string]string{"1": "Alpha", "Alpha": "Alpha", "beta": "beta", "BETA ": "beta test", "alpi": "alpine", "0": "", "5": "", "al": "", "x": "", "": ""} {
		if got, err := s.entry(word); got.name != want || (err == nil) != (want != "") {
			t.Errorf("entry(%q) = %q, %v", word, got.name, err)
		}
	}
	for begun, want := range map[string][]string{
		"":         nil,
		"bet":      {"beta", "beta test"},
		"save bet": {`save "beta test"`, "save beta"},
		"sa":       {"save "},
		"save Al":  {"save Alpha"},
		"zz":       nil,
	} {
		if got := s.complete(begun); !slices.Equal(got, want) {
			t.Errorf("complete(%q) = %q, want %q", begun, got, want)
		}
	}
}

// Names and short names of commands differ from one another.
func TestCommands(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range commands() {
		for _, name := range []string{c.name, c.short} {
			if name != "" && seen[name] {
				t.Errorf("%s stands for two commands", name)
			}
			seen[name] = true
		}
		if !strings.Contains(Command().Help(80), "\n  "+c.name) {
			t.Errorf("--help lacks %s", c.name)
		}
	}
}
