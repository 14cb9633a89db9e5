package mirror_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// skipOnWindows skips a test whose server or copy has names that Windows cannot have.
func skipOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the file system cannot have every name")
	}
}

// aSite has names of which a copy changes some.
var aSite = map[string]string{
	".htaccess": "deny", ".well-known/security.txt": "mail", "a:b.css": "colon", "a?b": "question", "a*b": "star", "a_b": "plain",
	"100%.txt": "%", "a%3Fb": "encoded", "-rf": "option", "~user/x": "tilde", "CON": "device", "end. ": "end",
	".git/config": "run", ".GIT/config": "upper", ".envrc": "run", "esc\x1b[2J": "clear", `back\slash`: "one name",
}

// bring returns an Upload of the copy of m.
func bring(t *testing.T, m *mirror.Mirror) *deploy.Upload {
	t.Helper()
	names, err := mirror.ServerNames(t.Context(), m.Dir, m.Start, m.Names)
	if err != nil {
		t.Fatal(err)
	}
	return &deploy.Upload{Fetcher: m.Fetcher, Dir: m.Dir, Start: m.Start, ServerName: names, Delete: m.Delete, MaxDelete: m.MaxDelete}
}

// brings runs an Upload of the copy of m, and checks its Summary.
func brings(t *testing.T, m *mirror.Mirror, want deploy.Summary) {
	t.Helper()
	got, err := bring(t, m).Run(t.Context())
	if got.Octets = 0; err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// stored returns the files of a server below a directory, and its empty directories with a slash.
func stored(t *testing.T, srv interface{ Files() fs.FS }, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := fs.WalkDir(srv.Files(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		below := strings.TrimPrefix(name, dir+"/")
		if e.IsDir() {
			entries, err := fs.ReadDir(srv.Files(), name)
			if len(entries) == 0 {
				files[below+"/"] = ""
			}
			return err
		}
		b, err := fs.ReadFile(srv.Files(), name)
		files[below] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func hasFiles(t *testing.T, srv interface{ Files() fs.FS }, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, stored(t, srv, dir)); diff != "" {
		t.Errorf("the server differs (-want +got):\n%s", diff)
	}
}

// renamed makes m record its changes of names, as "here: there".
func renamed(m *mirror.Mirror) func() []string {
	var list []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Renamed {
			list = append(list, e.File+": "+e.Name)
		}
	}
	return func() []string {
		all := list
		list = nil
		slices.Sort(all)
		return all
	}
}

func said(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" && len(got)+len(want) > 0 {
		t.Errorf("the changes of names differ (-want +got):\n%s", diff)
	}
}

// withNames returns files with some of their names changed: "old", "new" and so on.
func withNames(files map[string]string, pairs ...string) map[string]string {
	changed := make(map[string]string)
	for name, text := range files {
		for i := 0; i < len(pairs); i += 2 {
			if rest, ok := strings.CutPrefix(name, pairs[i]); ok && (rest == "" || rest[0] == '/') {
				name = pairs[i+1] + rest
				break
			}
		}
		changed[name] = text
	}
	return changed
}

// changedSite has the names of aSite in a copy with ChangeNames.
var changedSite = []string{
	".htaccess", "%2Ehtaccess", ".well-known", "%2Ewell-known", "a:b.css", "a%3Ab.css", "a?b", "a%3Fb", "a*b", "a%2Ab", "a%3Fb", "a%253Fb",
	"-rf", "%2Drf", "~user", "%7Euser", "CON", "%43ON", "end. ", "end%2E%20", ".git", "%2Egit", ".GIT", "%2EGIT", ".envrc", "%2Eenvrc",
	"esc\x1b[2J", "esc%1B[2J", `back\slash`, "back%5Cslash",
}

// A copy keeps the names of the server where that is safe. Each change is said once.
func TestNamesOfACopy(t *testing.T) {
	skipOnWindows(t)
	site := maps.Clone(aSite)
	delete(site, ".GIT/config") // without regard to case it is .git
	srv, _ := serveFTP(t, site)
	automatic := []string{".git", "%2Egit", ".envrc", "%2Eenvrc", "esc\x1b[2J", "esc%1B[2J", `back\slash`, "back%5Cslash"}
	home := filepath.Join(t.TempDir(), "home")
	t.Setenv("HOME", home)
	for _, tc := range []struct {
		name   string
		put    string // a file that the directory has
		dir    string // if not a new one
		names  mirror.Names
		change []string
	}{
		{"new", "", "", mirror.UsualNames, automatic},
		{"empty", ".", "", mirror.UsualNames, automatic},
		{"full", "mine", "", mirror.UsualNames, changedSite},
		{"home", ".", home, mirror.UsualNames, changedSite},
		{"kept", "mine", "", mirror.KeepNames, []string{`back\slash`, "back%5Cslash"}},
		{"changed", "", "", mirror.ChangeNames, changedSite},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := start(t, srv.URL)
			if m.Names = tc.names; tc.dir != "" {
				m.Dir = tc.dir
			}
			want := withNames(site, tc.change...)
			switch tc.put {
			case "":
			case ".":
				write(t, m.Dir, map[string]string{"x": ""})
				remove(t, m.Dir, "x")
			default:
				write(t, m.Dir, map[string]string{tc.put: "mine"})
				want[tc.put] = "mine"
			}
			var changes []string
			for i := 0; i < len(tc.change); i += 2 {
				if tc.change[i] != ".GIT" {
					changes = append(changes, tc.change[i+1]+": "+tc.change[i])
				}
			}
			all := renamed(m)
			m.DryRun = true
			ran(t, m, mirror.Summary{New: len(site), Renamed: len(changes)})
			said(t, all(), changes...)
			m.DryRun = false
			ran(t, m, mirror.Summary{New: len(site), Renamed: len(changes)})
			said(t, all(), changes...)
			if diff := cmp.Diff(want, read(t, m.Dir)); diff != "" {
				t.Errorf("the copy differs (-want +got):\n%s", diff)
			}
			m.Delete = true
			m.Names = mirror.UsualNames
			ran(t, m, mirror.Summary{Unchanged: len(site)})
			said(t, all())
			if diff := cmp.Diff(want, read(t, m.Dir)); diff != "" {
				t.Errorf("the copy differs in the second run (-want +got):\n%s", diff)
			}
		})
	}
}

