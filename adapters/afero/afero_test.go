package fetchafero_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/afero/zipfs"
	"go.uber.org/goleak"

	fetchafero "github.com/fetch1738/fetch1738/adapters/afero"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var written = time.Unix(787939445, 0).UTC()

func tree() fstest.MapFS {
	return fstest.MapFS{
		"README.txt":         {Data: []byte("read me\n"), ModTime: written},
		"pub/motd.txt":       {Data: []byte("hello\n"), ModTime: written},
		"pub/empty.txt":      {Data: []byte{}, ModTime: written},
		"pub/deep/er/a.html": {Data: []byte("<p>\n"), ModTime: written},
	}
}

func open(t *testing.T, url string) *fetchafero.Fs {
	t.Helper()
	fsys, err := fetchafero.New(t.Context(), nil, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// Every scheme with directories has the functions of package afero.
func TestTrees(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = tree() })
	for _, url := range []string{ftp.URL, gopher.URL, prospero.URL + "/"} {
		fsys := open(t, url)
		var paths []string
		err := afero.Walk(fsys, "/", func(path string, info fs.FileInfo, err error) error {
			if err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(path))
			if info.IsDir() == strings.Contains(path, ".") {
				t.Errorf("%s: %s: %v", url, path, info.Mode())
			}
			return nil
		})
		want := []string{"/", "/README.txt", "/pub", "/pub/deep", "/pub/deep/er", "/pub/deep/er/a.html", "/pub/empty.txt", "/pub/motd.txt"}
		if err != nil || !slices.Equal(paths, want) {
			t.Errorf("%s: Walk: %q, %v", url, paths, err)
		}
		if matches, err := afero.Glob(fsys, "/pub/*.txt"); err != nil || !slices.Equal(matches, []string{"/pub/empty.txt", "/pub/motd.txt"}) {
			t.Errorf("%s: Glob: %q, %v", url, matches, err)
		}
	}
	// It is a file system of package fs again. Only ftp has the ReadAt that this test requires.
	if err := fstest.TestFS(afero.NewIOFS(open(t, ftp.URL)), "README.txt", "pub/motd.txt", "pub/deep/er/a.html"); err != nil {
		t.Error(err)
	}
	if _, err := fetchafero.New(t.Context(), nil, "http://127.0.0.1/"); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("http: %v", err)
	}
}

