package remotefs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// A walk of a directory that cannot be listed is one error.
func TestWalkMissing(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	for _, url := range []string{srv.URL + "/missing", "file://" + t.TempDir() + "/missing"} {
		n := 0
		for item, err := range remotefs.Walk(t.Context(), nil, url) {
			n++
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v, %v", url, item.Name, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d items", url, n)
		}
	}
}

// A file that has grown since its directory was listed is read to its end, by a server without SIZE
// too.
func TestFSGrown(t *testing.T) {
	for _, hide := range [][]string{nil, {"SIZE", "MLST"}} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree(); s.Hide = hide })
		srv.On("RETR", 1, testserver.Reply("150 Here it comes."))
		fsys, err := remotefs.New(t.Context(), nil, srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		file, err := fsys.Open("pub/motd.txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := srv.Put("pub/motd.txt", []byte("hello, hello\n")); err != nil {
			t.Fatal(err)
		}
		var got []byte
		buf := make([]byte, 3)
		for err == nil {
			var n int
			n, err = file.Read(buf)
			got = append(got, buf[:n]...)
		}
		if string(got) != "hello, hello\n" || err != io.EOF {
			t.Errorf("without %v: %q, %v", hide, got, err)
		}
		file.Close()
	}
}

// The same file system with other contexts: what one of them ends, the others do.
func TestFSWithContext(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	for _, url := range []string{srv.URL, gopher.URL} {
		fsys, err := remotefs.New(t.Context(), nil, url)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		ctx, cancel := context.WithCancel(t.Context())
		short := fsys.WithContext(ctx)
		if _, err := fs.ReadDir(short, "pub"); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := fs.ReadDir(short, "pub"); !errors.Is(err, context.Canceled) || fetch.KindOf(err) != fetch.ErrCanceled {
			t.Errorf("%s: canceled: %v", url, err)
		}
		// The listing is that of the other context.
		file, err := fsys.Open("pub/motd.txt")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(file); err != nil || len(text) < 6 {
			t.Errorf("%s: %q, %v", url, text, err)
		}
		if info, err := fs.Stat(fsys, "pub/motd.txt"); err != nil || info.Size() < 6 {
			t.Errorf("%s: %v, %v", url, info, err)
		}
		file.Close()
	}
}

// A Request is for the same file as the name.
func TestFSRequest(t *testing.T) {
	content := fstest.MapFS{"pub/100%.txt": {Data: []byte("0123456789\n"), ModTime: written}}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	for _, url := range []string{srv.URL, gopher.URL} {
		r := new(fetch1738.Resolver)
		defer r.Close()
		fsys, err := remotefs.New(t.Context(), r, url)
		if err != nil {
			t.Fatal(err)
		}
		req, err := fsys.Request("pub/100%.txt")
		if err != nil {
			t.Fatal(err)
		}
		req.Offset, req.Length = 3, 4
		res, err := r.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(res.Body); string(text) != "3456" || err != nil {
			t.Errorf("%s: %q, %v", url, text, err)
		}
		res.Close()
		var bad *fs.PathError
		if _, err := fsys.Request("../x"); !errors.As(err, &bad) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", url, err)
		}
		if _, err := fsys.Request("."); !errors.As(err, &bad) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Menus that lead to themselves and whose listings fail half way: the walk ends.
func TestWalkBrokenMenus(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"gophermap":   {Data: []byte("1a\t/a\n1b\t/b\n0t\t/a/t.txt\n")},
			"a/gophermap": {Data: []byte("1up\t/\n1b\t/b\n1self\t/a\n0t\t/a/t.txt\n")},
			"b/gophermap": {Data: []byte("1a\t/a\n1up\t/\n0t\t/a/t.txt\n")},
			"a/t.txt":     {Data: []byte("of a\n")},
		}
	})
	srv.On("MENU", 0, testserver.Reset(60))
	items := 0
	for item, err := range remotefs.Walk(t.Context(), nil, srv.URL) {
		if items++; items > 100 {
			t.Fatalf("more than 100 items; the last one is %s, %v", item.Name, err)
		}
	}
}

