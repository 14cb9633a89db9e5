package remotefs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// TestWalkItems compares Walk with fs.WalkDir, which holds the listings as FS does: every scheme,
// directories that cannot be listed or are too deep, names in all encodings, and links upward.
func TestWalkItems(t *testing.T) {
	content := tree()
	content[strings.Repeat("d/", 105)+"deep.txt"] = &fstest.MapFile{Data: []byte("x")}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	list := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Hide = content, []string{"MLSD", "MLST"} })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = content })
	news := nntptest.New(t, func(s *nntptest.Server) {
		s.Content = fstest.MapFS{"comp/lang/go/1": {Data: []byte("Message-ID: <1@example.org>\nSubject: one\nFrom: a@example.org\nDate: Tue, 20 Dec 1994 17:04:05 +0230\n\nbody\n")}}
	})
	local := t.TempDir()
	if err := errors.Join(os.CopyFS(local, content), os.Symlink("README.txt", filepath.Join(local, "link"))); err != nil {
		t.Fatal(err)
	}
	strange := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	menu := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	host, port, _ := strings.Cut(menu.Addr, ":")
	of := func(at string) string { return at + "\t" + host + "\t" + port + "\r\n" }
	for url, faults := range map[string]func(){
		ftp.URL: nil, gopher.URL: nil, prospero.URL + "/": nil, news.URL + "/comp.lang.go": nil, "file://" + filepath.ToSlash(local): nil,
		list.URL + "/": func() { list.On("CWD deep", 0, testserver.Reply("550 Permission denied.")) },
		strange.URL: func() {
			strange.On("MLSD", 1, testserver.Data("type=file;size=3;perm=adfrw; a b\r\ntype=file; 100%\r\ntype=file;size=1; caf\xe9\r\ntype=file;size=9; x;type=a\r\n"+
				"type=file;size=1; twice\r\ntype=dir;unique=1U1;modify=19950304050607; pub\r\ntype=file;size=2; twice\r\ntype=OS.unix=slink:/etc/passwd; link\r\ntype=OS.unix=chr-1/3; null\r\n"+
				"type=dir; \xff\r\ntype=dir;perm=el; "+strings.Repeat("long", 100)+"\r\n"))
			strange.On("MLSD", 2, testserver.Data("type=dir;unique=1U1;modify=19950304050607; up\r\ntype=file;size=1;modify=20010203040506.789; fraction\r\n"))
		},
		menu.URL: func() {
			menu.On("REQUEST", 1, testserver.Data(of("0caf\xe9\t/caf\xe9")+of("\xfdstrange\t/\xff\xfe %zz")+of("1self\t")+of("1pub\t/pub")+of("9text\tpub/README.txt")))
		},
	} {
		arm := func() {
			if faults != nil {
				faults()
			}
		}
		arm()
		fsys, err := remotefs.New(t.Context(), nil, url)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		_ = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if path == "." {
				return err
			}
			info, ok := d.(fs.FileInfo) // Info would count the bytes of a gopher document
			if !ok {
				t.Fatalf("%s: %T", path, d)
			}
			item := *info.Sys().(*fetch.Item)
			if req, err := fsys.Request(path); err == nil && d.Type().IsRegular() {
				item.Locator = req.Locator
			}
			want = append(want, lineOf(item, path, err))
			return nil
		})
		fsys.Close()
		arm()
		for item, err := range remotefs.Walk(t.Context(), nil, url) {
			got = append(got, lineOf(item, item.Name, err))
		}
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s:\n%s\nwant\n%s", url, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// lineOf shows all of an item. The Locator of a directory that a listing has does not always end in
// a slash.
func lineOf(item fetch.Item, path string, err error) string {
	at := strings.TrimSuffix(item.Locator.String(), "/")
	item.Name, item.Locator = "", nil
	return fmt.Sprintf("%q %s %+v %v", path, at, item, err)
}

// TestWalkLimit tests that a walk ends as soon as its listings have more entries than the limit.
func TestWalkLimit(t *testing.T) {
	content := fstest.MapFS{"a.txt": {}, "sub/b.txt": {}, "sub/c.txt": {}, "z.txt": {}}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	all := []string{"a.txt", "sub", "sub/b.txt", "sub/c.txt", "z.txt"}
	for _, url := range []string{ftp.URL, gopher.URL} {
		fsys, err := remotefs.New(t.Context(), nil, url)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		for limit, want := range map[int][]string{-1: all, 0: all, 5: all, 6: all, 4: all[:2], 3: all[:2], 2: nil, 1: nil} {
			var names []string
			var failure error
			for item, err := range fsys.Walk(limit) {
				if failure != nil {
					t.Errorf("%s, limit %d: %q after %v", url, limit, item.Name, failure)
				}
				if failure = err; err == nil {
					names = append(names, item.Name)
				}
			}
			if tooMany := len(want) < len(all); !slices.Equal(names, want) || errors.Is(failure, fetch.ErrTooLarge) != tooMany || (failure != nil) != tooMany {
				t.Errorf("%s, limit %d: %q, %v", url, limit, names, failure)
			}
		}
	}
}

