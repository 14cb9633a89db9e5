package crawl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// The environment of the process that TestKill kills: the folder, and the address of the server that
// all hosts have.
const (
	envDir    = "FETCH1738_TEST_CRAWL_DIR"
	envServer = "FETCH1738_TEST_CRAWL_SERVER"
)

// crawlUntilKilled is that process.
func crawlUntilKilled(dir, server string) error {
	files, err := warc.Create(dir, warc.Options{Software: "test"})
	if err != nil {
		return err
	}
	dialer := net.Dialer{ControlContext: fetch.DialControl}
	resolver := &fetch1738.Resolver{Recorder: (&archive.Recorder{Writer: files, NoRevisits: true}).Record, Env: fetch.Env{
		Allow: (&policy.Rules{AllowZones: []policy.Zone{policy.ZoneLoopback}}).Allow,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, server)
			if err == nil {
				_, err = fmt.Fprintf(c, "%s\n", address) // which host is meant
			}
			return c, err
		},
	}}
	c := crawl.Crawl{
		Dir: dir, Resolver: resolver, Wait: 5 * time.Millisecond, Records: files,
		Links: (&policy.Rules{PublicOnly: true, AllowZones: []policy.Zone{policy.ZoneLoopback}}).Allow,
		Start: []locator.Locator{&locator.Gopher{HostPort: locator.HostPort{Host: hostName(0)}}},
	}
	_, err = c.Run(context.Background())
	return errors.Join(err, files.Close(), resolver.Close())
}

// A crawl that is killed at any time loses no document, and keeps none of them twice.
func TestKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the process is killed by a signal")
	}
	const hosts, items, kills = 3, 200, 5
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan string)
	var servers sync.WaitGroup
	servers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			servers.Go(func() {
				defer c.Close()
				r := bufio.NewReader(c)
				address, _ := r.ReadString('\n')
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				var host int
				_, _ = fmt.Sscanf(address, "h%d.example", &host)
				selector := strings.TrimRight(line, "\r\n")
				requests <- selector
				text := generated(host, hosts, items, selector)
				if text == "" {
					text = "3no such item\t\terror.host\t1\r\n.\r\n"
				}
				_, _ = io.WriteString(c, text)
			})
		}
	})
	dir := t.TempDir()
	asked := 0
	for kill := range kills + 1 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envDir+"="+dir, envServer+"="+l.Addr().String())
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- cmd.Wait() }()
		until := asked + hosts*items/(kills+2)
	requesting:
		for {
			select {
			case selector := <-requests:
				if !strings.HasSuffix(selector, "robots.txt") && !strings.HasSuffix(selector, "caps.txt") {
					asked++
				}
				if kill < kills && asked == until {
					_ = cmd.Process.Kill()
				}
			case err := <-ended:
				if (err == nil) != (kill == kills) {
					t.Fatalf("process %d: %v", kill, err)
				}
				break requesting
			}
		}
	}
	l.Close()
	go func() {
		for range requests { // of a process that was killed
		}
	}()
	servers.Wait()
	close(requests)
	verify(t, dir)
	got := captures(t, dir)
	twice, documents := 0, 0
	for url, n := range got {
		if !strings.HasSuffix(url, ".txt") {
			documents++
			twice += n - 1
		}
	}
	if documents != hosts*items {
		t.Errorf("%d documents, want %d", documents, hosts*items)
	}
	if twice > 0 {
		t.Errorf("%d documents are there twice", twice)
	}
	t.Logf("%d requests for %d documents", asked, documents)
}

// dying are Records whose process dies after the sync number left.
type dying struct {
	*warc.Writer
	left   int
	synced func() // is called by each sync
}

var errDead = errors.New("the process is dead")

func (d *dying) Sync() (warc.Mark, error) {
	d.synced()
	m, err := d.Writer.Sync()
	if d.left--; d.left == 0 {
		return m, errDead
	}
	return m, err
}

// A process that dies after any sync of the records, and before the frontier is told, leaves
// nothing that is in the archive twice: documents, robots.txt and failures, also when the files are
// full. A document counts as fetched only after a sync of its record.
func TestDeadAfterSync(t *testing.T) {
	for name, maxSize := range map[string]int64{"one file": 0, "a file for each": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testDeadAfterSync(t, maxSize) })
		})
	}
}

