package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// A world is a Fetcher that replaces an ftp server. It has the listing of each directory, by URL,
// and the content of all files.
type world struct {
	list  func(l *locator.FTP) iter.Seq2[fetch.Item, error]
	text  string
	mu    sync.Mutex
	asked []string
	times []time.Time
	from  []fetch.Provenance
}

// Fetch implements driver.Fetcher.
func (w *world) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	w.mu.Lock()
	w.asked = append(w.asked, req.Locator.String())
	w.times = append(w.times, time.Now())
	w.from = append(w.from, req.From)
	w.mu.Unlock()
	l := req.Locator.(*locator.FTP)
	res := &fetch.Resource{Locator: l, Attributes: fetch.Attributes{Size: -1}, Body: http.NoBody, Peer: netip.MustParseAddrPort("192.0.2.1:21")}
	if l.Name == "" {
		res.Kind, res.Items = fetch.KindDirectory, w.list(l)
		return res, nil
	}
	trace := driver.ContextTrace(ctx)
	res.Body = io.NopCloser(io.TeeReader(strings.NewReader(w.text), writerFunc(func(b []byte) { trace.Body(int64(len(b))) })))
	return res, nil
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// aFile and aDir return items of the directory l.
func aFile(l *locator.FTP, name string) fetch.Item {
	return fetch.Item{Name: name, Locator: &locator.FTP{Server: l.Server, CWD: l.CWD, Name: name, HasPath: true}, Attributes: fetch.Attributes{Size: -1}}
}

func aDir(l *locator.FTP, name string) fetch.Item {
	cwd := append(l.CWD[:len(l.CWD):len(l.CWD)], name)
	return fetch.Item{Name: name, Kind: fetch.KindDirectory, Locator: &locator.FTP{Server: l.Server, CWD: cwd, HasPath: true}}
}

func items(list ...fetch.Item) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func mirrorOf(t *testing.T, w *world) *mirror.Mirror {
	return &mirror.Mirror{
		Fetcher: w, Dir: filepath.Join(t.TempDir(), "copy"),
		Start: &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}, CWD: []string{"pub"}, HasPath: true},
	}
}

// No entry of a listing leads out of the directory or to another server.
func TestHostileListing(t *testing.T) {
	w := &world{text: "x"}
	long := strings.Repeat("long", 58) + "lon~7c2750468a17c805.gz"
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
		if len(l.CWD) > 1 {
			return items()
		}
		at := *l
		at.Host = "other"
		up := *l
		up.CWD = []string{"etc"}
		link := aFile(l, "link")
		link.Header = []fetch.Field{{Name: fetch.HeaderLink, Value: "/etc/passwd"}}
		device := aFile(l, "device")
		device.Header = []fetch.Field{{Name: fetch.HeaderSpecial}}
		return items(
			aFile(l, ".."), aFile(l, "."), aDir(l, ".."), aDir(l, ""), aFile(&at, "elsewhere"), aFile(&up, "passwd"), link, device,
			fetch.Item{Name: "web", Locator: &locator.HTTP{}},
			aFile(l, "/etc/passwd"), aFile(l, "a/../../b"), aFile(l, `c:\d`), aFile(l, "CON"), aFile(l, ".fetch1738"), aDir(l, ".fetch1738"),
			aFile(l, "-rf"), aFile(l, "gr\xfcn"), aFile(l, "esc\x1b[2J"), aFile(l, strings.Repeat("long", 100)+".tar.gz"),
		)
	}
	m := mirrorOf(t, w)
	got, err := m.Run(t.Context())
	if err == nil || !errors.Is(err, fs.ErrExist) || counts(got) != (mirror.Summary{New: 8, Skipped: 9, Failed: 1, Renamed: 6}) {
		t.Errorf("%+v, %v", got, err)
	}
	want := map[string]string{"%2Efetch1738/": ""}
	for _, name := range []string{"%2Fetc%2Fpasswd", "a%2F..%2F..%2Fb", "c%3A%5Cd", "CON", "-rf", "gr\xfcn", "esc%1B[2J", long} {
		want[name] = "x"
	}
	sameFiles(t, m.Dir, want)
	if entries, err := os.ReadDir(filepath.Dir(m.Dir)); err != nil || len(entries) != 1 {
		t.Errorf("files outside the copy: %v, %v", entries, err)
	}
	for i, url := range w.asked {
		if !strings.HasPrefix(url, "ftp://h/pub/") {
			t.Errorf("fetched %s", url)
		}
		if i > 0 && w.from[i].Kind != fetch.OriginRemote {
			t.Errorf("%s has provenance %v", url, w.from[i])
		}
	}
}

