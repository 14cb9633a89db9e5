package bench

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/dev/bench/relay"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// roundTrip is the round-trip time of the line in these benchmarks. They count round trips, which
// do not depend on the machine. All clients of a server run at the same time, because they only wait
// for the line.
//
//	go test -run '^$' -bench Distance -benchtime 3x ./dev/bench
const roundTrip = 50 * time.Millisecond

// serversAtOnce is the number of servers that are measured at the same time. With the fifteen
// clients of five servers, the machine adds a tenth of a round trip.
const serversAtOnce = 2

// far is a server at the other end of a line.
type far struct {
	name, url string
	near      string // the URL without the line
}

// client is a program that fetches.
type client struct {
	name string
	// fetch returns the command that fetches from a server into a folder.
	fetch func(url, dir string) []string
	// walk, if not nil, is called instead of running a program.
	walk func(b *testing.B, url string) error
	// code is the expected exit code.
	code int
}

// task is the work of the clients of a benchmark.
type task struct {
	servers []far
	per     float64 // the number of files or folders by which round trips are divided
	root    string  // the folder with the expected files; "" if none are expected
	warm    bool    // run once before the measurement, into the same folder
}

// race has clients do a task. Those whose names begin with "ours" are ours and come first. race
// reports the medians of round trips as client@server, and the ratios of ours to the others as
// ours/client@server.
func race(b *testing.B, e task, clients ...client) {
	b.Helper()
	trips := make(map[string][]float64)
	dirs := make(map[string]string)
	home := b.TempDir()
	want := map[string][sha256.Size]byte{}
	if e.root != "" {
		var err error
		want, err = sums(e.root)
		check(b, err)
	}
	run := func(name, url string, c client) (time.Duration, error) {
		start := time.Now()
		if c.walk != nil {
			err := c.walk(b, url)
			return time.Since(start), err
		}
		argv := c.fetch(url, dirs[name])
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = []string{"HOME=" + home}
		said, err := cmd.CombinedOutput()
		took := time.Since(start)
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.code {
			return 0, fmt.Errorf("%s: %w: %.300s", name, err, said)
		}
		got, err := sums(dirs[name])
		if err == nil && !maps.Equal(got, want) {
			err = fmt.Errorf("%s: %d files, want %d, or their contents differ", name, len(got), len(want))
		}
		return took, err
	}
	all := func(each func(name string, server far, c client) error) {
		for servers := range slices.Chunk(e.servers, serversAtOnce) {
			var running sync.WaitGroup
			failed := make(chan error, len(clients)*len(servers))
			for _, server := range servers {
				for _, c := range clients {
					running.Go(func() { failed <- each(c.name+"@"+server.name, server, c) })
				}
			}
			running.Wait()
			close(failed)
			for err := range failed {
				check(b, err)
			}
		}
	}
	fresh := func() {
		for _, server := range e.servers {
			for _, c := range clients {
				dirs[c.name+"@"+server.name] = b.TempDir()
			}
		}
	}
	fresh()
	if e.warm {
		all(func(name string, server far, c client) error {
			_, err := run(name, server.near, c)
			return errors.Join(err, move(dirs[name], server))
		})
	}
	var mu sync.Mutex
	for b.Loop() {
		if !e.warm {
			fresh()
		}
		all(func(name string, server far, c client) error {
			took, err := run(name, server.url, c)
			mu.Lock()
			defer mu.Unlock()
			trips[name] = append(trips[name], float64(took)/float64(roundTrip)/e.per)
			return err
		})
	}
	for _, server := range e.servers {
		for _, us := range clients {
			mine := median(trips[us.name+"@"+server.name])
			b.ReportMetric(mine, us.name+"@"+server.name)
			for _, them := range clients {
				if strings.HasPrefix(us.name, "ours") && !strings.HasPrefix(them.name, "ours") {
					b.ReportMetric(mine/median(trips[them.name+"@"+server.name]), us.name+"/"+them.name+"@"+server.name)
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// move changes a mirror of a near server into one of the distant server.
func move(dir string, server far) error {
	name := filepath.Join(dir, ".fetch1738/manifest.jsonl")
	manifest, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.WriteFile(name, bytes.ReplaceAll(manifest, []byte(server.near), []byte(server.url)), 0o644))
}

// sums returns the checksums of the files below a folder.
func sums(dir string) (map[string][sha256.Size]byte, error) {
	sums := make(map[string][sha256.Size]byte)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".fetch1738" { // the mirror's own files
				return fs.SkipDir
			}
			return nil
		}
		rel, _ := filepath.Rel(dir, name)
		sums[rel], err = sumOf(name)
		return err
	})
	return sums, err
}

// distant starts servers of what is below root: vsftpd, proftpd, pure-ftpd and, as "unknown",
// that of package testserver, whose greeting is not that of a measured program. By default proftpd sends 226 when the client has closed the data
// connection; "proftpd-0", with TimeoutLinger 0, does not wait.
func distant(b *testing.B, root string) []far {
	b.Helper()
	servers := []far{distance(b, "vsftpd", serveVsftpd(b, root), relay.Line{FTP: true, Linger: true})}
	for _, s := range []struct {
		name, program string
		settings      []string
	}{
		{"proftpd", "proftpd", nil},
		{"proftpd-0", "proftpd", []string{"TimeoutLinger 0"}},
		{"pure-ftpd", "pure-ftpd", nil},
	} {
		srv := ftpservers.Named(b, s.program).Start(b, &ftpservers.Server{Root: root, Settings: s.settings})
		servers = append(servers, distance(b, s.name, "ftp://"+srv.Addr, relay.Line{FTP: true}))
	}
	own, err := ftptest.Start(b.Context(), "", func(srv *ftptest.Server) { srv.Content = os.DirFS(root) })
	check(b, err)
	b.Cleanup(func() { own.Close() })
	return append(servers, distance(b, "unknown", own.URL, relay.Line{FTP: true}))
}

// distance puts a relay before a server.
func distance(b *testing.B, name, url string, line relay.Line) far {
	b.Helper()
	scheme, addr, _ := strings.Cut(url, "://")
	if line.Delay == 0 {
		line.Delay = roundTrip / 2
	}
	r, err := relay.Start(line, "127.0.0.1:0", addr)
	check(b, err)
	b.Cleanup(func() { r.Close() })
	return far{name, scheme + "://" + r.Addr(), url}
}

// few returns n, or less in a run that only checks correctness.
func few(n int) int {
	if testing.Short() {
		return max(n/10, 2)
	}
	return n
}

// files creates folders d0 … with files f0.bin … of 4 KiB each.
func files(b *testing.B, folders, each int) string {
	b.Helper()
	root := b.TempDir()
	for d := range folders {
		for f := range each {
			makeFile(b, filepath.Join(root, fmt.Sprint("d", d), fmt.Sprintf("f%d.bin", f)), 4<<10)
		}
	}
	return root
}

// inTurn returns clients that fetch those files one after another.
func inTurn(b *testing.B, folders, each int) []client {
	b.Helper()
	ours, curl, lftp := command(b), tool(b, "curl"), lftp(b)
	glob := func(url, dir string) []string {
		return []string{"-s", "--create-dirs", "-o", dir + "/d#1/f#2.bin", fmt.Sprintf("%s/d[0-%d]/f[0-%d].bin", url, folders-1, each-1)}
	}
	return []client{
		{name: "ours", fetch: func(url, dir string) []string { return append([]string{ours}, glob(url, dir)...) }},
		{name: "curl", fetch: func(url, dir string) []string { return append([]string{curl}, glob(url, dir)...) }},
		{name: "lftp", fetch: func(url, dir string) []string {
			script := "get"
			for d := range folders {
				_ = os.MkdirAll(fmt.Sprintf("%s/d%d", dir, d), 0o755)
				for f := range each {
					script += fmt.Sprintf(" d%d/f%d.bin -o %s/d%[1]d/f%[2]d.bin", d, f, dir)
				}
			}
			return lftp(url, script)
		}},
	}
}

// lftp returns a function that returns the command for an lftp script. lftp then pipelines
// commands.
func lftp(b *testing.B) func(url, script string) []string {
	b.Helper()
	program := tool(b, "lftp")
	return func(url, script string) []string {
		return []string{program, "-c", "set ftp:sync-mode off; open " + url + "; " + script}
	}
}

// BenchmarkDistanceFolder fetches 200 files of 4 KiB in one folder, on one connection, and reports
// round trips per file. The bars are 3.2, 0.78 of curl, on the test server 2.2, 0.6 of curl, and on
// proftpd-0 2.2.
func BenchmarkDistanceFolder(b *testing.B) {
	each := few(200)
	root := files(b, 1, each)
	race(b, task{servers: distant(b, root), per: float64(each), root: root}, inTurn(b, 1, each)...)
}

// BenchmarkDistanceFolders fetches 20 files in each of ten folders. The bar is 3.4.
func BenchmarkDistanceFolders(b *testing.B) {
	folders, each := few(10), few(20)
	root := files(b, folders, each)
	race(b, task{servers: distant(b, root), per: float64(folders * each), root: root}, inTurn(b, folders, each)...)
}

// BenchmarkDistanceParallel fetches 1,000 files on eight connections and reports round trips per
// file. The bars for -Z and mirror are 0.7 of curl and 0.82 of lftp, on the test server 0.6 of
// both, on the unknown server 0.9 of both.
func BenchmarkDistanceParallel(b *testing.B) {
	each := few(1000)
	root := files(b, 1, each)
	ours, curl, lftp := command(b), tool(b, "curl"), lftp(b)
	glob := func(program string) func(url, dir string) []string {
		return func(url, dir string) []string {
			return []string{program, "-sZ", "--parallel-max", "8", "--create-dirs", "-o", dir + "/d0/f#1.bin", fmt.Sprintf("%s/d0/f[0-%d].bin", url, each-1)}
		}
	}
	for _, server := range distant(b, root) {
		b.Run(server.name, func(b *testing.B) {
			race(b, task{servers: []far{server}, per: float64(each), root: root},
				client{name: "ours-Z", fetch: glob(ours)},
				client{name: "ours-mirror", fetch: func(url, dir string) []string {
					return []string{ours, "mirror", "-s", "--connections", "8", url + "/", dir}
				}},
				client{name: "curl", fetch: glob(curl)},
				client{name: "lftp", fetch: func(url, dir string) []string { return lftp(url, "mirror -P 8 . "+dir) }})
		})
	}
}

// BenchmarkDistanceUnchanged mirrors a tree of 2,000 files in 100 folders that has not changed, on
// one connection, and has the library walk it. It reports round trips per folder. The bar is 2.2.
func BenchmarkDistanceUnchanged(b *testing.B) {
	folders := few(100)
	root := files(b, folders, 20)
	ours, lftp := command(b), lftp(b)
	race(b, task{servers: distant(b, root), per: float64(folders), root: root, warm: true},
		client{name: "ours", fetch: func(url, dir string) []string {
			return []string{ours, "mirror", "-s", "--connections", "1", url + "/", dir}
		}},
		client{name: "ours-walk", walk: func(b *testing.B, url string) error {
			var r fetch1738.Resolver
			defer r.Close()
			if n, err := walk(b, &r, url+"/"); n != folders*20 {
				return errors.Join(fmt.Errorf("%d files in %s", n, url), err)
			}
			return nil
		}},
		client{name: "lftp", fetch: func(url, dir string) []string { return lftp(url, "mirror . "+dir) }})
}

// walk counts the files below a folder.
func walk(b *testing.B, r *fetch1738.Resolver, url string) (files int, err error) {
	res, err := r.Get(b.Context(), url)
	if err != nil {
		return 0, err
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			return files, err
		}
		if item.Kind != fetch.KindDirectory {
			files++
			continue
		}
		below, err := walk(b, r, item.Locator.String())
		files += below
		if err != nil {
			return files, err
		}
	}
	return files, nil
}

