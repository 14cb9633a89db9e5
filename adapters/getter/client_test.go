package fetchgetter_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hashicorp/go-getter/v2"

	"github.com/fetch1738/fetch1738"
	fetchgetter "github.com/fetch1738/fetch1738/adapters/getter"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

var written = time.Unix(787939445, 0).UTC()

func tree() fstest.MapFS {
	return fstest.MapFS{
		"README":             {Data: []byte("read me\n"), ModTime: written},
		"pub/motd.txt":       {Data: []byte("hello\n"), ModTime: written},
		"pub/what?.txt":      {Data: []byte("why\n"), ModTime: written},
		"pub/deep/er/a.html": {Data: []byte("<p>\n"), ModTime: written},
	}
}

func startFTP(t *testing.T, content fstest.MapFS) *ftptest.Server {
	return ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
}

// call is a call of a client.
type call struct {
	ctx     context.Context
	getter  fetchgetter.Getter
	request getter.Request
}

// get downloads src. It returns the directory, below which the destination is "copy".
func get(t *testing.T, mode getter.Mode, src string, configure ...func(*call)) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	return dir, getTo(t, filepath.Join(dir, "copy"), mode, src, configure...)
}

func getTo(t *testing.T, dst string, mode getter.Mode, src string, configure ...func(*call)) error {
	t.Helper()
	c := &call{ctx: t.Context(), request: getter.Request{Src: src, Dst: dst, GetMode: mode}}
	for _, f := range configure {
		f(c)
	}
	client := getter.Client{Getters: []getter.Getter{&c.getter}}
	if c.getter.Resolver == nil {
		client.Getters = append(client.Getters, getter.Getters...)
	}
	_, err := client.Get(c.ctx, &c.request)
	return err
}

// files are the contents of the files below a directory, by path. The folder of package mirror is
// left out.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == mirror.Folder {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// check compares the files below a directory.
func check(t *testing.T, what, dir string, want map[string]string) {
	t.Helper()
	if got := files(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

const article = "From: a@example.org\r\nNewsgroups: misc.test\r\nSubject: one\r\nMessage-ID: <1@example.org>\r\nDate: 20 Dec 1994 12:00:00 GMT\r\n\r\ntext\r\n"

// Every scheme gets a file, and the directory it is in if the scheme has directories. In
// ModeAny the server decides.
func TestSchemes(t *testing.T) {
	ftp := startFTP(t, tree())
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	news := nntptest.New(t, func(s *nntptest.Server) { s.Groups = map[string][]string{"misc.test": {article}} })
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = tree() })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = tree() })
	r := &fetch1738.Resolver{Env: fetch.Env{NewsServer: news.Addr}}
	defer r.Close()
	configured := func(c *call) { c.getter.Resolver = r }

	document := hit(t, r, wais.URL+"/files?hello")
	for src, want := range map[string]string{
		ftp.URL + "/pub/motd.txt": "hello\n", ftp.URL + "/pub/motd.txt;type=i": "hello\n", ftp.URL + "/%2Fpub/motd.txt": "hello\n",
		ftp.URL + "/pub/what%3F.txt": "why\n", "ftp::" + ftp.URL + "/pub/motd.txt": "hello\n",
		gopher.URL + "/0/pub/motd.txt": "hello\r\n",
		news.URL + "/misc.test/1":      "text\r\n", "news:1@example.org": "text\r\n",
		document: "hello\n", prospero.URL + "/pub/motd.txt": "hello\n",
	} {
		dir, err := get(t, getter.ModeFile, src, configured)
		if got := files(t, dir); err != nil || len(got) != 1 || !strings.HasSuffix(got["copy"], want) {
			t.Errorf("%s: %q, %v", src, got, err)
		}
		dir, err = get(t, getter.ModeAny, src+"?filename=name", configured)
		if got := files(t, dir); err != nil || len(got) != 1 || !strings.HasSuffix(got["copy/name"], want) {
			t.Errorf("%s, decided by the server: %q, %v", src, got, err)
		}
	}
	host, port, _ := strings.Cut(gopher.Addr, ":")
	menu := map[string]string{
		"pub/deep/er/a.html":    "<p>\n",
		"pub/deep/er/gophermap": "ha.html\t/pub/deep/er/a.html\t" + host + "\t" + port + "\r\n",
	}
	pub := map[string]string{"motd.txt": "hello\n", "what%3F.txt": "why\n", "deep/er/a.html": "<p>\n"}
	for src, want := range map[string]map[string]string{
		ftp.URL + "/pub": pub, ftp.URL + "/pub/": pub, ftp.URL + "/pub;type=d": pub, "ftp::" + ftp.URL + "/pub": pub,
		ftp.URL + "//pub/deep":                  {"er/a.html": "<p>\n"},
		gopher.URL + "/1/pub/deep/er":           menu,
		news.URL + "/misc.test":                 {"1": article},
		"news:misc.test":                        {"1": article},
		ftp.URL + "/missing":                    nil,
		wais.URL + "/files":                     nil,
		prospero.URL + "/pub":                   nil,
		"ftp::file:///etc?archive=false":        nil,
		ftp.URL + "/README?x=y":                 nil,
		ftp.URL + "/README?":                    nil,
		"ftp::" + gopher.URL + "/1/pub/deep/er": menu,
	} {
		directory(t, src, want, configured)
	}
}