// No file is written through a link in the copy, and neither is the manifest (CVE-2014-4877,
// case 98).
func TestLinksInCopy(t *testing.T) {
	w := &world{text: "x"}
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
		if len(l.CWD) > 1 {
			return items(aFile(l, "in it"))
		}
		return items(aDir(l, "dir"), aFile(l, "file"), aFile(l, "whole"))
	}
	outside := t.TempDir()
	for _, links := range []map[string]string{{"dir": "", "file": "new"}, {mirror.Folder: ""}, {mirror.Folder: "", "dir": ""}} {
		m := mirrorOf(t, w)
		if err := os.MkdirAll(m.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, to := range links {
			if err := os.Symlink(filepath.Join(outside, to), filepath.Join(m.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := m.Run(t.Context()); err == nil || got.New > 1 {
			t.Errorf("%v: %+v, %v", links, got, err)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// If two names differ in letter case only, or are a file and a directory, the first one listed is
// copied, also in later runs.
func TestCollisions(t *testing.T) {
	names := []string{"Readme", "README", "dir"}
	w := &world{text: "x"}
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
		if len(l.CWD) > 1 {
			return items(aFile(l, "in it"))
		}
		list := []fetch.Item{aDir(l, "DIR")}
		for _, name := range names {
			list = append(list, aFile(l, name))
		}
		return items(list...)
	}
	m := mirrorOf(t, w)
	want := map[string]string{"Readme": "x", "DIR/in it": "x"}
	for _, sum := range []mirror.Summary{{New: 2, Failed: 2}, {Unchanged: 2, Failed: 2}} {
		got, err := m.Run(t.Context())
		if counts(got) != sum || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%+v, %v", got, err)
		}
		sameFiles(t, m.Dir, want)
		names = []string{"README", "Readme", "dir"} // listed in another order
	}
}

// Endless listings and trees are errors.
func TestEndless(t *testing.T) {
	w := &world{text: "x"}
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
		return func(yield func(fetch.Item, error) bool) {
			for n := 0; yield(aFile(l, fmt.Sprint(n)), nil); n++ {
			}
		}
	}
	m := mirrorOf(t, w)
	m.MaxEntries = 100
	got, err := m.Run(t.Context())
	if counts(got) != (mirror.Summary{New: 100, Failed: 1}) || !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("an endless listing: %+v, %v", got, err)
	}

	depth := func(l *locator.FTP) string { return fmt.Sprint(len(l.CWD)) } // so that no directory lists the same as another one
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] { return items(aDir(l, "a"+depth(l)), aDir(l, "b")) }
	m = mirrorOf(t, w)
	m.MaxEntries = 500
	if got, err = m.Run(t.Context()); got.Failed == 0 || !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("a tree that doubles: %+v, %v", got, err)
	}

	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] { return items(aFile(l, "f"), aDir(l, "d"+depth(l))) }
	m = mirrorOf(t, w)
	if got, err = m.Run(t.Context()); counts(got) != (mirror.Summary{New: mirror.DefaultDepth, Failed: 1}) || !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("an endless tree: %+v, %v", got, err)
	}

	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
		return func(yield func(fetch.Item, error) bool) {
			// The bytes of lines that are not entries are reported to the Trace only.
			yield(fetch.Item{}, driver.Fail("LIST", l, fetch.ErrCanceled, context.Canceled))
		}
	}
	m = mirrorOf(t, w)
	if got, err = m.Run(t.Context()); counts(got) != (mirror.Summary{Failed: 1}) || !errors.Is(err, fetch.ErrCanceled) {
		t.Errorf("a listing that breaks: %+v, %v", got, err)
	}
}

// A listing of lines that are not entries is limited by its size in bytes.
func TestEndlessJunk(t *testing.T) {
	f := fetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
		trace := driver.ContextTrace(ctx)
		return &fetch.Resource{
			Locator: req.Locator, Kind: fetch.KindDirectory, Body: http.NoBody,
			Items: func(yield func(fetch.Item, error) bool) {
				for ctx.Err() == nil {
					trace.Body(1 << 20)
				}
				yield(fetch.Item{}, driver.Fail("LIST", req.Locator, fetch.ErrOther, ctx.Err()))
			},
		}, nil
	})
	m := mirrorOf(t, nil)
	m.Fetcher = f
	if _, err := m.Run(t.Context()); !errors.Is(err, fetch.ErrTooLarge) {
		t.Error(err)
	}
}

// The limit applies to all directories together.
func TestEndlessTree(t *testing.T) {
	const listing = 1 << 20
	f := fetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
		l := req.Locator.(*locator.FTP)
		driver.ContextTrace(ctx).Body(listing)
		err := ctx.Err()
		return &fetch.Resource{
			Locator: l, Kind: fetch.KindDirectory, Body: http.NoBody,
			Items: func(yield func(fetch.Item, error) bool) {
				if err != nil {
					yield(fetch.Item{}, driver.Fail("LIST", l, fetch.ErrOther, err))
					return
				}
				_ = yield(aDir(l, fmt.Sprint("a", len(l.CWD))), nil) && yield(aDir(l, "b"), nil) // no directory lists the same as another one
			},
		}, nil
	})
	m := mirrorOf(t, nil)
	m.Fetcher = f
	got, err := m.Run(t.Context())
	if !errors.Is(err, fetch.ErrTooLarge) || got.Octets > 1<<30 || got.Failed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

