package remotefs_test

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// written is when the files of the test servers were written.
var written = time.Date(1994, 12, 20, 17, 4, 5, 0, time.UTC)

// tree is a few directories of files.
func tree() fstest.MapFS {
	return fstest.MapFS{
		"README.txt":         {Data: []byte("read me\n"), ModTime: written},
		"pub/motd.txt":       {Data: []byte("hello\n"), ModTime: written},
		"pub/empty.txt":      {Data: []byte{}, ModTime: written},
		"pub/deep/er/a.html": {Data: []byte("<p>{{.}}</p>\n"), ModTime: written},
		"pub/deep/100%.txt":  {Data: []byte("all\n"), ModTime: written},
	}
}

// get returns the body of a page of a web server, or the part of it that the field Range names.
func get(t *testing.T, url, part string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if part != "" {
		req.Header.Set("Range", part)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The entries of a server with a name beyond ASCII have that name in ASCII.
func TestFSHostBeyondASCII(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	r := &fetch1738.Resolver{Env: fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(address)
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}}}
	defer r.Close()
	fsys, err := remotefs.New(t.Context(), r, strings.Replace(srv.URL, "127.0.0.1", "münchen.example", 1)+"/pub/")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil || len(entries) != 3 {
		t.Errorf("the entries are %v, %v", entries, err)
	}
	if _, err := remotefs.New(t.Context(), r, "ftp://ä_b.example/"); fetch.KindOf(err) != fetch.ErrBadURL {
		t.Error(err)
	}
}

func TestFS(t *testing.T) {
	list := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree(); s.Hide = []string{"MLSD", "MLST"} })
	mlsd := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = tree() })
	local := t.TempDir()
	if err := os.CopyFS(local, tree()); err != nil {
		t.Fatal(err)
	}
	for name, url := range map[string]string{
		"ftp MLSD": mlsd.URL, "ftp LIST": list.URL + "/", "gopher": gopher.URL, "prospero": prospero.URL + "/",
		"file": "file://" + filepath.ToSlash(local),
	} {
		t.Run(name, func(t *testing.T) {
			fsys, err := remotefs.New(t.Context(), nil, url)
			if err != nil {
				t.Fatal(err)
			}
			defer fsys.Close()
			if err := fstest.TestFS(fsys, "README.txt", "pub/motd.txt", "pub/deep/er/a.html", "pub/deep/100%.txt"); err != nil {
				t.Error(err)
			}
			if _, err := fs.ReadFile(fsys, "pub/missing"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a missing file: %v", err)
			}
			if _, err := fs.Stat(fsys, "missing/motd.txt"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file of a missing directory: %v", err)
			}
			var bad *fs.PathError
			if _, err := fsys.Open("../motd.txt"); !errors.Is(err, fs.ErrInvalid) || !errors.As(err, &bad) {
				t.Errorf("a path upward: %v", err)
			}
			if got, err := fs.Glob(fsys, "pub/*.txt"); err != nil || !slices.Equal(got, []string{"pub/empty.txt", "pub/motd.txt"}) {
				t.Errorf("Glob: %q, %v", got, err)
			}
			parsed, err := template.ParseFS(fsys, "pub/deep/er/*.html")
			if err != nil {
				t.Fatal(err)
			}
			var page strings.Builder
			if err := parsed.Execute(&page, "<x>"); err != nil || page.String() != "<p>&lt;x&gt;</p>\n" {
				t.Errorf("the template: %q, %v", page.String(), err)
			}
			web := httptest.NewServer(http.FileServerFS(fsys))
			defer web.Close()
			if body := get(t, web.URL+"/pub/motd.txt", ""); strings.TrimSpace(body) != "hello" {
				t.Errorf("by FileServerFS: %q", body)
			}
			if body := get(t, web.URL+"/pub/motd.txt", "bytes=1-3"); body != "ell" {
				t.Errorf("a part by FileServerFS: %q", body)
			}
			if body := get(t, web.URL+"/pub/", ""); !strings.Contains(body, "motd.txt") {
				t.Errorf("a directory by FileServerFS: %q", body)
			}
		})
	}
}