// TestHiddenFiles walks over a server that lists names with a dot at the beginning only if asked.
func TestHiddenFiles(t *testing.T) {
	srv := ftptest.New(t, ftptest.VSFTPD, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{".htaccess": {Data: []byte("deny")}, ".well-known/a": {}, "b/.c": {}, "b/d": {}}
	})
	var names []string
	for item, err := range remotefs.Walk(t.Context(), nil, srv.URL+"/") {
		if names = append(names, item.Name); err != nil {
			t.Error(err)
		}
	}
	if want := []string{".htaccess", ".well-known", ".well-known/a", "b", "b/.c", "b/d"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	fsys, err := remotefs.New(t.Context(), nil, srv.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if info, err := fs.Stat(fsys, ".htaccess"); err != nil || info.Size() != 4 {
		t.Errorf("%v %v", info, err)
	}
}

// TestUnreadListing reads a directory whose listing has a line that is not understood: there is an
// error, after the entries. A file that is listed can be opened; whether another one exists is not
// known.
func TestUnreadListing(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("a")}, "b.txt": {Data: []byte("b")}}
	})
	srv.On("MLSD", 0, testserver.Data("type=file;size=1; a.txt\r\nwhat is this b.txt\r\n"))
	fsys, err := remotefs.New(t.Context(), nil, srv.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if entries, err := fs.ReadDir(fsys, "."); len(entries) != 1 || !errors.Is(err, fetch.ErrProtocol) {
		t.Errorf("%v %v", entries, err)
	}
	if b, err := fs.ReadFile(fsys, "a.txt"); string(b) != "a" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if _, err := fs.Stat(fsys, "c.txt"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var names []string
	for item, err := range remotefs.Walk(t.Context(), nil, srv.URL+"/") {
		if err != nil {
			names = append(names, "error in "+item.Name)
		} else {
			names = append(names, item.Name)
		}
	}
	if want := []string{"error in .", "a.txt"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// A server whose directories all have the same unique has directories nevertheless, not links.
func TestWalkSameUnique(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/other/a.txt": {Data: []byte("text")}}
		s.Listing = func(l ftptest.Listing) (lines []string) {
			for _, e := range l.Entries {
				kind := "file"
				if e.IsDir() {
					kind = "dir"
				}
				lines = append(lines, fmt.Sprintf("type=%s;unique=1U1;modify=199503040506%02d;size=%d; %s", kind, len(e.Name()), e.Size(), e.Name()))
			}
			return lines
		}
	})
	var paths []string
	for item, err := range remotefs.Walk(t.Context(), nil, srv.URL) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, item.Name)
	}
	if want := []string{"pub", "pub/other", "pub/other/a.txt"}; !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	fsys, err := remotefs.New(t.Context(), nil, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if text, err := fsys.ReadFile("pub/other/a.txt"); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if link, err := fsys.ReadLink("pub/other"); err == nil {
		t.Errorf("a directory is a link to %q", link)
	}
}

// A server whose machine listing shows symbolic links to directories as directories.
func TestWalkLinkedDirectories(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("text")}} })
	srv.On("CWD", 0, testserver.Reply("250 OK"))
	srv.On("MLSD", 0, testserver.Data("type=dir;unique=1U1;modify=19950304050607; up\r\ntype=dir;unique=1U1;modify=19950304050607; again\r\ntype=file;size=4;unique=1U2; a.txt\r\n"))
	var paths []string
	for item, err := range remotefs.Walk(t.Context(), nil, srv.URL) {
		if paths = append(paths, item.Name); len(paths) > 100 || err != nil {
			t.Fatalf("%d items; the last one is %s, %v", len(paths), item.Name, err)
		}
	}
	want := []string{"a.txt", "again", "again/a.txt", "again/again", "again/up", "up", "up/a.txt", "up/again", "up/up"}
	if !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	fsys, err := remotefs.New(t.Context(), nil, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.ReadDir("."); err != nil {
		t.Fatal(err)
	}
	if link, err := fsys.ReadLink("up/again"); link != "." || err != nil {
		t.Errorf("%q, %v", link, err)
	}
	if info, err := fsys.Stat("up/again"); err != nil || !info.IsDir() {
		t.Errorf("behind the link: %v, %v", info, err)
	}
}