// hit returns the URL of a document that a search finds.
func hit(t *testing.T, r *fetch1738.Resolver, search string) (document string) {
	t.Helper()
	hits, err := r.Get(t.Context(), search)
	if err != nil {
		t.Fatal(err)
	}
	defer hits.Close()
	for item, err := range hits.Items {
		if err != nil {
			t.Fatal(err)
		}
		if item.Kind == fetch.KindDocument {
			document = item.Locator.String()
		}
	}
	return document
}

// directory gets a directory, which also the server takes for one. Without want it is an error.
func directory(t *testing.T, src string, want map[string]string, configured func(*call)) {
	t.Helper()
	for _, mode := range []getter.Mode{getter.ModeDir, getter.ModeAny} {
		dir, err := get(t, mode, src, configured)
		if want == nil {
			if err == nil {
				t.Errorf("%s, mode %d: no error", src, mode)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, mode %d: %v", src, mode, err)
			continue
		}
		check(t, src, filepath.Join(dir, "copy"), want)
	}
}

// A query that go-getter leaves is refused before anything is sent, as RFC 1738 has none.
func TestQuery(t *testing.T) {
	srv := startFTP(t, tree())
	for _, query := range []string{"?x=y", "?", "?.txt", "?checksum=md5:00&depth=1", "?filename=a&b"} {
		_, err := get(t, getter.ModeAny, srv.URL+"/pub/what"+query)
		if err == nil {
			t.Errorf("%s: no error", query)
		}
	}
	if lines := srv.Transcript().String(); lines != "" {
		t.Errorf("the server was asked:\n%s", lines)
	}
}

// go-getter compares checksums, and does not fetch what is there already.
func TestChecksum(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("hello\n")))
	content := tree()
	content["pub/SHA256SUMS"] = &fstest.MapFile{Data: []byte(sum + "  motd.txt\n"), ModTime: written}
	srv := startFTP(t, content)
	for _, checksum := range []string{sum, "sha256:" + sum, "file:" + srv.URL + "/pub/SHA256SUMS"} {
		dir, err := get(t, getter.ModeFile, srv.URL+"/pub/motd.txt?checksum="+checksum)
		if err != nil {
			t.Errorf("%s: %v", checksum, err)
			continue
		}
		check(t, checksum, dir, map[string]string{"copy": "hello\n"})
		srv.ResetTranscript()
		if err := getTo(t, filepath.Join(dir, "copy"), getter.ModeFile, srv.URL+"/pub/motd.txt?checksum="+checksum); err != nil {
			t.Errorf("%s: again: %v", checksum, err)
		}
		if srv.Transcript().Has(testserver.FromClient, "RETR motd.txt") {
			t.Errorf("%s: the file was fetched again", checksum)
		}
	}
	_, err := get(t, getter.ModeFile, srv.URL+"/README?checksum="+sum)
	if _, differs := errors.AsType[*getter.ChecksumError](err); !differs {
		t.Errorf("another file: %v", err)
	}
}

