package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/nats"
)

// leak is a goroutine that nats.go 1.55.0 leaves if an object is stored before it has begun.
const leak = "github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"

func TestMain(m *testing.M) {
	if os.Getenv(envNode) != "" { // a process of a test
		os.Exit(testNode())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(leak))
}

// shortTTL is the TTL of the leases of tests.
const shortTTL = 2 * time.Second

// A console runs the program in this process.
type console struct {
	*testing.T
	hooks   hooks
	in      string
	printed log // all output
}

func newConsole(t *testing.T) *console {
	return &console{T: t, hooks: hooks{nats: func(o *nats.Options) { o.TTL = shortTTL }}}
}

// run runs the program, and returns what it has printed and its exit code.
func (c *console) run(ctx context.Context, args ...string) (out, err string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, streams{strings.NewReader(c.in), io.MultiWriter(&stdout, &c.printed), io.MultiWriter(&stderr, &c.printed)}, c.hooks)
	return stdout.String(), stderr.String(), code
}

// ok runs the program, which must succeed, and returns its standard output.
func (c *console) ok(args ...string) string {
	c.Helper()
	out, err, code := c.run(c.Context(), args...)
	if code != 0 {
		c.Fatalf("%q: code %d\n%s", args, code, err)
	}
	return out
}

// fails runs the program, which must fail with a code and one line that has a text in it.
func (c *console) fails(code int, text string, args ...string) {
	c.Helper()
	out, err, got := c.run(c.Context(), args...)
	if got != code || out != "" || !strings.HasPrefix(err, program+": (") || strings.Count(err, "\n") != 1 || !strings.Contains(err, text) {
		c.Errorf("%q: code %d, want %d\n%s%s\nwant one line with %q", args, got, code, out, err, text)
	}
}

// A running is a verb node that runs in this process.
type running struct {
	c    *console
	stop context.CancelCauseFunc
	out  log
	code chan int
}

// begin starts a verb node. The test must end it.
func (c *console) begin(args ...string) *running {
	c.Helper()
	r := &running{c: c, code: make(chan int, 1)}
	ctx, stop := context.WithCancelCause(c.Context())
	r.stop = stop
	c.Cleanup(func() { stop(nil) })
	h := c.hooks
	go func() { r.code <- run(ctx, args, streams{strings.NewReader(""), &r.out, &r.out}, h) }()
	return r
}