// BenchmarkDistanceFirst fetches one document and reports the round trips from the connection to
// the end. The bar is 8.5, and on the unknown server 10.5.
func BenchmarkDistanceFirst(b *testing.B) {
	root := b.TempDir()
	makeFile(b, filepath.Join(root, "a/b/c.txt"), 4<<10)
	ours, curl, lftp := command(b), tool(b, "curl"), lftp(b)
	out := func(program string) func(url, dir string) []string {
		return func(url, dir string) []string {
			return []string{program, "-s", "--create-dirs", "-o", dir + "/a/b/c.txt", url + "/a/b/c.txt"}
		}
	}
	race(b, task{servers: distant(b, root), per: 1, root: root},
		client{name: "ours", fetch: out(ours)},
		client{name: "curl", fetch: out(curl)},
		client{name: "lftp", fetch: func(url, dir string) []string {
			_ = os.MkdirAll(dir+"/a/b", 0o755)
			return lftp(url, "get a/b/c.txt -o "+dir+"/a/b/c.txt")
		}})
}

// BenchmarkDistanceMissing requests 50 files that do not exist and reports round trips for each.
// The bar is 2.6.
func BenchmarkDistanceMissing(b *testing.B) {
	n := few(50)
	root := files(b, 1, 1)
	ours, curl, lftp := command(b), tool(b, "curl"), lftp(b)
	glob := func(program string) func(url, dir string) []string {
		return func(url, dir string) []string {
			return []string{program, "-s", "-o", dir + "/none#1", fmt.Sprintf("%s/d0/none[1-%d]", url, n)}
		}
	}
	race(b, task{servers: distant(b, root), per: float64(n)},
		client{name: "ours", fetch: glob(ours), code: 78},
		client{name: "curl", fetch: glob(curl), code: 78},
		client{name: "lftp", code: 1, fetch: func(url, dir string) []string {
			script := "get -O " + dir
			for i := range n {
				script += fmt.Sprintf(" d0/none%d", i)
			}
			return lftp(url, script)
		}})
}