// A run in which all files failed decides about the names of the next one: what is there is its own.
func TestNamesAfterFailure(t *testing.T) {
	srv, _ := serveFTP(t, map[string]string{".well-known/a": "a"})
	m := start(t, srv.URL)
	srv.On("RETR", 1, testserver.Reply("550 No."))
	ran(t, m, mirror.Summary{Failed: 1})
	ran(t, m, mirror.Summary{New: 1})
	sameFiles(t, m.Dir, map[string]string{".well-known/a": "a"})
}

// A tree comes down, goes up and comes down again, and is what it was. What is edited here, added to
// a folder and removed goes to where the server has it.
func TestRoundTrip(t *testing.T) {
	skipOnWindows(t)
	site := maps.Clone(aSite)
	delete(site, ".GIT/config")
	site["gr\xfcn/\xff.txt"] = "octets"
	for _, names := range []mirror.Names{mirror.UsualNames, mirror.KeepNames, mirror.ChangeNames} {
		for _, kind := range []string{"ftp", "file"} {
			t.Run(fmt.Sprint(kind, names), func(t *testing.T) {
				files, folder := maps.Clone(site), t.TempDir()
				at := "file://" + folder + "/"
				if kind == "ftp" {
					delete(files, "gr\xfcn/\xff.txt") // the server of the test cannot have it
				}
				write(t, folder, files)
				if err := os.Mkdir(filepath.Join(folder, ".svn"), 0o777); err != nil {
					t.Fatal(err)
				}
				files[".svn/"] = ""
				now := func() map[string]string { return read(t, folder) }
				if kind == "ftp" {
					srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(folder) })
					at = srv.URL
					now = func() map[string]string { return stored(t, srv, ".") }
				}
				m := start(t, at)
				m.Names = names
				if _, err := m.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				m.Names = mirror.UsualNames // an upload asks the manifest
				run := func(want deploy.Summary) {
					t.Helper()
					u, all := bring(t, m), 0
					u.Report = func(e deploy.Event) {
						if e.Action == deploy.Renamed {
							all++
						}
					}
					got, err := u.Run(t.Context())
					if got.Renamed != all {
						t.Errorf("%d names are said to differ", got.Renamed)
					}
					if got.Renamed, got.Octets = 0, 0; err != nil || got != want {
						t.Errorf("up: %+v, %v; want %+v", got, err, want)
					}
					if diff := cmp.Diff(files, now()); diff != "" {
						t.Errorf("the server differs (-want +got):\n%s", diff)
					}
				}
				run(deploy.Summary{Unchanged: len(files) - 1})

				local := func(name string) string { return name }
				if names == mirror.ChangeNames {
					local = func(name string) string { return "%2E" + name[1:] }
				}
				write(t, m.Dir, map[string]string{local(".htaccess"): "allow", local(".well-known") + "/new": "n", "%2Egit/HEAD": "ref"})
				if names == mirror.KeepNames {
					remove(t, m.Dir, "%2Egit")
					write(t, m.Dir, map[string]string{".git/HEAD": "ref"})
				}
				files[".htaccess"], files[".well-known/new"], files[".git/HEAD"] = "allow", "n", "ref"
				run(deploy.Summary{New: 2, Changed: 1, Unchanged: len(files) - 4})

				m.Dir = filepath.Join(t.TempDir(), "again")
				m.Names = mirror.KeepNames
				if _, err := m.Run(t.Context()); err != nil {
					t.Error(err)
				}
				sameFiles(t, m.Dir, withNames(files, `back\slash`, "back%5Cslash"))
			})
		}
	}
}