// until waits until a condition is met. The node must not end before.
func (r *running) until(met func() bool) {
	r.c.Helper()
	for !met() {
		select {
		case code := <-r.code:
			r.c.Fatalf("the node has ended with code %d:\n%s", code, &r.out)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// listening returns the URL of the server of the node, or "" until it has one.
func (r *running) listening() string {
	_, rest, _ := strings.Cut(r.out.String(), "listening at ")
	url, _, _ := strings.Cut(rest, "\n")
	return url
}

// ends waits until the node has ended with a code, and with a text in what it has printed.
func (r *running) ends(code int, text string) {
	r.c.Helper()
	if got := <-r.code; got != code || !strings.Contains(r.out.String(), text) {
		r.c.Errorf("code %d, want %d and %q\n%s", got, code, text, &r.out)
	}
}

// A log is a buffer that is written and read at the same time.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// server starts a NATS server that ends with the test, and returns its URL.
func server(t *testing.T, users ...string) string {
	t.Helper()
	s, err := nats.Start(nats.ServerOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Users: users})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.URL()
}

// status returns what the verb status prints as JSON.
func (c *console) status(args ...string) (r report) {
	c.Helper()
	if err := json.Unmarshal([]byte(c.ok(append([]string{"status", "--json"}, args...)...)), &r); err != nil {
		c.Fatal(err)
	}
	return r
}

func TestHelp(t *testing.T) {
	c := newConsole(t)
	texts := []string{c.ok("--help"), c.ok("help")}
	for _, v := range verbs() {
		if text := c.ok("help", v.name); text != c.ok(v.name, "--help") || !strings.Contains(texts[0], "  "+v.name+" ") {
			t.Errorf("help %s: %s", v.name, text)
		} else {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if len(line) > columns+1 || strings.TrimRight(line, " \n")+"\n" != line {
				t.Errorf("%q", line)
			}
		}
	}
	if got := c.ok("--version"); !strings.HasPrefix(got, program+" ") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}

func TestUsage(t *testing.T) {
	c := newConsole(t)
	join := []string{"--join", server(t)}
	with := func(args ...string) []string { return append(args, join...) }
	for _, test := range []struct {
		code int
		text string
		args []string
	}{
		{2, "a verb is required: node, add, status, drain or export", nil},
		{2, `unknown verb "ls"`, []string{"ls"}},
		{2, "did you mean --wait?", []string{"node", "--wiat", "3"}},
		{2, "--slots", []string{"node", "--slots", "0"}},
		{2, "--wait", []string{"node", "--wait", "soon"}},
		{2, "--slice-time", []string{"node", "--slice-time", "-1"}},
		{2, "--warc-size", []string{"node", "--warc-size", "much"}},
		{2, "expected 1.0 or 1.1", []string{"node", "--warc-version", "2"}},
		{2, "expected HOST=N", []string{"node", "--account", "news.example.org"}},
		{2, "10.1.0.0/16", []string{"node", "--allow-zone", "home"}},
		{2, "--join", []string{"status", "--join", "http://127.0.0.1/"}},
		{2, "--name", []string{"status", "--name", "two words"}},
		{2, "--listen 0.0.0.0:4222 requires --authorized FILE", []string{"node", "--listen", "0.0.0.0:4222"}},
		{2, "requires --authorized FILE", []string{"node", "--listen", ":4222"}},
		{2, "expected HOST:PORT", []string{"node", "--listen", "here"}},
		{2, "expected a loopback address", []string{"node", "--monitor", "0.0.0.0:8222"}},
		{2, "--authorized requires --nkey FILE", []string{"node", "--authorized", "keys"}},
		{2, "--listen is for the server of this node", with("node", "--listen", "127.0.0.1:0")},
		{2, "add requires a URL", with("add")},
		{2, "status has no arguments", with("status", "x")},
		{2, "--node NAME", with("drain", "node-1")},
		{2, "export requires one folder", with("export")},
		{2, "--store s3://: not supported", with("export", "--store", "s3://bucket", t.TempDir())},
		{2, "cannot be used together", with("status", "--dir", t.TempDir())},
		{3, `bad URL "gopher://bad host/"`, with("add", "gopher://bad host/")},
		{3, "a crawl is anonymous", with("add", "ftp://user:secret@127.0.0.1/")},
		{3, "a crawl does not fetch this URL (search)", with("add", "gopher://127.0.0.1/7/find")},
		{3, "mailto", with("add", "gopher://127.0.0.1/", "mailto://someone")},
		{26, `an argument without "://" is a file of URLs`, with("add", "no-such-file")},
		{26, "--nkey", with("status", "--nkey", "no-such-file")},
		{26, "--netrc-file", with("node", "--netrc-file", "no-such-file", "--dir", t.TempDir())},
		{26, "--dir", []string{"status", "--dir", "no-such-folder"}},
	} {
		c.fails(test.code, test.text, test.args...)
	}
	if _, err := os.Stat(defaultDir); err == nil {
		t.Error("a wrong command line has made a folder")
	}
	c.in = "# two URLs\n\ngopher://127.0.0.1/\ngopher://bad host/\n"
	c.fails(3, `-:4: bad URL "gopher://bad host/"`, with("add", "-")...)
	if _, err, _ := c.run(t.Context(), with("add", "ftp://user:secret@[bad/")...); strings.Contains(err, "secret") {
		t.Error(err)
	}
}

// A failure to write is the failure of the program.
func TestFullOutput(t *testing.T) {
	if code := run(t.Context(), []string{"--help"}, streams{nil, full{}, new(bytes.Buffer)}, hooks{}); code != exitWrite {
		t.Error(code)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestStatusTable(t *testing.T) {
	r := report{Crawl: "crawl", Counts: scale.Counts{
		Units:     map[scale.Status]int{scale.Done: 9, scale.Active: 0, scale.Waiting: 1, scale.Dead: 11},
		Documents: 120, Octets: 3 << 20, Failed: 2, Left: 7, Files: 4, Stored: 999,
	}}
	for range 11 {
		r.Failing = append(r.Failing, scale.Failing{Unit: "a.example", Status: scale.Dead, Failures: 9, Error: "timed\nout"})
	}
	r.Nodes = []scale.NodeInfo{{Name: "one-7", Slots: 100, Busy: 3, Documents: 50, Octets: 1000, Draining: true, Started: time.Unix(0, 0)}}
	want := `hosts      21: 9 done, 1 waiting, 11 dead
documents  120 fetched, 2 failed, 7 left
bytes      3.0 MiB; 4 WARC files with 999 B
nodes      1

NODE   HOSTS     DOCUMENTS  BYTES    STARTED (UTC)
one-7  3 of 100  50         1.0 KiB  1970-01-01 00:00:00  draining

NO ANSWER  STATUS  ATTEMPTS  ERROR
` + strings.Repeat("a.example  dead    9         timed�out\n", 10) + "and 1 more; --json shows them\n"
	if got := r.table(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// On a terminal, lines appear above the progress line, which is left there at the end.
func TestScreen(t *testing.T) {
	var out log
	s := &screen{out: &out, line: func() string { return "5 documents" }}
	s.print("one")
	s.print("two")
	s.show("", s.line)
	s.show("", nil)
	if got, want := out.String(), "one\n5 documents\r\x1b[Ktwo\n5 documents\r\x1b[K5 documents\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	out.text.Reset()
	s = newScreen(&out, s.line) // not a terminal
	s.print("one")
	s.close()
	if got := out.String(); got != "one\n" {
		t.Errorf("%q", got)
	}
}
