package interop

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// gophernicus is a running server with a tree of files.
type gophernicus struct {
	addr string
	root string
}

// startGophernicus runs gophernicus under tcpsvd, a process for each connection, on a free loopback
// port until the test ends.
func startGophernicus(t *testing.T) *gophernicus {
	t.Helper()
	srv := &gophernicus{root: filepath.Join(serverDir(t), "root")}
	srv.plant(t)
	srv.addr = runGophernicus(t, srv.root)
	return srv
}

// runGophernicus serves the files below root, and returns the address.
func runGophernicus(t *testing.T, root string) string {
	t.Helper()
	tcpsvd, program, addr := requireTool(t, "tcpsvd"), requireTool(t, "gophernicus"), daemon.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	args := []string{"-c", "100", "-l", "localhost", "127.0.0.1", port, program,
		"-h", "127.0.0.1", "-p", port, "-r", root, "-nv", "-nu", "-i", "100000000", "-k", "2000000000"}
	if os.Geteuid() == 0 {
		args = append([]string{"-u", "nobody:nogroup"}, args...)
	}
	daemon.Start(t, exec.Command(tcpsvd, args...)).Await(t, addr)
	return addr
}

// dots is a text of lines that begin with dots. gophernicus sends them unchanged.
const dots = ".leading dot\n..two dots\n.\nafter a lone dot\n..\n"

func (s *gophernicus) plant(t *testing.T) {
	t.Helper()
	for name, data := range map[string]string{
		"docs/hello.txt": "hello gopher\nsecond line\n", "docs/dots.txt": dots, "docs/empty.txt": "", "docs/no-end.txt": "no line end",
		"docs/utf8.txt": "gr\u00fcn\n", "with space/a b.txt": "spaced\n", "with#040/x.txt": "named like a space\n",
		"bin.d/rand.bin": string(binary), "bin.d/dot.gif": "GIF89a\x01\x00\r\n.\r\n..x",
		"map/gophermap": "!Lab map\ninfo\n0Hello\t/docs/hello.txt\n7Search\t/cgi-bin/search\nhWeb\tURL:http://127.0.0.1/\n8Telnet\tguest\t127.0.0.1\t2323\n",
	} {
		makeDir(t, filepath.Dir(filepath.Join(s.root, name)), 0o755)
		writeFile(t, filepath.Join(s.root, name), data)
	}
	for i := range 100 {
		makeDir(t, filepath.Join(s.root, "many"), 0o755)
		writeFile(t, filepath.Join(s.root, "many", fmt.Sprintf("i%02d.txt", i)), fmt.Sprintf("item %d\n", i))
	}
	if err := os.Chmod(s.root, 0o755); err != nil {
		t.Fatal(err)
	}
	makeDir(t, filepath.Join(s.root, "cgi-bin"), 0o755)
	daemon.Program(t, filepath.Join(s.root, "cgi-bin/search"),
		"#!/bin/sh\nprintf 'iquery=%s\\t\\tnull.host\\t1\\r\\n0Hello\\t/docs/hello.txt\\t127.0.0.1\\t%s\\r\\n' \"$SEARCHREQUEST\" \"$SERVER_PORT\"\n")
}

// request returns a request for a gopher-path on the server.
func (s *gophernicus) request(t *testing.T, path string) *fetch.Request {
	t.Helper()
	ref, err := locator.Parser{}.Parse("gopher://" + s.addr + path)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{Locator: ref.Locator}
}

// dig fetches and reads.
func dig(t *testing.T, req *fetch.Request) ([]byte, *fetch.Resource, error) {
	t.Helper()
	res, err := new(gopher.Fetcher).Fetch(t.Context(), req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Close()
	data, err := io.ReadAll(res.Body)
	return data, res, err
}

// menu fetches a menu. It returns its items by the text they show, without the server's own columns
// for date and size.
func menu(t *testing.T, req *fetch.Request) (names []string, items map[string]fetch.Item) {
	t.Helper()
	res, err := new(gopher.Fetcher).Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	items = make(map[string]fetch.Item)
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		if item.Locator != nil {
			name, _, _ := strings.Cut(item.Name, "  ")
			names, items[name] = append(names, name), item
		}
	}
	return names, items
}