// earlier writes a copy as earlier versions did: all names are made safe.
func earlier(t *testing.T, m *mirror.Mirror, at string, files map[string]string, safe ...string) {
	t.Helper()
	lines := fmt.Appendf(nil, "{\"url\":%q,\"size\":-1,\"time\":\"2025-01-01T00:00:00Z\",\"start\":true}\n", at+"/")
	here := make(map[string]string)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(files))) {
		text := files[name]
		file := slices.Collect(maps.Keys(withNames(map[string]string{name: ""}, safe...)))[0]
		sum := sha256.Sum256([]byte(text))
		lines = fmt.Appendf(lines, "{\"url\":%q,\"file\":%q,\"size\":%d,\"modified\":\"2020-03-04T05:06:07Z\",\"sha256\":%q,\"time\":\"2025-01-01T00:00:00Z\"}\n",
			at+(&url.URL{Path: "/" + name}).EscapedPath(), file, len(text), hex.EncodeToString(sum[:]))
		here[file] = text
	}
	here[mirror.ManifestFile] = string(lines)
	write(t, m.Dir, here)
}

// A copy of an earlier version stays as it is: nothing is fetched again, and nothing is deleted that
// the server has, also if a listing is missing or empty. New names follow the rules of before.
func TestEarlierCopy(t *testing.T) {
	skipOnWindows(t)
	site := map[string]string{".htaccess": "deny", ".well-known/a": "a", ".well-known/deep/b": "b", "a:b.css": "css", "plain": "p"}
	safe := []string{".htaccess", "_.htaccess", ".well-known", "_.well-known", "a:b.css", "a_b.css"}
	begin := func(t *testing.T) (*mirror.Mirror, *ftptest.Server, string) {
		srv, dir := serveFTP(t, site)
		m := start(t, srv.URL)
		earlier(t, m, srv.URL, site, safe...)
		return m, srv, dir
	}
	want := withNames(site, safe...)
	t.Run("unchanged", func(t *testing.T) {
		for _, names := range []mirror.Names{mirror.UsualNames, mirror.KeepNames, mirror.ChangeNames} {
			m, srv, dir := begin(t)
			m.Delete, m.Names = true, names
			got, err := m.Run(t.Context())
			if err != nil || got.Unchanged != len(site) || got.New+got.Changed+got.Gone+got.Failed > 0 || len(asked(&srv.Server, "RETR")) > 0 {
				t.Errorf("%+v, %v", got, err)
			}
			files := read(t, m.Dir)
			maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
			if diff := cmp.Diff(want, files); diff != "" {
				t.Error(diff)
			}
			write(t, dir, map[string]string{".well-known/.new": "n"})
			if got, err = m.Run(t.Context()); err != nil || got.New != 1 {
				t.Errorf("%+v, %v", got, err)
			}
			file := map[mirror.Names]string{mirror.UsualNames: "_.well-known/_.new", mirror.KeepNames: ".well-known/.new", mirror.ChangeNames: "%2Ewell-known/%2Enew"}[names]
			if read(t, m.Dir)[file] != "n" {
				t.Errorf("no %s in %q", file, slices.Sorted(maps.Keys(read(t, m.Dir))))
			}
		}
	})
	for name, names := range map[string]mirror.Names{"usual": mirror.UsualNames, "kept": mirror.KeepNames} {
		t.Run("failed listing/"+name, func(t *testing.T) {
			m, srv, _ := begin(t)
			m.Delete, m.MaxDelete, m.Names, m.Connections = true, -1, names, 1
			srv.On("MLSD", 2, testserver.Reply("550 No."))
			srv.On("LIST", 0, testserver.Reply("550 No."))
			if got, err := m.Run(t.Context()); err == nil || got.Gone > 0 {
				t.Errorf("%+v, %v", got, err)
			}
			if got := read(t, m.Dir); got["_.well-known/a"] != "a" || got["_.well-known/deep/b"] != "b" {
				t.Errorf("deleted: %q", got)
			}
		})
		t.Run("empty listing/"+name, func(t *testing.T) {
			m, _, dir := begin(t)
			m.Delete, m.Names = true, names
			remove(t, dir, ".well-known/a", ".well-known/deep/b")
			if got, err := m.Run(t.Context()); !errors.Is(err, mirror.ErrMaxDelete) || got.Kept != 2 || got.Gone > 0 {
				t.Errorf("%+v, %v", got, err)
			}
			if got := read(t, m.Dir); got["_.well-known/a"] != "a" || got["_.well-known/deep/b"] != "b" {
				t.Errorf("deleted: %q", got)
			}
		})
	}
	t.Run("upload", func(t *testing.T) {
		m, srv, _ := begin(t)
		// An upload by an earlier version brought the changed names to the server.
		m.Names = mirror.ChangeNames
		brings(t, m, deploy.Summary{New: 4, Unchanged: 1})
		m.Names, m.Delete, m.MaxDelete = mirror.UsualNames, true, -1
		write(t, m.Dir, map[string]string{"_.htaccess": "allow"})
		brings(t, m, deploy.Summary{Changed: 1, Unchanged: 4, Gone: 4, Renamed: 3})
		files := maps.Clone(site)
		files[".htaccess"] = "allow"
		hasFiles(t, srv, ".", files)
	})
}

