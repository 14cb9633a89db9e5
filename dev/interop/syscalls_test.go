package interop

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestSystemCalls counts the system calls for the files that the command keeps. The table has those
// of the program before package disk (d4044a8), one that ends each lock, and the looks at a file before
// and after it is renamed. A change may need other ones, but not one more.
// Reads and writes are not counted, because they depend on how the data arrive.
func TestSystemCalls(t *testing.T) {
	t.Parallel()
	strace, program := requireTool(t, "strace"), buildCommand(t)
	served, dir, trace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trace")
	data := make([]byte, 5<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	keep := func(path string, size int) {
		t.Helper()
		if err := os.WriteFile(path, data[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(served, "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		keep(filepath.Join(served, "tree", fmt.Sprintf("f%02d", n)), 160)
	}
	keep(filepath.Join(served, "big"), len(data))
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(served) })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=chosen")
		w.Header().Set("ETag", `"1"`)
		fmt.Fprintln(w, "a document")
	}))
	defer web.Close()
	words := strings.NewReplacer("DIR", dir, "FTP", ftp.URL, "HTTP", web.URL)
	for _, c := range []struct {
		args  string
		first func()
		want  string
	}{
		{"-o DIR/one FTP/big", nil, "close=1 fcntl=1 flock=2 fstat=2 newfstatat=1 openat=1"},
		{"-R -o DIR/dated FTP/big", nil, "close=2 dup=1 fcntl=1 flock=2 fstat=2 newfstatat=2 openat=1 utimensat=1"},
		{"-O --create-dirs --output-dir DIR/new/dir FTP/tree/f[00-19]", nil, "close=20 fcntl=20 flock=40 fstat=20 mkdirat=2 newfstatat=43 openat=21"},
		{"-O --create-dirs --output-dir DIR/found FTP/tree/f*", nil, "close=117 epoll_ctl=20 fcntl=80 flock=40 fstat=117 mkdirat=1 newfstatat=99 openat=121"},
		{"-C - -o DIR/half FTP/big", func() { keep(filepath.Join(dir, "half"), 2<<20) }, "close=2 fcntl=2 flock=2 fstat=2 lseek=1 newfstatat=4 openat=2"},
		{"--segments 4 -o DIR/segments FTP/big", nil, "close=17 dup=1 epoll_ctl=5 fcntl=20 flock=2 fstat=17 fsync=1 ftruncate=2 lseek=4 newfstatat=19 openat=16 renameat=1"},
		{"-J -O --output-dir DIR HTTP/", nil, "close=5 epoll_ctl=1 fcntl=4 flock=2 fstat=5 newfstatat=4 openat=5"},
		{"-D DIR/heads --etag-save DIR/etag -o DIR/page HTTP/", nil, "close=4 epoll_ctl=3 fcntl=13 flock=2 fstat=1 newfstatat=1 openat=4"},
		{"--etag-compare DIR/etag -w %output{DIR/written}%{http_code} --stderr DIR/stderr --trace DIR/trace -o DIR/page HTTP/", nil, "close=5 epoll_ctl=4 fcntl=17 flock=2 fstat=1 ftruncate=1 newfstatat=1 openat=5"},
		{"mirror --connections 1 FTP/tree/ DIR/copy", nil, "close=67 epoll_ctl=25 fcntl=100 flock=2 fstat=46 fsync=21 getdents64=4 mkdirat=2 newfstatat=128 openat=67 readlinkat=20 renameat=21 unlinkat=1 utimensat=20"},
		{"mirror --connections 1 FTP/tree/ DIR/copy", nil, "close=9 epoll_ctl=3 fcntl=12 flock=2 fstat=4 fsync=1 getdents64=2 mkdirat=1 newfstatat=24 openat=9 renameat=1"},
		{"mirror --connections 1 --delete FTP/tree/ DIR/copy", func() {
			for n := range 3 {
				if err := os.Remove(filepath.Join(served, "tree", fmt.Sprintf("f%02d", n))); err != nil {
					t.Fatal(err)
				}
			}
		}, "close=9 epoll_ctl=3 fcntl=12 flock=2 fstat=4 fsync=1 getdents64=2 mkdirat=1 newfstatat=27 openat=9 renameat=1 unlinkat=3"},
		{"-T DIR/half file://DIR/uploaded", nil, "close=2 epoll_ctl=2 fcntl=8 fstat=4 newfstatat=6 openat=3 renameat=1 unlinkat=2"},
		{"-a -T DIR/half file://DIR/uploaded", nil, "close=2 epoll_ctl=2 fcntl=4 flock=1 fstat=5 newfstatat=5 openat=2"},
	} {
		if c.first != nil {
			c.first()
		}
		args := []string{"-f", "--seccomp-bpf", "-y", "-qq", "-o", trace, "-e", "signal=none", "-e", "trace=/^(" + calls + ")", program}
		for arg := range strings.FieldsSeq(c.args) {
			args = append(args, words.Replace(arg))
		}
		cmd := exec.CommandContext(patience(t), strace, args...)
		cmd.Env = []string{"HOME=" + served}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.args, err, out)
		}
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, c.args, count(string(text), dir), c.want)
	}
}

// calls are the beginnings of the names of the system calls.
const calls = "open|creat|mkdir|rmdir|rename|link|symlink|unlink|readlink|newfstat|[fl]?stat|flock|f?truncate|" +
	"fallocate|lseek|utimensat|fsync|fdatasync|f?chmod|f?access|dup|fcntl|epoll_ctl|getdents|copy_file_range|close"

// called matches the beginning of a call in the output of strace.
var called = regexp.MustCompile(`(?m)^\d+ +(\w+)\((.*)$`)

// count counts the calls for files in dir.
func count(trace, dir string) map[string]int {
	n := make(map[string]int)
	for _, call := range called.FindAllStringSubmatch(trace, -1) {
		if strings.Contains(call[2], dir) {
			n[call[1]]++
		}
	}
	return n
}

// compare compares the number of all calls with that of the table, a list of NAME=COUNT.
func compare(t *testing.T, args string, got map[string]int, table string) {
	t.Helper()
	want, now := 0, 0
	for field := range strings.FieldsSeq(table) {
		_, number, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		want += n
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		now += got[name]
		list = append(list, fmt.Sprintf("%s=%d", name, got[name]))
	}
	t.Logf("%s: %d calls of %d: %s", args, now, want, strings.Join(list, " "))
	if now > want {
		t.Errorf("%s: %d calls, the table allows %d", args, now, want)
	}
}