type fetcherFunc func(context.Context, *fetch.Request) (*fetch.Resource, error)

func (f fetcherFunc) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	return f(ctx, req)
}

// Wait and Rate apply to all connections together.
func TestPolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{text: strings.Repeat("x", 1000)}
		w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
			return items(aFile(l, "1"), aFile(l, "2"), aFile(l, "3"), aFile(l, "4"), aFile(l, "5"))
		}
		m := mirrorOf(t, w)
		m.Wait = 2 * time.Second
		ran(t, m, mirror.Summary{New: 5})
		for i := range len(w.times) - 1 {
			if d := w.times[i+1].Sub(w.times[i]); d < m.Wait {
				t.Errorf("request %d came %v after the previous one", i+1, d)
			}
		}
		m = mirrorOf(t, w)
		m.Rate = 100
		begin := time.Now()
		ran(t, m, mirror.Summary{New: 5})
		if took := time.Since(begin); took < 49*time.Second || took > 51*time.Second {
			t.Errorf("5000 bytes at 100 per second took %v", took)
		}
	})
}

// Transient errors are retried if Retry says so.
func TestAgain(t *testing.T) {
	left := 2
	w := &world{text: "x"}
	w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] { return items(aFile(l, "f")) }
	m := mirrorOf(t, w)
	m.Fetcher = fetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
		if left--; left >= 0 {
			return nil, driver.Fail("RETR", req.Locator, fetch.ErrBusy, fetch.ErrBusy)
		}
		left = 2
		return w.Fetch(ctx, req)
	})
	m.Retry = func(_ context.Context, n int, err error) bool { return n < 2 }
	ran(t, m, mirror.Summary{New: 1})
	m.Retry = func(_ context.Context, n int, err error) bool { return n < 1 }
	left = 2
	ran(t, m, mirror.Summary{Failed: 1})
}

// Folders whose names differ in letter case only would be one folder on some systems. The files of
// the second one fail, on every system.
func TestFoldersOfOneName(t *testing.T) {
	for _, include := range [][]string{nil, {"*.txt"}} {
		w := &world{text: "x"}
		w.list = func(l *locator.FTP) iter.Seq2[fetch.Item, error] {
			switch l.CWD[len(l.CWD)-1] {
			case "pub":
				return items(aDir(l, "Docs"), aDir(l, "docs"), aDir(l, "\u212Aelvin"), aDir(l, "kelvin"))
			case "Docs", "\u212Aelvin":
				return items(aFile(l, "a.txt"))
			}
			return items(aFile(l, "b.txt"))
		}
		m := mirrorOf(t, w)
		m.Include = include
		got, err := m.Run(t.Context())
		if got.New != 2 || got.Failed != 4 || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%q: %+v, %v", include, got, err)
		}
		want := map[string]string{"Docs/a.txt": "x", "\u212Aelvin/a.txt": "x"}
		if diff := cmp.Diff(want, read(t, m.Dir)); diff != "" {
			t.Errorf("%q: %s", include, diff)
		}
	}
}

// If something else has taken the place of a copied file, it is not replaced, followed or removed.
func TestNoFileInPlace(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for name, put := range map[string]func(path string) error{
		"folder":  func(path string) error { return os.Mkdir(path, 0o755) },
		"symlink": func(path string) error { return os.Symlink(outside, path) },
		"fifo":    makeFIFO,
	} {
		for _, change := range []string{"none", "changed", "gone"} {
			t.Run(name+"/"+change, func(t *testing.T) {
				if err := os.WriteFile(outside, []byte("one\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				text := "one\n"
				if name == "fifo" {
					text = "" // the pipe has the size and time of the file
				}
				srv, dir := serveFTP(t, map[string]string{"one": text, "two": "two\n"})
				m := start(t, srv.URL+"/")
				m.Delete = true
				ran(t, m, mirror.Summary{New: 2})
				path := filepath.Join(m.Dir, "one")
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if err := put(path); err != nil {
					t.Skipf("this system cannot make a %s: %v", name, err)
				}
				if name == "fifo" {
					if err := os.Chtimes(path, modified, modified); err != nil {
						t.Fatal(err)
					}
				}
				before, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				want := mirror.Summary{Unchanged: 1, Failed: 1}
				switch change {
				case "changed":
					write(t, dir, map[string]string{"one": "another\n"})
				case "gone":
					if err := os.Remove(filepath.Join(dir, "one")); err != nil {
						t.Fatal(err)
					}
					want = mirror.Summary{Unchanged: 1, Gone: 1}
				}
				ran(t, m, want)
				after, err := os.Lstat(path)
				if err != nil || !os.SameFile(before, after) {
					t.Errorf("%v is now %v, %v", before.Mode(), after, err)
				}
				if b, err := os.ReadFile(outside); err != nil || string(b) != "one\n" {
					t.Errorf("outside is %q, %v", b, err)
				}
			})
		}
	}
}