// A manifest of an attacker leads nowhere else, and gives no file a name that has
// effects on another server.
func TestForeignManifest(t *testing.T) {
	skipOnWindows(t)
	files := map[string]string{"_.ssh/keys": "k", "_.htaccess": "deny", "index.html": "i", "_": "dots", "a_b": "slash", "..%5Cx": "up", "a%5Cx": "back", "%2Efetch1738": "own"}
	lines := func(at string) string {
		text := fmt.Sprintf("{\"url\":%q,\"size\":-1,\"start\":true}\n", at+"/")
		for file, path := range map[string]string{
			"_.ssh/keys": ".ssh/keys", "_.htaccess": ".htaccess", "index.html": ".forward", "_": "..", "a_b": "a%2Fb", "..%5Cx": "..%5Cx", "a%5Cx": "a%5Cx", "%2Efetch1738": ".fetch1738",
		} {
			text += fmt.Sprintf("{\"url\":%q,\"file\":%q,\"size\":1,\"sha256\":\"00\"}\n", at+"/"+path, file)
		}
		return text
	}
	for _, tc := range []struct {
		name  string
		same  bool
		names mirror.Names
		want  []string
	}{
		{"same", true, mirror.UsualNames, []string{"_.ssh", ".ssh", "_.htaccess", ".htaccess", "a%5Cx", `a\x`}},
		{"other", false, mirror.UsualNames, []string{"_.htaccess", ".htaccess"}},
		{"other, kept", false, mirror.KeepNames, []string{"_.ssh", ".ssh", "_.htaccess", ".htaccess"}},
		{"changed", true, mirror.ChangeNames, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := ftptest.New(t)
			m := start(t, srv.URL)
			write(t, m.Dir, files)
			at := srv.URL
			if !tc.same {
				at = "ftp://evil.example"
			}
			write(t, m.Dir, map[string]string{mirror.ManifestFile: lines(at)})
			m.Names = tc.names
			u := bring(t, m)
			u.Report = func(e deploy.Event) {
				if e.Err != nil && tc.names == mirror.KeepNames && strings.Contains(e.Err.Error(), "KeepNames") {
					t.Errorf("KeepNames is advised with KeepNames: %v", e.Err)
				}
			}
			got, err := u.Run(t.Context())
			if err != nil || got.New != len(files) || got.Renamed != len(tc.want)/2 {
				t.Errorf("%+v, %v", got, err)
			}
			hasFiles(t, srv, ".", withNames(files, tc.want...))
		})
	}
}