func TestArchive(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, _ := w.Create("dir/hello.txt")
	io.WriteString(f, "hello\n")
	w.Close()
	srv := startFTP(t, fstest.MapFS{"a.zip": {Data: archive.Bytes(), ModTime: written}})
	for src, want := range map[string]map[string]string{
		"/a.zip":                    {"dir/hello.txt": "hello\n"},
		"/a.zip;type=i?archive=zip": {"dir/hello.txt": "hello\n"},
		"/a.zip//dir":               {"hello.txt": "hello\n"},
		"/a.zip?archive=false":      {"a.zip": archive.String()},
	} {
		dir, err := get(t, getter.ModeAny, srv.URL+src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		check(t, src, filepath.Join(dir, "copy"), want)
	}
}

// A second Get fetches only what has changed, and deletes what is gone.
func TestUpdate(t *testing.T) {
	first, dir := startFTP(t, tree()), t.TempDir()
	r := &fetch1738.Resolver{Env: fetch.Env{Dial: first.Dial}}
	defer r.Close()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o644), getTo(t, dir, getter.ModeDir, first.URL)); err != nil {
		t.Fatal(err)
	}
	if err := first.Put("README", []byte("read this\n")); err != nil {
		t.Fatal(err)
	}
	first.ResetTranscript()
	if err := getTo(t, dir, getter.ModeDir, first.URL); err != nil {
		t.Fatal(err)
	}
	check(t, "updated", dir, map[string]string{"README": "read this\n", "pub/motd.txt": "hello\n", "pub/what%3F.txt": "why\n", "pub/deep/er/a.html": "<p>\n", "mine": "mine"})
	if n := strings.Count(first.Transcript().String(), "C: RETR"); n != 1 {
		t.Errorf("%d files were fetched", n)
	}
	first.On("MLSD", 1, testserver.Data("type=file;size=10;modify=19941220123045; README\r\n"))
	if err := getTo(t, dir, getter.ModeDir, first.URL); err != nil {
		t.Fatal(err)
	}
	got := files(t, dir)
	if _, there := got["pub/motd.txt"]; there || got["mine"] != "mine" {
		t.Errorf("after files are gone: %q", got)
	}
}

// An empty listing deletes nothing unless MaxDelete permits it. Nor does one that lacks most files.
func TestMaxDelete(t *testing.T) {
	content := fstest.MapFS{}
	for i := range 40 {
		content[fmt.Sprintf("pub/%02d", i)] = &fstest.MapFile{Data: []byte("x"), ModTime: written}
	}
	ftp, dir := startFTP(t, content), t.TempDir()
	src := ftp.URL + "/pub"
	if err := getTo(t, dir, getter.ModeDir, src); err != nil {
		t.Fatal(err)
	}
	for _, listing := range []string{"", "type=file;size=1;modify=19941220123045; 00\r\n"} {
		ftp.On("MLSD", 0, testserver.Data(listing))
		err := getTo(t, dir, getter.ModeDir, src)
		if got := files(t, dir); !errors.Is(err, mirror.ErrMaxDelete) || len(got) != 40 {
			t.Errorf("%q: %d files, %v", listing, len(got), err)
		}
		ftp.ResetFaults()
	}
	ftp.On("MLSD", 0, testserver.Data(""))
	if err := getTo(t, dir, getter.ModeDir, src, func(c *call) { c.getter.MaxDelete = -1 }); err != nil || len(files(t, dir)) > 0 {
		t.Errorf("permitted: %q, %v", files(t, dir), err)
	}
}

// No name from a server leads out of the destination.
func TestHostileNames(t *testing.T) {
	ftp, gopher := startFTP(t, tree()), gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	ftp.On("MLSD", 1, testserver.Data("type=file;size=6; ../evil\r\ntype=file;size=6; /evil\r\ntype=dir; ..\r\ntype=file;size=6; .profile\r\n"))
	gopher.On("MENU", 1, testserver.Data(strings.ReplaceAll("0evil\t/../../evil\tHOST\n0evil\t/pub/motd.txt\tHOST\n.\n", "HOST", strings.Replace(gopher.Addr, ":", "\t", 1))))
	for _, src := range []string{ftp.URL + "/pub/", gopher.URL} {
		dir, _ := get(t, getter.ModeDir, src)
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != "copy" {
			t.Errorf("%s: %v, %v", src, entries, err)
		}
		for path := range files(t, filepath.Join(dir, "copy")) {
			if strings.HasPrefix(filepath.Base(path), ".") {
				t.Errorf("%s: a hidden file %s", src, path)
			}
		}
	}
}

// A meter counts what it is shown.
type meter struct {
	mu    sync.Mutex
	shown map[string]*shown
}

type shown struct{ from, size, read, closed int64 }

func (m *meter) TrackProgress(src string, currentSize, totalSize int64, stream io.ReadCloser) io.ReadCloser {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown == nil {
		m.shown = make(map[string]*shown)
	}
	s := &shown{from: currentSize, size: totalSize}
	m.shown[src] = s
	return counted{stream, m, s}
}

type counted struct {
	io.ReadCloser
	m *meter
	s *shown
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.s.read += int64(n)
	return n, err
}