// BenchmarkDistanceAnswers fetches 100 items of gopher, and 100 documents by HTTP on one
// connection, and reports round trips for each. The bars are 2.0 and 1.0, plus what the first
// takes.
func BenchmarkDistanceAnswers(b *testing.B) {
	n := few(100)
	root := files(b, 1, n)
	gopher, err := gophertest.Start(b.Context(), "", func(s *gophertest.Server) { s.Content = os.DirFS(root) })
	check(b, err)
	defer gopher.Close()
	http, err := webtest.Start(b.Context(), "", func(s *webtest.Server) { s.Content = os.DirFS(root) })
	check(b, err)
	defer http.Close()
	ours, curl := command(b), tool(b, "curl")
	glob := func(program string) func(url, dir string) []string {
		return func(url, dir string) []string {
			if strings.HasPrefix(url, "gopher:") {
				url += "/9"
			}
			return []string{program, "-s", "--create-dirs", "-o", dir + "/d0/f#1.bin", fmt.Sprintf("%s/d0/f[0-%d].bin", url, n-1)}
		}
	}
	servers := []far{distance(b, "gopher", gopher.URL, relay.Line{}), distance(b, "http", http.URL, relay.Line{})}
	race(b, task{servers: servers, per: float64(n), root: root},
		client{name: "ours", fetch: glob(ours)}, client{name: "curl", fetch: glob(curl)})
}

// BenchmarkDistanceSegments fetches 1 GiB in four segments, by a line that carries 20 MB a second
// on each connection. ours/lftp is a ratio of times; the bar is 1.11, which is 0.9 of lftp's speed.
func BenchmarkDistanceSegments(b *testing.B) {
	ours, lftp := command(b), lftp(b)
	if exec.Command(ours, "--segments", "4", "--version").Run() != nil {
		b.Skip("there is no option --segments")
	}
	root := b.TempDir()
	makeFile(b, filepath.Join(root, "large"), large())
	server := distance(b, "vsftpd", serveVsftpd(b, root), relay.Line{FTP: true, Linger: true, Rate: 20_000_000})
	race(b, task{servers: []far{server}, per: 1, root: root},
		client{name: "ours", fetch: func(url, dir string) []string {
			return []string{ours, "-s", "--segments", "4", "-o", dir + "/large", url + "/large"}
		}},
		client{name: "lftp", fetch: func(url, dir string) []string { return lftp(url, "pget -n 4 large -o "+dir+"/large") }})
}
