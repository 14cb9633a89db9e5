package gateway

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/filename"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// untar returns the contents of the files of an archive, the targets of links with "-> " before
// them, and "/" for a directory.
func untar(archive string) (map[string]string, error) {
	members := make(map[string]string)
	for r := tar.NewReader(strings.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return members, nil
		}
		if err != nil {
			return members, err
		}
		if _, ok := members[h.Name]; ok {
			return members, fmt.Errorf("%q is there twice", h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			members[h.Name] = "/"
		case tar.TypeSymlink:
			members[h.Name] = "-> " + h.Linkname
		default:
			b, err := io.ReadAll(r)
			if err != nil {
				return members, err
			}
			members[h.Name] = string(b)
		}
	}
}

// wantTar checks the archive at a path.
func wantTar(t *testing.T, url, body string, err error, want map[string]string) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	got, err := untar(body)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%s: %v\n%q\nwant\n%q", url, err, got, want)
	}
}

func TestTar(t *testing.T) {
	srv := startFTP(t, map[string]string{"pub/a b/x.txt": "x", "pub/a b/deep/y": strings.Repeat("y", 3000), "pub/zero": "", "pub/é": "e", "else": "no"})
	s := start(t, nil)
	res, body, err := ask(t, s, http.MethodGet, at(srv, "/pub/?tar"), browser...)
	wantTar(t, "/pub/?tar", body, err, map[string]string{
		"pub/": "/", "pub/a b/": "/", "pub/a b/x.txt": "x", "pub/a b/deep/": "/", "pub/a b/deep/y": strings.Repeat("y", 3000), "pub/zero": "", "pub/é": "e",
	})
	if h := res.Header; h.Get("Content-Disposition") != "attachment; filename=pub.tar" || h.Get("Content-Type") != "application/x-tar" || h.Get("Content-Security-Policy") != octetsSecurity {
		t.Errorf("%v", res.Header)
	}
	h, err := tar.NewReader(strings.NewReader(body[1024:])).Next()
	if err != nil || h.ModTime.UTC().Format("2006-01-02 15:04:05") != "2001-02-03 04:05:06" && h.Typeflag != tar.TypeDir {
		t.Errorf("%+v, %v", h, err)
	}
	for path, status := range map[string]int{"/missing/?tar": 404, "/else?tar": 404} {
		if res, _, _ := ask(t, s, http.MethodGet, at(srv, path), browser...); res.StatusCode != status {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if res, _, _ := ask(t, s, http.MethodGet, "/nntp/127.0.0.1/group?tar", browser...); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a newsgroup: %s", res.Status)
	}
}

// TestBrokenTar tests that an archive without one of its members does not look complete.
func TestBrokenTar(t *testing.T) {
	for name, broken := range map[string]func(*testserver.FTP){
		"cut file":      func(s *testserver.FTP) { s.On("RETR b", 0, testserver.Truncate(100)) },
		"refused file":  func(s *testserver.FTP) { s.On("RETR b", 0, testserver.Reply("550 Permission denied.")) },
		"refused list":  func(s *testserver.FTP) { s.On("CWD sub", 0, testserver.Reply("550 Permission denied.")) },
		"longer file":   func(s *testserver.FTP) { s.On("SIZE b", 0, testserver.Reply("213 999999")) },
		"cut listing":   func(s *testserver.FTP) { s.On("MLSD", 2, testserver.Truncate(10)) },
		"server leaves": func(s *testserver.FTP) { s.On("RETR c", 0, testserver.Close()) },
	} {
		srv := startFTP(t, map[string]string{"a": strings.Repeat("a", 5000), "b": strings.Repeat("b", 200_000), "sub/c": "c", "z": "z"})
		broken(srv)
		s := start(t, nil)
		res, body, err := ask(t, s, http.MethodGet, at(srv, "/?tar"), program...)
		if res.StatusCode == http.StatusOK && err == nil {
			members, err := untar(body)
			t.Errorf("%s: %d members, %v", name, len(members), err)
		}
	}
}

// TestTarLinks tests which symbolic links are in an archive.
func TestTarLinks(t *testing.T) {
	srv := startFTP(t, map[string]string{"x/d/f": "f"}, func(s *testserver.FTP) { s.Hide = []string{"MLST", "MLSD"} })
	link := func(name, target string) string {
		return "lrwxrwxrwx 1 u g 3 Jan  1  2001 " + name + " -> " + target + "\r\n"
	}
	srv.On("LIST", 1, testserver.Data("drwxr-xr-x 1 u g 3 Jan  1  2001 d\r\n"+link("in", "d/f")+link("abs", "/etc/passwd")+link("up", "../x")+link("sneaky", "d/../../x")+link("dots", "..")+"crw-rw-rw- 1 u g 1, 3 Jan  1  2001 null\r\n"))
	srv.On("LIST", 2, testserver.Data("-rw-r--r-- 1 u g 1 Jan  1  2001 f\r\n"+link("sibling", "f")+link("top", "../in")+link("over", "../../x")+link("dir", "../d/")+link("back", "a\\..\\b")))
	s := start(t, nil)
	_, body, err := ask(t, s, http.MethodGet, at(srv, "/x/?tar"), program...)
	wantTar(t, "links", body, err, map[string]string{
		"x/": "/", "x/d/": "/", "x/d/f": "f", "x/in": "-> d/f", "x/d/sibling": "-> f", "x/d/top": "-> ../in", "x/d/dir": "-> ../d/",
		"x.left-out.txt": "Not in this archive: 7\nabs: a symbolic link to /etc/passwd\nd/back: a symbolic link to a\\..\\b\nd/over: a symbolic link to ../../x\n" +
			"dots: a symbolic link to ..\nnull: a device or another special file\nsneaky: a symbolic link to d/../../x\nup: a symbolic link to ../x\n",
	})
}

// TestTarNames tests that the names of members are safe, and that no two files get the same.
func TestTarNames(t *testing.T) {
	srv := startFTP(t, nil)
	var listing strings.Builder
	for _, name := range append(hostileNames, "a_b", "_.a", "a:b", "a?b") {
		fmt.Fprintf(&listing, "type=file;size=0; %s\r\n", name)
	}
	srv.On("MLSD", 1, testserver.Data(listing.String()))
	a := &archive{names: map[string]string{"": "top/"}, used: make(map[string]bool)}
	seen := make(map[string]bool)
	r := &fetch1738.Resolver{Env: fetch.Env{Allow: func(context.Context, fetch.Target) error { return nil }}}
	defer r.Close()
	n := 0
	for item, err := range fetch1738.Walk(t.Context(), r, srv.URL+"/") {
		if err != nil {
			t.Fatal(err)
		}
		name := a.name(item.Name)
		dir, base := path.Split(name)
		if dir != "top/" || filename.Component(base) != base || seen[name] {
			t.Errorf("%q is %q", item.Name, name)
		}
		seen[name] = true
		n++
	}
	if n < len(hostileNames)-5 {
		t.Errorf("%d names", n)
	}
}

// TestTarOfMenus tests archives of gopher menus: the server does not say how long a document is.
func TestTarOfMenus(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), tarHeld/16+1000)
	content := fstest.MapFS{"sub/big.bin": {Data: big}, "sub/exact.bin": {Data: big[:tarHeld]}, "text.txt": {Data: []byte("one\ntwo\n")}, "empty.bin": {}}
	srv := testserver.NewGopher(t, func(s *testserver.Gopher) { s.Content = content })
	s := start(t, nil)
	_, body, err := ask(t, s, http.MethodGet, "/gopher/"+srv.Addr+"/?tar", program...)
	top := filename.Component(srv.Addr)
	wantTar(t, "gopher", body, err, map[string]string{
		top + "/": "/", top + "/sub/": "/", top + "/sub/big.bin": string(big), top + "/sub/exact.bin": string(big[:tarHeld]), top + "/text.txt": "one\r\ntwo\r\n", top + "/empty.bin": "",
	})
	srv.On("REQUEST /sub/big.bin", 2, testserver.Data(string(big)+"more"))
	if _, _, err := ask(t, s, http.MethodGet, "/gopher/"+srv.Addr+"/?tar", program...); err == nil {
		t.Error("a document that has changed is no error")
	}
}