// A walk requests one listing a directory and nothing else, over one session, by MLSD and by LIST.
func TestFSWalk(t *testing.T) {
	const folders, files = 20, 100
	content := fstest.MapFS{}
	for i := range folders {
		for j := range files {
			content[fmt.Sprintf("d%02d/f%03d.txt", i, j)] = &fstest.MapFile{Data: []byte("text\n"), ModTime: written}
		}
	}
	for _, verb := range []string{"MLSD", "LIST"} {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.Content = content
			if verb == "LIST" {
				s.Hide = []string{"MLSD", "MLST"}
			}
		})
		var open openConnections
		r := &fetch1738.Resolver{Env: fetch.Env{Dial: open.dial}}
		fsys, err := remotefs.New(t.Context(), r, srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		err = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !d.IsDir() {
				seen++
				if info, err := d.Info(); err != nil || info.Size() != 5 || !info.ModTime().Truncate(24*time.Hour).Equal(written.Truncate(24*time.Hour)) {
					t.Errorf("%s: %v, %v", path, info, err)
				}
			}
			return nil
		})
		if err != nil || seen != folders*files {
			t.Errorf("%s: %d files, %v", verb, seen, err)
		}
		fsys.Close()
		commands := map[string]int{}
		for _, line := range srv.Transcript() {
			if sent, ok := strings.CutPrefix(line.String(), "C: "); ok {
				name, _, _ := strings.Cut(sent, " ")
				commands[name]++
			}
		}
		want := folders + 1
		if verb == "LIST" {
			want++ // to find out that the server supports LIST -a
		}
		if commands[verb] != want || commands["USER"] != 1 || commands["SIZE"]+commands["MDTM"]+commands["RETR"] != 0 {
			t.Errorf("%s: commands: %v", verb, commands)
		}
		if open.most > 2 || open.now != 0 {
			t.Errorf("%s: %d connections at once, %d at the end", verb, open.most, open.now)
		}
	}
}

// Menus that lead to one another, to other servers and to searches: each menu is in one
// directory, and the walk ends.
func TestFSGopherCycles(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"gophermap":   {Data: []byte("1a\t/a\n1b\t/b\n1away\t/x\tother.example\t70\n7search\t/s\niinfo\nhweb\tURL:http://example.org/\n")},
			"a/gophermap": {Data: []byte("1up\t/\n1b\t/b\n0text\t/a/t.txt\n0text of b\t/b/t.txt\n")},
			"b/gophermap": {Data: []byte("1a\t/a\n0text\t/b/t.txt\n0text again\t/b/t.txt\n")},
			"a/t.txt":     {Data: []byte("of a\n")},
			"b/t.txt":     {Data: []byte("of b\n")},
		}
	})
	fsys, err := remotefs.New(t.Context(), nil, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	var paths []string
	if err := fs.WalkDir(fsys, ".", func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{".", "a", "a/t.txt", "b", "b/t.txt"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
}

func TestFSRefuses(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1/", "ftp://127.0.0.1/a;type=i", "gopher://127.0.0.1/0/a", "news:1@example.org", "telnet://127.0.0.1/", "wais://127.0.0.1/db"} {
		if _, err := remotefs.New(t.Context(), nil, url); !errors.Is(err, fetch.ErrUnsupported) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestFSNews(t *testing.T) {
	srv := nntptest.New(t, func(s *nntptest.Server) {
		s.Content = fstest.MapFS{"comp/lang/go/1": {Data: []byte("Message-ID: <1@example.org>\nSubject: one\nFrom: a@example.org\nDate: Tue, 20 Dec 1994 17:04:05 GMT\n\nbody\n")}}
	})
	fsys, err := remotefs.New(t.Context(), nil, srv.URL+"/comp.lang.go")
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil || len(entries) != 1 || entries[0].IsDir() {
		t.Fatalf("%v, %v", entries, err)
	}
	if b, err := fs.ReadFile(fsys, entries[0].Name()); err != nil || !strings.Contains(string(b), "body") {
		t.Errorf("%q, %v", b, err)
	}
}

// Many goroutines use one file system at the same time, and leave nothing behind.
func TestFSConcurrent(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	content := tree()
	srv, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) { s.Content = content })
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	gopher, err := gophertest.Start(t.Context(), "", func(s *gophertest.Server) { s.Content = content })
	if err != nil {
		t.Fatal(err)
	}
	defer gopher.Close()
	for _, url := range []string{srv.URL, gopher.URL} {
		fsys, err := remotefs.New(t.Context(), nil, url)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		var users sync.WaitGroup
		for i := range 64 {
			users.Go(func() {
				name := []string{"README.txt", "pub/motd.txt", "pub/deep/er/a.html"}[i%3]
				want := string(content[name].Data)
				switch b, err := fs.ReadFile(fsys, name); {
				case err != nil:
					t.Errorf("%s: %v", name, err)
				case strings.TrimSpace(string(b)) != strings.TrimSpace(want):
					t.Errorf("%s: %q, want %q", name, b, want)
				}
				if list, err := fs.ReadDir(fsys, "pub"); err != nil || len(list) != 3 {
					t.Errorf("pub has %d entries, %v", len(list), err)
				}
				if info, err := fs.Stat(fsys, name); err != nil || info.IsDir() {
					t.Errorf("%s: %v, %v", name, info, err)
				}
			})
		}
		users.Wait()
	}
}
