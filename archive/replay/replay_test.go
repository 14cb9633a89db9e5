package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// An origin is a network of servers with names.
type origin struct {
	servers  map[string]string // "host:port" to the address on the network of the server
	networks map[string]*testserver.Network
}

func (o *origin) add(at string, server *testserver.Server) {
	o.servers[at] = server.Addr
	host, _, _ := net.SplitHostPort(at)
	o.networks[host] = server.Network
}

// resolver returns a Resolver that connects to the servers.
func (o *origin) resolver(t testing.TB) *fetch1738.Resolver {
	r := &fetch1738.Resolver{Env: fetch.Env{Allow: permit, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		target, _ := fetch.ContextTarget(ctx)
		server, _ := locator.ServerOf(target.Locator)
		if target.Purpose == fetch.PurposeData {
			_, port, _ := net.SplitHostPort(address)
			address = net.JoinHostPort("127.0.0.1", port)
		} else {
			address = o.servers[address]
		}
		if o.networks[server.Host] == nil {
			return nil, fmt.Errorf("%s is not an origin", server.Host)
		}
		return o.networks[server.Host].Dial(ctx, network, address)
	}}}
	t.Cleanup(func() { r.Close() })
	return r
}

func permit(context.Context, fetch.Target) error { return nil }

// newOrigin returns servers of ftp, gopher and http with n objects.
func newOrigin(t testing.TB, n int) *origin {
	o := &origin{make(map[string]string), make(map[string]*testserver.Network)}
	f := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, tree(n/3) })
	o.add("ftp.example.org:21", &f.Server)
	facts := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, tree(20) })
	o.add("facts.example.org:2121", &facts.Server)
	g := gophertest.New(t, func(s *gophertest.Server) {
		s.InMemory, s.Content, s.Host, s.Port = true, tree(n/3), "gopher.example.org", 70
	})
	o.add("gopher.example.org:70", &g.Server)
	w := webtest.New(t, func(s *webtest.Server) { s.InMemory, s.Content = true, tree(n-2*(n/3)) })
	o.add("www.example.org:80", &w.Server)
	return o
}

// roots are where the walks of an origin begin.
var roots = []string{"ftp://ftp.example.org/", "ftp://facts.example.org:2121/", "gopher://gopher.example.org/", "http://www.example.org/"}

// tree returns n small files, of which some have contents that a protocol could change.
func tree(n int) fs.FS {
	files := make(fstest.MapFS, n)
	for i := range n {
		name := fmt.Sprintf("d%02d/e%02d/file %d.txt", i%7, i/7%20, i)
		text := fmt.Sprintf("object %d\r\n", i)
		switch i % 13 {
		case 1:
			text += ".\r\n..\r\n.x\r\n"
		case 2:
			text += "without an end"
		case 3:
			name, text = fmt.Sprintf("d%02d/%d.bin", i%7, i), "\x00\xff\r\n.\r\n"+strconv.Itoa(i)
		case 4:
			text = ""
		case 5:
			name = fmt.Sprintf("d%02d/%d Ünïcode%%#?.html", i%7, i)
		case 6:
			text += ".\r\n"
		}
		files[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Date(1994, 12, 1, 0, 0, i%86400, 0, time.UTC)}
	}
	return files
}

// recordAll records all that can be reached from the roots. It returns the payload digests by URL.
func recordAll(t testing.TB, r *fetch1738.Resolver, dir string, roots ...string) map[string]string {
	t.Helper()
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Recorder = (&archive.Recorder{Writer: w}).Record
	queue := slices.Clone(roots)
	seen := make(map[string]bool)
	for len(queue) > 0 {
		url := queue[0]
		queue = queue[1:]
		if seen[url] {
			continue
		}
		seen[url] = true
		links, err := fetchLinks(t.Context(), r, url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
		}
		queue = append(queue, links...)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := openArchive(t, dir)
	digests := make(map[string]string)
	for c, err := range a.Captures("") {
		if err != nil {
			t.Fatal(err)
		}
		if c.Truncated != "" {
			t.Errorf("%s: %s", c.URL, c.Truncated)
		}
		digests[c.URL] = c.Digest
	}
	return digests
}

func openArchive(t testing.TB, dir string) *archive.Archive {
	t.Helper()
	a, err := archive.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// openReplay returns a Replay of a folder, and a Resolver that fails the test if it connects.
func openReplay(t testing.TB, dir string) (*replay.Replay, *fetch1738.Resolver) {
	t.Helper()
	past, err := replay.New(openArchive(t, dir), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { past.Close() })
	r := past.Resolver()
	t.Cleanup(func() { r.Close() })
	r.Env.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		t.Errorf("a connection to %s %s", network, address)
		return nil, errors.New("no")
	}
	return past, r
}

var href = regexp.MustCompile(`href="([^"]*)"`)

// fetchLinks fetches a URL, and returns the links in it.
func fetchLinks(ctx context.Context, r *fetch1738.Resolver, url string) (links []string, err error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	if strings.Contains(url, "facts.") {
		req.Options = &ftp.Options{Facts: true}
	}
	res, err := r.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if res.Items != nil {
		for item, err := range res.Items {
			if err != nil {
				return nil, err
			}
			if item.Locator != nil {
				links = append(links, item.Locator.String())
			}
		}
		return links, nil
	}
	body, err := io.ReadAll(res.Body)
	if err == nil && strings.HasPrefix(url, "http") && strings.HasSuffix(url, "/") {
		for _, m := range href.FindAllStringSubmatch(string(body), -1) {
			links = append(links, url+strings.TrimPrefix(m[1], "./"))
		}
	}
	return links, err
}

// TestRoundTrip tests archive(serve(archive(tree))): what is recorded from a Replay has the payload
// digests of what was recorded from the servers.
func TestRoundTrip(t *testing.T) {
	n := 1500
	if text := os.Getenv("FETCH1738_REPLAY_OBJECTS"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	dir := t.TempDir()
	start := time.Now()
	want := recordAll(t, newOrigin(t, n).resolver(t), filepath.Join(dir, "first"), roots...)
	t.Logf("%d objects recorded in %v", len(want), time.Since(start))
	if len(want) < n {
		t.Errorf("%d objects of %d were recorded", len(want), n)
	}
	_, r := openReplay(t, filepath.Join(dir, "first"))
	start = time.Now()
	got := recordAll(t, r, filepath.Join(dir, "second"), roots...)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d objects recorded again in %v, with %d MiB from the system", len(got), time.Since(start), m.Sys>>20)
	different := 0
	for _, url := range slices.Sorted(maps.Keys(want)) {
		if got[url] != want[url] {
			if different++; different < 20 {
				t.Errorf("%s: %s, want %s", url, got[url], want[url])
			}
		}
	}
	if different > 0 || len(got) != len(want) {
		t.Errorf("%d of %d objects differ; there are %d", different, len(want), len(got))
	}
}