// All spellings of a name are the file, and none leads out of the root.
func TestNames(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	fsys := open(t, srv.URL+"/pub")
	for _, name := range []string{"motd.txt", "/motd.txt", "./motd.txt", "//motd.txt", "deep/../motd.txt", "../motd.txt", "/../../pub/../motd.txt", filepath.Join("deep", "..", "motd.txt")} {
		f, err := fsys.Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(f)
		if string(text) != "hello\n" || err != nil || f.Name() != name {
			t.Errorf("%s: %q, %v, Name %s", name, text, err, f.Name())
		}
		f.Close()
	}
	for _, name := range []string{"", ".", "/", "..", "deep/.."} {
		if info, err := fsys.Stat(name); err != nil || !info.IsDir() {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
	if _, err := fsys.Stat("../README.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name out of the root: %v", err)
	}
	if base := afero.NewBasePathFs(fsys, "/deep"); must(afero.Exists(base, "er/a.html")) != true {
		t.Error("a BasePathFs does not find the file")
	}
}

func must(ok bool, err error) any {
	if err != nil {
		return err
	}
	return ok
}

// afero asks os.IsNotExist, which does not look into the errors that errors.Is finds.
func TestMissing(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	fsys := open(t, srv.URL)
	for _, name := range []string{"missing", "missing/too", "/pub/missing"} {
		if got := must(afero.Exists(fsys, name)); got != false {
			t.Errorf("Exists(%s): %v", name, got)
		}
		for op, err := range map[string]error{
			"open": errOf(fsys.Open(name)), "stat": errOf(fsys.Stat(name)), "read": errOf(afero.ReadFile(fsys, name)),
			"list": errOf(afero.ReadDir(fsys, name)), "readlink": errOf(fsys.ReadlinkIfPossible(name)),
		} {
			var of *fs.PathError
			if !os.IsNotExist(err) || !errors.As(err, &of) || of.Path != name {
				t.Errorf("%s %s: %v", op, name, err)
			}
		}
	}
	srv.On("MLSD", 1, testserver.Reply("425 no data connection"))
	other := open(t, srv.URL)
	if _, err := other.Stat("pub/motd.txt"); os.IsNotExist(err) || fetch.KindOf(err) == fetch.ErrOther {
		t.Errorf("a listing that fails: %v", err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// Everything that writes is refused before anything is sent, in the way of afero.ReadOnlyFs.
func TestReadOnly(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	fsys := open(t, srv.URL)
	f, err := fsys.OpenFile("/README.txt", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	srv.ResetTranscript()
	for op, err := range map[string]error{
		"Create": errOf(fsys.Create("a")), "Mkdir": fsys.Mkdir("a", 0o755), "MkdirAll": fsys.MkdirAll("a/b", 0o755),
		"Remove": fsys.Remove("README.txt"), "RemoveAll": fsys.RemoveAll("pub"), "Rename": fsys.Rename("README.txt", "a"),
		"Chmod": fsys.Chmod("README.txt", 0o600), "Chown": fsys.Chown("README.txt", 1, 1), "Chtimes": fsys.Chtimes("README.txt", written, written),
		"SymlinkIfPossible": fsys.SymlinkIfPossible("README.txt", "a"),
		"O_WRONLY":          errOf(fsys.OpenFile("README.txt", os.O_WRONLY, 0)), "O_RDWR": errOf(fsys.OpenFile("README.txt", os.O_RDWR, 0)),
		"O_APPEND": errOf(fsys.OpenFile("README.txt", os.O_APPEND, 0)), "O_CREATE": errOf(fsys.OpenFile("a", os.O_CREATE, 0o644)),
		"O_TRUNC": errOf(fsys.OpenFile("README.txt", os.O_TRUNC, 0)), "WriteFile": afero.WriteFile(fsys, "README.txt", nil, 0o644),
		"Write": errOf(f.Write([]byte("x"))), "WriteAt": errOf(f.WriteAt([]byte("x"), 0)), "WriteString": errOf(f.WriteString("x")), "Truncate": f.Truncate(0),
	} {
		if !errors.Is(err, fs.ErrPermission) || !errors.Is(err, syscall.EPERM) || !os.IsPermission(err) {
			t.Errorf("%s: %v", op, err)
		}
	}
	if n, _ := f.Write([]byte("x")); n != 0 {
		t.Errorf("Write returned %d", n)
	}
	if lines := srv.Transcript().String(); lines != "" {
		t.Errorf("the server was asked:\n%s", lines)
	}
}

// A zip file on a server is a file system too, of which only parts are fetched.
func TestReadAt(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	filler, _ := w.CreateHeader(&zip.FileHeader{Name: "large", Method: zip.Store})
	noise := make([]byte, 8<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	filler.Write(noise)
	hello, _ := w.Create("dir/hello.txt")
	io.WriteString(hello, "hello\n")
	w.Close()
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.zip": {Data: archive.Bytes(), ModTime: written}}
	})
	fsys := open(t, srv.URL)
	f, err := fsys.Open("a.zip")
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil || info.Size() != int64(archive.Len()) {
		t.Fatalf("%v, %v", info, err)
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := afero.ReadFile(zipfs.New(z), "/dir/hello.txt"); string(text) != "hello\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	for line := range strings.Lines(srv.Transcript().String()) {
		if strings.HasPrefix(line, "C: REST 0") {
			t.Errorf("the file was fetched from its beginning: %s", line)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			at := int64(i) << 20
			got := make([]byte, 1000)
			if n, err := f.ReadAt(got, at); n != len(got) || err != nil || !bytes.Equal(got, archive.Bytes()[at:at+1000]) {
				t.Errorf("%d bytes at %d, %v", n, at, err)
			}
		})
	}
	wg.Wait()
	if n, err := f.ReadAt(make([]byte, 10), info.Size()-4); n != 4 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if at, err := f.Seek(-5, io.SeekEnd); at != info.Size()-5 || err != nil {
		t.Errorf("Seek: %d, %v", at, err)
	}
	if end, err := io.ReadAll(f); !bytes.Equal(end, archive.Bytes()[archive.Len()-5:]) || err != nil {
		t.Errorf("after Seek: %x, %v", end, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for op, err := range map[string]error{"ReadAt": errOf(f.ReadAt(make([]byte, 1), 0)), "Read": errOf(f.Read(make([]byte, 1))), "Seek": errOf(f.Seek(0, 0)), "Close": f.Close()} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s of a closed file: %v", op, err)
		}
	}
	menu := gophertest.New(t, func(s *gophertest.Server) { s.Content = tree() })
	g, err := open(t, menu.URL).Open("README.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if n, err := g.ReadAt(make([]byte, 1), 1); n != 0 || !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("gopher: %d, %v", n, err)
	}
}

// A directory is read in pieces as one of package os is, and is not a file.
func TestDirectory(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	d, err := open(t, srv.URL).Open("/pub")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	first, err := d.Readdir(2)
	if err != nil || len(first) != 2 || first[0].Name() != "deep" || !first[0].IsDir() || first[1].Name() != "empty.txt" {
		t.Errorf("%v, %v", first, err)
	}
	names, err := d.Readdirnames(2)
	if err != nil || !slices.Equal(names, []string{"motd.txt"}) {
		t.Errorf("%q, %v", names, err)
	}
	if rest, err := d.Readdir(1); len(rest) != 0 || err != io.EOF {
		t.Errorf("at the end: %v, %v", rest, err)
	}
	if rest, err := d.Readdir(-1); len(rest) != 0 || err != nil {
		t.Errorf("all of the rest: %v, %v", rest, err)
	}
	for op, err := range map[string]error{"Read": errOf(d.Read(make([]byte, 1))), "ReadAt": errOf(d.ReadAt(make([]byte, 1), 0)), "Seek": errOf(d.Seek(0, 0))} {
		if err == nil || err == io.EOF || !strings.Contains(err.Error(), "/pub: is a directory") {
			t.Errorf("%s of a directory: %v", op, err)
		}
	}
	f, err := open(t, srv.URL).Open("README.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Readdir(-1); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as a directory: %v", err)
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o644), os.Symlink("file", filepath.Join(dir, "link"))); err != nil {
		t.Skip("no symbolic links on this system:", err)
	}
	fsys := open(t, "file://"+filepath.ToSlash(dir))
	info, possible, err := fsys.LstatIfPossible("/link")
	if err != nil || !possible || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("%v, %v, %v", info, possible, err)
	}
	if link, err := fsys.ReadlinkIfPossible("/link"); link != "file" || err != nil {
		t.Errorf("%q, %v", link, err)
	}
	if info, err := fsys.Stat("/link"); err != nil || !info.Mode().IsRegular() || info.Size() != 4 {
		t.Errorf("%v, %v", info, err)
	}
}

// What was read once comes from the layer of a CacheOnReadFs.
func TestCacheOnRead(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = tree() })
	cached := afero.NewCacheOnReadFs(open(t, srv.URL), afero.NewMemMapFs(), 0)
	for range 2 {
		if text, err := afero.ReadFile(cached, "/pub/motd.txt"); string(text) != "hello\n" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if n := strings.Count(srv.Transcript().String(), "C: RETR"); n != 1 {
		t.Errorf("the file was fetched %d times", n)
	}
}
