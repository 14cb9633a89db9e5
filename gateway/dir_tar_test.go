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
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
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
	for name, broken := range map[string]func(*ftptest.Server){
		"cut file":      func(s *ftptest.Server) { s.On("RETR b", 0, testserver.Truncate(100)) },
		"refused file":  func(s *ftptest.Server) { s.On("RETR b", 0, testserver.Reply("550 Permission denied.")) },
		"refused list":  func(s *ftptest.Server) { s.On("CWD sub", 0, testserver.Reply("550 Permission denied.")) },
		"longer file":   func(s *ftptest.Server) { s.On("SIZE b", 0, testserver.Reply("213 999999")) },
		"cut listing":   func(s *ftptest.Server) { s.On("MLSD", 2, testserver.Truncate(10)) },
		"server leaves": func(s *ftptest.Server) { s.On("RETR c", 0, testserver.Close()) },
		"half stated": func(s *ftptest.Server) {
			s.On("SIZE b", 0, testserver.Reply("502 Not implemented."))
			s.On("RETR b", 0, testserver.Reply("150 Here it comes (100000 bytes)."))
		},
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
	srv := startFTP(t, map[string]string{"x/d/f": "f"}, func(s *ftptest.Server) { s.Hide = []string{"MLST", "MLSD"} })
	link := func(name, target string) string {
		return "lrwxrwxrwx 1 u g 3 Jan  1  2001 " + name + " -> " + target + "\r\n"
	}
	srv.On("LIST", 1, testserver.Data("drwxr-xr-x 1 u g 3 Jan  1  2001 .\r\ndrwxr-xr-x 1 u g 3 Jan  1  2001 d\r\n"+link("in", "d/f")+link("abs", "/etc/passwd")+link("up", "../x")+link("sneaky", "d/../../x")+link("dots", "..")+"crw-rw-rw- 1 u g 1, 3 Jan  1  2001 null\r\n"))
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
	a := newArchive(nil, nil, "top")
	seen := make(map[string]bool)
	r := &fetch1738.Resolver{Env: fetch.Env{Allow: func(context.Context, fetch.Target) error { return nil }}}
	defer r.Close()
	n := 0
	for item, err := range remotefs.Walk(t.Context(), r, srv.URL+"/") {
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
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	s := start(t, nil)
	_, body, err := ask(t, s, http.MethodGet, "/gopher/"+srv.Addr+"/?tar", program...)
	top := filename.Component(srv.Addr)
	wantTar(t, "gopher", body, err, map[string]string{
		top + "/": "/", top + "/sub/": "/", top + "/sub/big.bin": string(big), top + "/sub/exact.bin": string(big[:tarHeld]), top + "/text.txt": "one\r\ntwo\r\n", top + "/empty.bin": "",
	})
}

// TestTarOfChanged tests archives with a file that is longer or shorter when it is fetched again than
// its header says: they are broken off, and the log says why.
func TestTarOfChanged(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", tarHeld/16+1000)
	for _, again := range []string{big + "m", big + strings.Repeat("more", 20_000), big[:len(big)-1]} {
		srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"big.bin": {Data: []byte(big)}, "z.bin": {}} })
		srv.On("REQUEST /big.bin", 2, testserver.Data(again))
		logged := make(chan LogEntry, 1)
		s := start(t, func(h *Handler) { h.Log = func(a LogEntry) { logged <- a } })
		_, body, err := ask(t, s, http.MethodGet, "/gopher/"+srv.Addr+"/?tar", program...)
		if members, _ := untar(body); err == nil || len(members) > 2 {
			t.Errorf("%d bytes instead of %d: %d members, %v", len(again), len(big), len(members), err)
		}
		if a := <-logged; !errors.Is(a.Err, fetch.ErrTruncated) || !strings.HasSuffix(a.Err.Error(), "the length of the file has changed") {
			t.Errorf("%d bytes instead of %d: %v", len(again), len(big), a.Err)
		}
	}
}

// TestTarMemory tests that three clients at once that ask for a folder with too many entries take
// less than 64 MiB, with their garbage and the program, and get an error instead of an archive.
func TestTarMemory(t *testing.T) {
	const clients, limit = 3, 20 << 20
	before := used().heap
	var listing, all sync.WaitGroup
	var measure sync.Once
	listing.Add(clients)
	for range clients {
		listed := sync.OnceFunc(listing.Done)
		dir := &bigDirectory{files: 2 * (tarMembers - 10), half: func() {
			listed()
			listing.Wait()
			measure.Do(func() {
				if grown := int64(used().heap - before); grown > limit {
					t.Errorf("%d bytes for %d clients; the limit is %d", grown, clients, limit)
				} else {
					t.Logf("%d bytes", grown)
				}
			})
		}}
		all.Go(func() {
			defer listed()
			s := start(t, func(h *Handler) { h.Resolver = dir.handler().Resolver })
			res, body, err := ask(t, s, http.MethodGet, "/ftp/host/pub/?tar", program...)
			if res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "more than 100000 files and directories") || err != nil {
				t.Errorf("%s, %d bytes, %v", res.Status, len(body), err)
			}
		})
	}
	all.Wait()
}

// TestTarOfMany tests that an archive has as many members as the limit, and bounds the memory for
// each of them while it is sent.
func TestTarOfMany(t *testing.T) {
	const limit = 80
	req := httptest.NewRequest(http.MethodGet, "/ftp/host/pub/?tar", nil)
	req.RemoteAddr = "127.0.0.1:1"
	peak, before := uint64(0), used().heap
	w := &discarding{header: make(http.Header), each: 5 << 20, note: func() { peak = max(peak, used().heap) }}
	(&bigDirectory{files: tarMembers}).handler().ServeHTTP(w, req)
	if each := (peak - before) / tarMembers; w.bytes < tarMembers*512 || each > limit {
		t.Errorf("%d bytes of an archive; %d for a member, the limit is %d", w.bytes, each, limit)
	} else {
		t.Logf("%d bytes for a member", each)
	}
}

// TestTarLimit tests that a directory with too many entries below another one breaks the archive off.
func TestTarLimit(t *testing.T) {
	srv := startFTP(t, map[string]string{"a": "a", "sub/b": "b"})
	srv.On("MLSD", 2, testserver.Data(strings.Repeat("type=file; x\r\n", tarMembers-1)))
	res, body, err := ask(t, start(t, nil), http.MethodGet, at(srv, "/?tar"), program...)
	if members, _ := untar(body); res.StatusCode != http.StatusOK || err == nil || len(members) != 3 {
		t.Errorf("%s, %q, %v", res.Status, members, err)
	}
}

// TestProsperoDirectory tests the page and the archive of a directory of Prospero.
func TestProsperoDirectory(t *testing.T) {
	srv := prosperotest.New(t, func(s *prosperotest.Server) {
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