// A walk that fetches the entries of a listing while it ranges over it keeps no connection for each
// level. Only listings that are too long to be read ahead do.
func TestWalk(t *testing.T) {
	const levels = 12
	tree := make(fstest.MapFS)
	path := ""
	for range levels {
		path += "pub/"
		tree[path+"a.txt"] = &fstest.MapFile{Data: []byte("text\n")}
	}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree })
	for _, root := range []string{ftp.URL + "/", gopher.URL + "/1/"} {
		var open openConnections
		r := fetch1738.Resolver{Env: fetch.Env{Dial: open.dial}}
		documents := walk(t, &r, root)
		if documents != levels {
			t.Errorf("%s: %d documents, want %d", root, documents, levels)
		}
		r.Close()
		// One control connection, and one data connection.
		if open.most > 2 || open.now > 0 {
			t.Errorf("%s: %d connections at once, %d at the end", root, open.most, open.now)
		}
	}
	sessions := 0
	for _, line := range ftp.Transcript() {
		sessions = max(sessions, line.Conn)
	}
	if sessions != 1 {
		t.Errorf("%d control connections", sessions)
	}
}

// walk is the walk that most programs would write.
func walk(t *testing.T, r *fetch1738.Resolver, url string) (documents int) {
	res, err := r.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if res.Items == nil {
		if text, err := io.ReadAll(res.Body); strings.TrimSpace(string(text)) != "text" || err != nil {
			t.Errorf("%s: %q, %v", url, text, err)
		}
		return 1
	}
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		documents += walk(t, r, item.Locator.String())
	}
	return documents
}

// openConnections counts open connections.
type openConnections struct {
	mu        sync.Mutex
	now, most int
}

func (o *openConnections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{ControlContext: fetch.DialControl}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	o.count(1)
	return &openConnection{Conn: c, end: sync.OnceFunc(func() { o.count(-1) })}, nil
}

func (o *openConnections) count(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now += n
	o.most = max(o.most, o.now)
}

type openConnection struct {
	net.Conn
	end func()
}

func (c *openConnection) Close() error {
	c.end()
	return c.Conn.Close()
}

// TestWalkLongNames tests that names and selectors of any length do not take more memory than the
// limit allows, in one directory or in several that are above one another.
func TestWalkLongNames(t *testing.T) {
	const limit, long, some = 8000, 4096, 220 // some long names take less than half of the limit
	listed := 0
	file := func(dir locator.Locator) fetch.Item {
		text := fmt.Sprint(listed, strings.Repeat("x", long))
		listed++
		if l, ok := dir.(*locator.Gopher); ok {
			return fetch.Item{Locator: &locator.Gopher{HostPort: l.HostPort, Type: '0', Selector: text + "/a"}} // its URL has a path
		}
		return fetch.Item{Locator: &locator.FTP{Server: dir.(*locator.FTP).Server, Name: text, HasPath: true}}
	}
	endless := func(dir locator.Locator, yield func(fetch.Item, error) bool) {
		for yield(file(dir), nil) {
		}
	}
	tree := func(descends func(depth int) []string) lister {
		return func(dir locator.Locator, yield func(fetch.Item, error) bool) {
			for range some {
				if !yield(file(dir), nil) {
					return
				}
			}
			l := dir.(*locator.FTP)
			for _, name := range descends(len(l.CWD)) {
				yield(fetch.Item{Kind: fetch.KindDirectory, Locator: &locator.FTP{Server: l.Server, CWD: append(slices.Clip(l.CWD), name), HasPath: true}}, nil)
			}
		}
	}
	for url, tc := range map[string]struct {
		f    lister
		most int
		fits bool
	}{
		"ftp://endless/":   {endless, limit * 256 / long, false},
		"gopher://endless": {endless, limit * 256 / long, false},
		"ftp://deep/":      {tree(func(int) []string { return []string{"d"} }), 3 * some, false},
		"ftp://wide/":      {tree(func(depth int) []string { return strings.Fields("a b c d")[:4-4*depth] }), 5 * some, true},
	} {
		listed = 0
		fsys, err := remotefs.New(t.Context(), tc.f.resolver(), url)
		if err != nil {
			t.Fatal(err)
		}
		for _, failure := range fsys.Walk(limit) {
			err = cmp.Or(err, failure)
		}
		if (err == nil) != tc.fits || !tc.fits && !errors.Is(err, fetch.ErrTooLarge) || listed > tc.most {
			t.Errorf("%s: %d entries, %v", url, listed, err)
		}
	}
}

// TestWalkLocators tests Items whose Locators cannot be written as URLs, of a Fetcher of a program.
func TestWalkLocators(t *testing.T) {
	var want []fetch.Item
	for i := range 100 {
		l := &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '0', Selector: fmt.Sprintf("%02d", i)} // its URL has a path
		want = append(want, fetch.Item{Name: l.Selector, Locator: l, Attributes: fetch.Attributes{MediaType: fmt.Sprint("text/", i), ModTime: time.Unix(1, int64(i)).UTC()}})
	}
	f := lister(func(_ locator.Locator, yield func(fetch.Item, error) bool) {
		for _, item := range want {
			if !yield(item, nil) {
				return
			}
		}
	})
	var got []fetch.Item
	for item, err := range remotefs.Walk(t.Context(), f.resolver(), "gopher://h") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, item)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// TestWalkOrigin tests that what a menu leads to is requested as a link from its server.
