package interop

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/dev/interop/inn"
	"github.com/fetch1738/fetch1738/testserver/conversation"
)

// personalities has what the real servers say, which those of package testserver imitate.
const personalities = "../../testserver/ftptest/testdata/personalities/"

// TestPersonalitiesOfFTP plays the conversations of personalities to the real servers.
func TestPersonalitiesOfFTP(t *testing.T) {
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			srv := kind.Start(t, &ftpservers.Server{Root: plantPersonality(t)})
			host, err := os.Hostname()
			if err != nil {
				t.Fatal(err)
			}
			local := strings.NewReplacer(srv.Root+"/", "/", srv.Root, "/", host, "localhost")
			player := &conversation.Client{Addr: srv.Addr, Dial: new(net.Dialer).DialContext, Clean: func(line string) string {
				return conversation.CleanFTP(local.Replace(line))
			}}
			comparePersonality(t, personalities+strings.Replace(kind.Name, "inetutils-ftpd", "inetutils", 1)+".txt", player.FTP)
		})
	}
}

// plantPersonality creates the files that the conversations are about.
func plantPersonality(t *testing.T) string {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	old, now := time.Date(1995, time.March, 4, 5, 6, 7, 0, time.UTC), time.Now().Add(-time.Hour)
	makeDir(t, filepath.Join(root, "sub"), 0o755)
	for name, when := range map[string]time.Time{"hello.txt": old, "sub/a.bin": old, "recent.txt": now} {
		writeFile(t, filepath.Join(root, name), "hello\nworld\n")
		if err := os.Chtimes(filepath.Join(root, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(root, "sub"), old, old); err != nil {
		t.Fatal(err)
	}
	ftpservers.Own(t, root)
	return root
}

// comparePersonality plays the conversation in a file to a real server, and compares what it answers, or
// writes that. For a new server, the file begins as a copy of another one.
func comparePersonality(t *testing.T, file string, play func(context.Context, string) (string, error)) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := play(t.Context(), string(want))
	if err != nil {
		t.Fatalf("%v, after\n%s", err, got)
	}
	if *update {
		writeFile(t, file, got)
	} else if d := conversation.Compare(got, string(want)); d != "" {
		t.Errorf("%s: %s", file, d)
	}
}

// TestPersonalitiesOfGopher is the same for gopher.
func TestPersonalitiesOfGopher(t *testing.T) {
	for name, start := range map[string]func(*testing.T, map[string]string) string{
		"gophernicus": startGophernicusWith, "pygopherd": startPygopherd,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := start(t, map[string]string{
				"hello.txt": "hello\nworld\n", "dots.txt": ".lead\n.\nend\n", "empty.txt": "", "sub/a.bin": "hello\nworld\n",
			})
			_, port, _ := net.SplitHostPort(addr)
			player := &conversation.Client{Addr: addr, Dial: new(net.Dialer).DialContext, Clean: func(line string) string {
				return conversation.CleanGopher(strings.ReplaceAll(line, `\t`+port, `\t70`))
			}}
			comparePersonality(t, "../../testserver/gophertest/testdata/personalities/"+name+".txt", player.Gopher)
		})
	}
}

// startGophernicusWith is like startPygopherd.
func startGophernicusWith(t *testing.T, files map[string]string) (addr string) {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	makeDir(t, root, 0o755)
	for name, data := range files {
		makeDir(t, filepath.Dir(filepath.Join(root, name)), 0o755)
		writeFile(t, filepath.Join(root, name), data)
	}
	return runGophernicus(t, root)
}

// TestPersonalitiesOfNews is the same for NNTP.
func TestPersonalitiesOfNews(t *testing.T) {
	articles := make(map[string][]byte)
	for _, name := range []string{"one", "two"} {
		id := "<" + name + "@example.test>"
		articles[id] = []byte("Path: not-for-mail\r\nFrom: a@example.test\r\nNewsgroups: local.test\r\nSubject: " + name +
			"\r\nDate: Sat, 04 Mar 1995 05:06:07 GMT\r\nMessage-ID: " + id + "\r\n\r\nhello\r\n.dot\r\n")
	}
	for name, start := range map[string]func(*testing.T) string{
		"inn": func(t *testing.T) string {
			srv := inn.Start(t, nil, nil)
			srv.Feed(t, map[string][]byte{"<one@example.test>": articles["<one@example.test>"]})
			srv.Feed(t, map[string][]byte{"<two@example.test>": articles["<two@example.test>"]})
			return srv.Addr
		},
		"leafnode": func(t *testing.T) string {
			return startLeafnode(t, articles["<one@example.test>"], articles["<two@example.test>"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			player := &conversation.Client{Addr: start(t), Dial: new(net.Dialer).DialContext, Clean: conversation.CleanNews}
			comparePersonality(t, "../../testserver/nntptest/testdata/personalities/"+name+".txt", player.News)
		})
	}
}

// startLeafnode runs leafnode under tcpsvd, with these articles in local.test, and returns its
// address. The paths of its files are fixed, so it gets others in their places.
func startLeafnode(t *testing.T, articles ...[]byte) (addr string) {
	t.Helper()
	tcpsvd, program := requireTool(t, "tcpsvd"), requireTool(t, "leafnode")
	if os.Geteuid() != 0 && os.Getenv("CI") == "" {
		t.Skip("leafnode must be started by root")
	}
	addr = daemon.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	dir := serverDir(t)
	// It refuses names of hosts that look like examples.
	files := map[string]string{
		"etc/leafnode/config":       "server = news.example.test\nhostname = news.fetch1738.dev\nexpire = 20000\n",
		"spool/leaf.node/groupinfo": "local.empty 0 1 900000000 Nothing\nlocal.test 2 1 900000000 Tests, gr\u00fcn\n",
	}
	for i, text := range articles {
		xref := fmt.Sprintf("Xref: news.fetch1738.dev local.test:%d\n", i+1)
		files["spool/local/test/"+strconv.Itoa(i+1)] = xref + strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	dirs := []string{"failed.postings", "out.going", "interesting.groups", "temp.files", "local/empty"}
	for i := range 1000 {
		dirs = append(dirs, fmt.Sprintf("message.id/%03d", i))
	}
	for _, name := range dirs {
		makeDir(t, filepath.Join(dir, "spool", name), 0o755)
	}
	for name, text := range files {
		makeDir(t, filepath.Dir(filepath.Join(dir, name)), 0o755)
		writeFile(t, filepath.Join(dir, name), text)
	}
	script := `
		chown -R news:news "$1"
		mount --bind "$1/etc" /etc/news
		mount --bind "$1/spool" /var/spool/news
		"$2" -r > /dev/null
		shift 2
		exec "$@"`
	target, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	daemon.Start(t, exec.Command("unshare", "-m", "--propagation", "private", "sh", "-ec", script, "sh", dir,
		filepath.Join(filepath.Dir(target), "texpire"), tcpsvd, "-c", "100", "127.0.0.1", port, program)).Await(t, addr)
	return addr
}