// Two files here that have one name on the server both fail: neither replaces the other.
func TestOneNameOnTheServer(t *testing.T) {
	skipOnWindows(t)
	site := map[string]string{".htaccess": "deny", ".d/x": "x", "z": "z"}
	srv, _ := serveFTP(t, site)
	m := start(t, srv.URL)
	m.Names = mirror.ChangeNames
	ran(t, m, mirror.Summary{New: 3, Renamed: 2})
	m.Names, m.Delete = mirror.UsualNames, true
	write(t, m.Dir, map[string]string{".htaccess": "allow", "%2Ehtaccess": "deny all", ".d/x": "other", ".d/y": "y"})
	var failed, missing []string
	u := bring(t, m)
	u.Report = func(e deploy.Event) {
		switch e.Action {
		case deploy.Failed:
			failed = append(failed, e.File)
		case deploy.Missing:
			missing = append(missing, e.File)
		}
	}
	got, err := u.Run(t.Context())
	slices.Sort(failed)
	slices.Sort(missing)
	if want := []string{"%2Ed/x", "%2Ehtaccess", ".d/x", ".htaccess"}; !slices.Equal(failed, want) || !slices.Equal(missing, want) {
		t.Errorf("failed %q, missing %q", failed, missing)
	}
	if err == nil || got.Failed != 4 || got.New != 1 || got.Gone > 0 || !strings.Contains(err.Error(), `same name on the server, ".`) {
		t.Errorf("%+v, %v", got, err)
	}
	site[".d/y"] = "y"
	hasFiles(t, srv, ".", site)
}

// Several files of earlier versions have one folder here. An upload does not guess to which folder
// of the server they belong.
func TestTwoFoldersInOne(t *testing.T) {
	skipOnWindows(t)
	for _, tc := range []struct {
		site, added map[string]string
		want        deploy.Summary
	}{
		{map[string]string{"a:b/x": "colon", "a?b/y": "question"}, map[string]string{"a_b/x": "colon", "a_b/y": "question"}, deploy.Summary{New: 2}},
		{map[string]string{"a_b/x": "plain", "a?b/y": "question"}, map[string]string{"a_b/y": "question"}, deploy.Summary{New: 1, Unchanged: 1}},
	} {
		srv, _ := serveFTP(t, tc.site)
		m := start(t, srv.URL)
		earlier(t, m, srv.URL, tc.site, "a:b", "a_b", "a?b", "a_b")
		brings(t, m, tc.want)
		maps.Copy(tc.site, tc.added)
		hasFiles(t, srv, ".", tc.site)
	}
}

// The same names are kept where the file system cannot have all of them, if it can have those.
func TestNamesAreLocal(t *testing.T) {
	srv := ftptest.New(t)
	if err := errors.Join(srv.Put(".htaccess", []byte("deny")), srv.Put("...", []byte("dots"))); err != nil && !errors.Is(err, fs.ErrInvalid) {
		t.Fatal(err)
	}
	m := start(t, srv.URL)
	if got, err := m.Run(t.Context()); err != nil || got.New != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := read(t, m.Dir); got[".htaccess"] != "deny" || got["..."]+got["%2E%2E%2E"] != "dots" {
		t.Errorf("%q", got)
	}
}