func (c counted) Close() error {
	c.m.mu.Lock()
	c.s.closed++
	c.m.mu.Unlock()
	return c.ReadCloser.Close()
}

// An interrupted download is resumed, and the progress begins where it resumes.
func TestResumeAndProgress(t *testing.T) {
	big := make([]byte, 300_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range big {
		big[i] = byte(random.Uint32())
	}
	srv := startFTP(t, fstest.MapFS{"big": {Data: big, ModTime: written}, "dir/a": {Data: []byte("aaa"), ModTime: written}, "dir/b": {Data: []byte("b"), ModTime: written}})
	srv.On("RETR", 1, testserver.Truncate(100_000))
	srv.On("RETR", 2, testserver.Reply("450 busy"))
	dst := filepath.Join(t.TempDir(), "new", "copy")
	if err := getTo(t, dst, getter.ModeFile, srv.URL+"/big"); !errors.Is(err, fetch.ErrBusy) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dst); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an incomplete file: %v", err)
	}
	m := &meter{}
	if err := getTo(t, dst, getter.ModeFile, srv.URL+"/big", func(c *call) { c.request.ProgressListener = m }); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(dst); !bytes.Equal(got, big) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if s := m.shown["big"]; s == nil || *s != (shown{100_000, 300_000, 200_000, 1}) {
		t.Errorf("progress: %+v", s)
	}
	if err := getTo(t, filepath.Join(t.TempDir(), "copy"), getter.ModeDir, srv.URL+"/dir", func(c *call) { c.request.ProgressListener = m }); err != nil {
		t.Fatal(err)
	}
	a, b := m.shown["a"], m.shown["b"]
	if a == nil || a.read != 3 || a.size != 3 || b == nil || b.read != 1 {
		t.Errorf("progress of a directory: %+v, %+v", a, b)
	}
}

// The context of the client ends a download.
func TestCancel(t *testing.T) {
	for _, mode := range []getter.Mode{getter.ModeFile, getter.ModeDir, getter.ModeAny} {
		srv := startFTP(t, tree())
		stage := map[getter.Mode]string{getter.ModeFile: "RETR", getter.ModeDir: "MLSD", getter.ModeAny: "SIZE"}[mode]
		ctx, cancel := context.WithCancel(t.Context())
		traced := fetch.WithTrace(ctx, &fetch.Trace{Sent: func(octets []byte) {
			if strings.HasPrefix(string(octets), stage) {
				cancel()
			}
		}})
		src := srv.URL + "/README"
		if mode == getter.ModeDir {
			src = srv.URL + "/"
		}
		if _, err := get(t, mode, src, func(c *call) { c.ctx = traced }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", stage, err)
		}
		cancel()
	}
}

func TestUmask(t *testing.T) {
	srv := startFTP(t, tree())
	private := func(c *call) { c.request.Umask = 0o077 }
	for mode, src := range map[getter.Mode]string{getter.ModeFile: "/README", getter.ModeDir: "/pub"} {
		dir, err := get(t, mode, srv.URL+src, private)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(filepath.Join(dir, "copy"), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// With DisableSymlinks nothing is written where a symbolic link leads.
func TestDisableSymlinks(t *testing.T) {
	srv := startFTP(t, tree())
	outside, dir := t.TempDir(), t.TempDir()
	for name, target := range map[string]string{"file": filepath.Join(outside, "file"), "part.part": filepath.Join(outside, "part"), "tree": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links on this system:", err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "inner"), 0o755), os.Symlink(outside, filepath.Join(dir, "inner", "pub"))); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]getter.Mode{"file": getter.ModeFile, "part": getter.ModeFile, "tree": getter.ModeDir, "inner": getter.ModeDir} {
		src := map[getter.Mode]string{getter.ModeFile: "/README", getter.ModeDir: "/"}[mode]
		err := getTo(t, filepath.Join(dir, name), mode, srv.URL+src, func(c *call) { c.request.DisableSymlinks = true })
		if !errors.Is(err, getter.ErrSymlinkCopy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, "outside", outside, map[string]string{})
}

// An error has no password.
func TestErrors(t *testing.T) {
	srv := startFTP(t, tree())
	for _, mode := range []getter.Mode{getter.ModeFile, getter.ModeDir, getter.ModeAny} {
		_, err := get(t, mode, strings.Replace(srv.URL, "://", "://user:secret@", 1)+"/README")
		if !errors.Is(err, fetch.ErrUnauthenticated) && !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "secret") {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}