// TestTarLimit tests the limit for the number of members.
func TestTarLimit(t *testing.T) {
	dir := &locator.FTP{HasPath: true}
	a := &archive{v: &visit{loc: dir}, w: tar.NewWriter(io.Discard), members: tarMembers - 1, names: map[string]string{"": "top/"}, used: make(map[string]bool)}
	item := fetch.Item{Kind: fetch.KindDirectory, Locator: dir}
	var errs []error
	for _, item.Name = range []string{"a", "b"} {
		errs = append(errs, a.add(&item))
	}
	if errs[0] != nil || !errors.Is(errs[1], fetch.ErrTooLarge) || slices.Contains(slices.Collect(maps.Keys(a.used)), "top/b") {
		t.Errorf("%v", errs)
	}
}

// TestProsperoDirectory tests the page and the archive of a directory of Prospero.
func TestProsperoDirectory(t *testing.T) {
	srv := testserver.NewProspero(t, func(s *testserver.Prospero) {
		s.Content = fstest.MapFS{"pub/a b.txt": {Data: []byte("text\n")}, "pub/sub/c": {Data: []byte("c")}}
	})
	s := start(t, nil)
	path := pathOf(t, srv.URL+"//pub")
	page := pageAt(t, s, path, browser)
	rows := rowsOf(page)
	if !slices.Equal(namesOf(rows), []string{"sub/", "a b.txt"}) || strings.Contains(rows[0].href, "./") {
		t.Errorf("%q\n%s", rows, page)
	}
	for _, query := range []string{"raw", "explain", "tar"} {
		res, body, err := ask(t, s, http.MethodGet, path+"?"+query, browser...)
		if linked := strings.Contains(page, "?"+query+`"`); linked != (res.StatusCode == http.StatusOK) || err != nil {
			t.Errorf("?%s: linked %v, %s, %v\n%s", query, linked, res.Status, err, body)
		}
	}
}