func testDeadAfterSync(t *testing.T, maxSize int64) {
	const hosts, items = 3, 5
	w, dir := newWorld(t), t.TempDir()
	w.maxSize = maxSize
	for i := range hosts {
		w.gopher(hostName(i), func(selector string) string { return generated(i, hosts, items, selector) })
	}
	c := w.crawl(dir, "gopher://"+hostName(0)+"/")
	kept := make(map[string]int)
	c.Report = func(e crawl.Event) {
		if e.URL != "" && e.Err == nil && kept[e.URL] == 0 {
			t.Errorf("%s counts as fetched, but its record is not on the disk", e.URL)
		}
	}
	var err error
	for run := 1; run == 1 || errors.Is(err, errDead); run++ {
		w.records = func(files *warc.Writer) crawl.Records {
			return &dying{files, 1 + run/2, func() { kept = captures(t, dir) }}
		}
		if _, err = w.run(t.Context(), c); run > 100 {
			w.records = nil
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	verify(t, dir)
	got := make(map[string]int)
	eachRecord(t, dir, func(rec *warc.Record) {
		if rec.Type() != warc.Info {
			got[string(rec.Type())+" "+rec.Header.Get(warc.FieldTargetURI)+" "+rec.Header.Get(warc.FieldContentType)]++
		}
	})
	for record, n := range got {
		if n > 1 {
			t.Errorf("%d times %s", n, record)
		}
	}
	if n := len(captures(t, dir)); n != hosts*items {
		t.Errorf("%d documents, want %d", n, hosts*items)
	}
}

// unable are Records that cannot be rewound.
type unable struct{ *warc.Writer }

func (unable) Rewind(warc.Mark) error { return errDead }

// If the records of which the frontier was not told cannot be removed, nothing is asked.
func TestRewindFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, dir := newWorld(t), t.TempDir()
		w.gopher("a.example", files(map[string]string{"": menu(item('0', "x", "a.example")), "x": "text"}))
		c := w.crawl(dir, "gopher://a.example/")
		w.records = func(files *warc.Writer) crawl.Records { return &dying{files, 3, func() {}} }
		if _, err := w.run(t.Context(), c); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		asked := len(w.asked)
		w.records = func(files *warc.Writer) crawl.Records { return unable{files} }
		if _, err := w.run(t.Context(), c); !errors.Is(err, errDead) || len(w.asked) > asked {
			t.Errorf("%v, then %q were asked", err, w.asked[asked:])
		}
		w.records = nil
		if sum, err := w.run(t.Context(), c); err != nil || sum.Documents != 2 {
			t.Errorf("%+v, %v", sum, err)
		}
		for url, n := range captures(t, dir) {
			if n > 1 {
				t.Errorf("%d times %s", n, url)
			}
		}
	})
}

// What could not be recorded is not fetched: it ends the run, and the next one fetches it.
func TestNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, dir := newWorld(t), t.TempDir()
		text := map[string]string{"": menu(item('0', "x", "a.example"), item('0', "y", "a.example")), "x": "text", "y": "text"}
		w.gopher("a.example", files(text))
		c := w.crawl(dir, "gopher://a.example/")
		full, err := warc.Create(filepath.Join(dir, "full"), warc.Options{})
		if err == nil {
			err = os.Remove(filepath.Join(dir, "full"))
		}
		if err != nil {
			t.Fatal(err)
		}
		recorder := &archive.Recorder{Writer: full, NoRevisits: true}
		c.Resolver.Recorder = func(ctx context.Context, req *fetch.Request, next fetch1738.FetchFunc) (*fetch.Resource, error) {
			if req.Locator.(*locator.Gopher).Selector == "x" {
				return recorder.Record(ctx, req, next)
			}
			return next(ctx, req)
		}
		if sum, err := c.Run(t.Context()); !errors.Is(err, archive.ErrNotRecorded) || sum.Failed > 0 || sum.Complete {
			t.Errorf("%+v, %v", sum, err)
		}
		if sum, err := w.run(t.Context(), w.crawl(dir, "gopher://a.example/")); err != nil || sum.Documents != 3 {
			t.Errorf("%+v, %v", sum, err)
		}
		if got := captures(t, dir); got["gopher://a.example/0x"] != 1 {
			t.Errorf("%v", got)
		}
	})
}

// verify checks that the files of a folder have no defect.
func verify(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.warc.gz*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%q, %v", names, err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = warc.Verify(file, func(f *warc.Defect) { t.Errorf("%s: %+v", name, f) })
		if err := errors.Join(err, file.Close()); err != nil || strings.HasSuffix(name, ".open") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