func TestGophernicusDocuments(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	net := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for path, want := range map[string]string{
		"/0/docs/hello.txt": net("hello gopher\nsecond line\n"), "/0/docs/dots.txt": net(dots), "/0/docs/empty.txt": "",
		"/0/docs/no-end.txt": "no line end\r\n", "/0/docs/utf8.txt": "gr\u00fcn\r\n", "/0/with%20space/a%20b.txt": "spaced\r\n",
		"/0/with%23040space/a%23040b.txt": "spaced\r\n",
		"/9/bin.d/rand.bin":               string(binary), "/g/bin.d/dot.gif": "GIF89a\x01\x00\r\n.\r\n..x",
	} {
		data, res, err := dig(t, srv.request(t, path))
		if err != nil || string(data) != want {
			t.Errorf("%s: %d bytes, %v; want %d; %.60q", path, len(data), err, len(want), data)
			continue
		}
		if res.Info.(*gopher.Info).Complete {
			t.Errorf("%s: Info says that the server marked the end, but it did not", path)
		}
	}
	if data, _, err := dig(t, srv.request(t, "/0/no/such.txt")); !errors.Is(err, fetch.ErrNotFound) {
		t.Errorf("a missing text: %q, %v", data, err)
	}
	if _, _, err := dig(t, srv.request(t, "/1/no/such/")); !errors.Is(err, fetch.ErrNotFound) {
		t.Errorf("a missing menu: %v", err)
	}
	part := srv.request(t, "/9/bin.d/rand.bin")
	part.Offset, part.Length = 60000, 100
	if data, _, err := dig(t, part); err != nil || !bytes.Equal(data, binary[60000:60100]) {
		t.Errorf("a part: %d bytes, %v", len(data), err)
	}
	part.Offset = 1 << 20
	if _, _, err := dig(t, part); !errors.Is(err, fetch.ErrBadRange) {
		t.Errorf("beyond the end: %v", err)
	}
}

// TestGophernicusWalk follows every link from the root.
func TestGophernicusWalk(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	names, items := menu(t, srv.request(t, ""))
	if want := []string{"bin.d", "cgi-bin", "docs", "many", "map", "with space", "with#040"}; !slices.Equal(names, want) {
		t.Errorf("the root lists %q, want %q", names, want)
	}
	for _, dir := range []string{"docs", "bin.d", "with space"} {
		names, below := menu(t, &fetch.Request{Locator: items[dir].Locator})
		for _, name := range names {
			if name == ".." {
				continue
			}
			data, _, err := dig(t, &fetch.Request{Locator: below[name].Locator})
			if err != nil {
				t.Errorf("%s/%s: %v", dir, name, err)
				continue
			}
			disk, err := os.ReadFile(filepath.Join(srv.root, dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if bare := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")); dir != "bin.d" && !bytes.Equal(bytes.TrimSuffix(bare, []byte("\n")), bytes.TrimSuffix(disk, []byte("\n"))) || dir == "bin.d" && !bytes.Equal(data, disk) {
				t.Errorf("%s/%s: %d bytes, on disk %d", dir, name, len(data), len(disk))
			}
		}
	}
	_, links := menu(t, srv.request(t, "/1/map"))
	for name, want := range map[string]string{
		"Hello": "gopher://" + srv.addr + "/0/docs/hello.txt", "Search": "gopher://" + srv.addr + "/7/cgi-bin/search",
		"Web": "http://127.0.0.1/", "Telnet": "telnet://guest@127.0.0.1:2323/",
	} {
		if l := links[name].Locator; l == nil || l.String() != want {
			t.Errorf("the item %s leads to %v, want %s", name, l, want)
		}
	}
	search := &fetch.Request{Locator: links["Search"].Locator, Query: "two words"}
	data, res, err := dig(t, search)
	if want := "iquery=two words\t\tnull.host\t1\r\n"; err != nil || res.Kind != fetch.KindMenu || !strings.HasPrefix(string(data), want) {
		t.Errorf("a search: %q, %v; want %q first", data, err, want)
	}
}

// TestGophernicusMany requests many items at once. None may be lost; each request is sent in one
// segment.
func TestGophernicusMany(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	var requests []*fetch.Request
	for i := range 100 {
		requests = append(requests, srv.request(t, fmt.Sprintf("/0/many/i%02d.txt", i)))
	}
	turn := make(chan struct{}, 32)
	var wg sync.WaitGroup
	for round := range 3 {
		for i, req := range requests {
			wg.Go(func() {
				turn <- struct{}{}
				defer func() { <-turn }()
				if data, _, err := dig(t, req); string(data) != fmt.Sprintf("item %d\r\n", i) || err != nil {
					t.Errorf("item %d in round %d: %q, %v", i, round, data, err)
				}
			})
		}
	}
	wg.Wait()
}

// TestGophernicusLarge copies 100 MB to a file.
func TestGophernicusLarge(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	file, err := os.Create(filepath.Join(srv.root, "bin.d/large.bin"))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	for n := 0; n < large; n += len(binary) {
		if _, err := io.MultiWriter(file, hash).Write(binary); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(file.Chmod(0o644), file.Close()); err != nil {
		t.Fatal(err)
	}
	res, err := new(gopher.Fetcher).Fetch(t.Context(), srv.request(t, "/9/bin.d/large.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "large.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if n, err := io.Copy(out, res.Body); n != int64(large) || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if hashFile(t, out.Name()) != string(hash.Sum(nil)) {
		t.Error("the copy differs from the server's file")
	}
}