func TestWalkOrigin(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	from := make(map[string]fetch.Provenance)
	r := &fetch1738.Resolver{Env: fetch.Env{Allow: func(_ context.Context, to fetch.Target) error {
		from[to.Locator.String()] = to.From
		return nil
	}}}
	for _, err := range remotefs.Walk(t.Context(), r, srv.URL) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for url, of := range from {
		if of.Kind != fetch.OriginRemote && url != srv.URL || of.Kind == fetch.OriginRemote && (of.By == nil || !of.Peer.IsLoopback()) {
			t.Errorf("%s was requested as of %v", url, of)
		}
	}
	if len(from) != 4 {
		t.Errorf("%v", from)
	}
}

// TestWalkCanceled tests that the end of the context ends the walk, whatever has been listed.
func TestWalkCanceled(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range remotefs.Walk(ctx, nil, srv.URL) {
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d items", n)
	}
}

// A lister is a Fetcher of directories.
type lister func(dir locator.Locator, yield func(fetch.Item, error) bool)

func (f lister) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	items := func(yield func(fetch.Item, error) bool) { f(req.Locator, yield) }
	return &fetch.Resource{Locator: req.Locator, Kind: fetch.KindDirectory, Body: http.NoBody, Items: items}, nil
}

func (f lister) resolver() *fetch1738.Resolver {
	return &fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"ftp", "gopher"}, New: func(*fetch.Env) driver.Fetcher { return f }}}}
}

// TestWalkMemory limits what a walk holds of a directory: of a million entries, 60 MB.
func TestWalkMemory(t *testing.T) {
	const n, limit = 50_000, 60
	f := lister(func(dir locator.Locator, yield func(fetch.Item, error) bool) {
		for i := range n {
			name := fmt.Sprintf("some-package_%07d.tar.gz", i)
			item := fetch.Item{Name: name, Attributes: fetch.Attributes{Size: int64(i), ModTime: time.Unix(1e9, 0).UTC()}}
			switch l := dir.(type) {
			case *locator.FTP:
				item.Locator = &locator.FTP{Server: l.Server, CWD: []string{"pub"}, Name: name, HasPath: true}
				item.Header = []fetch.Field{{Name: "perm", Value: "r"}}
			case *locator.Gopher:
				item.Locator = &locator.Gopher{HostPort: l.HostPort, Type: '9', Selector: "/pub/" + name, HasPath: true}
				item.MediaType = "application/octet-stream"
			}
			if !yield(item, nil) {
				return
			}
		}
	})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // frees what pools held
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, url := range []string{"ftp://h/pub/", "gopher://h/1/pub"} {
		before, each, items := heap(), int64(0), 0
		for item, err := range remotefs.Walk(t.Context(), f.resolver(), url) {
			if err != nil || item.Name != fmt.Sprintf("some-package_%07d.tar.gz", items) {
				t.Fatalf("%s: %q, %v", url, item.Name, err)
			}
			if items++; items == 1 {
				each = (heap() - before) / n
			}
		}
		if t.Logf("%s: %d bytes for an entry", url, each); items != n || each > limit {
			t.Errorf("%s: %d items, %d bytes for each; the limit is %d", url, items, each, limit)
		}
	}
}

func TestWalkFunction(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	want := []string{"README.txt", "pub", "pub/deep", "pub/deep/100%.txt", "pub/deep/er", "pub/deep/er/a.html", "pub/empty.txt", "pub/motd.txt"}
	for _, url := range []string{ftp.URL, gopher.URL} {
		r := &fetch1738.Resolver{}
		var names []string
		for item, err := range remotefs.Walk(t.Context(), r, url) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, item.Name)
			if item.Name == "pub/motd.txt" {
				if res, err := r.Get(t.Context(), item.Locator.String()); err != nil {
					t.Errorf("%s: %v", item.Locator, err)
				} else {
					res.Close()
				}
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q", url, names, want)
		}
		r.Close()
	}
	// A directory that cannot be listed does not end the walk; leaving it early does.
	ftp.On("MLSD", 3, testserver.Reply("550 permission denied"))
	ftp.On("LIST", 0, testserver.Reply("550 permission denied"))
	failed, seen := 0, 0
	for item, err := range remotefs.Walk(t.Context(), nil, ftp.URL) {
		seen++
		if err != nil {
			failed++
			if item.Name != "pub/deep" || !errors.Is(err, fetch.ErrNotFound) && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v", item.Name, err)
			}
		}
	}
	if failed != 1 || seen != 6 {
		t.Errorf("%d failures in %d items", failed, seen)
	}
	for range remotefs.Walk(t.Context(), nil, ftp.URL) {
		break
	}
	for _, err := range remotefs.Walk(t.Context(), nil, "http://127.0.0.1/") {
		if !errors.Is(err, fetch.ErrUnsupported) {
			t.Errorf("%v", err)
		}
	}
}
