package scale_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/internal/scaletest"
	"github.com/fetch1738/fetch1738/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a network of gopher servers in memory, by their names.
type world struct {
	net   testserver.Network
	mu    sync.Mutex
	hosts map[string]*gopher
	most  map[netip.Addr]int // connections at once
	open  map[netip.Addr]int
}

type gopher struct {
	addr    netip.Addr
	answers map[string]string // by selector
	down    bool
	asked   []time.Time // connections, also refused ones
}

func newWorld() *world {
	return &world{hosts: make(map[string]*gopher), most: make(map[netip.Addr]int), open: make(map[netip.Addr]int)}
}

// host adds a host whose menu has lines of the form "TYPE SELECTOR HOST".
func (w *world) host(name, addr string, lines ...string) *gopher {
	menu := ""
	g := &gopher{addr: netip.MustParseAddr(addr), answers: make(map[string]string)}
	for _, line := range lines {
		f := strings.Fields(line)
		menu += fmt.Sprintf("%sitem\t%s\t%s\t70\r\n", f[0], f[1], f[2])
		if f[2] == name {
			g.answers[f[1]] = "text of " + f[1] + "\r\n.\r\n"
		}
	}
	g.answers[""], g.answers["/"] = menu+".\r\n", menu+".\r\n"
	w.hosts[name] = g
	return g
}

func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, _, _ := net.SplitHostPort(address)
	g := w.hosts[name]
	if g == nil {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	at := netip.AddrPortFrom(g.addr, 70)
	if err := fetch.DialControl(ctx, network, at.String(), nil); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	g.asked = append(g.asked, time.Now())
	if g.down {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	w.open[g.addr]++
	w.most[g.addr] = max(w.most[g.addr], w.open[g.addr])
	l, err := w.net.Listen(ctx, "tcp", "mem:0")
	if err != nil {
		return nil, err
	}
	go g.serve(l)
	c, err := w.net.Dial(ctx, network, l.Addr().String())
	if err != nil {
		return nil, err
	}
	return &memoryConn{Conn: c, world: w, at: at}, nil
}

// serve answers one request.
func (g *gopher) serve(l net.Listener) {
	defer l.Close()
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	line, _ := bufio.NewReader(c).ReadString('\n')
	text := g.answers[strings.TrimRight(line, "\r\n")]
	if text == "" {
		text = "3no such item\t\terror.host\t1\r\n.\r\n"
	}
	_, _ = io.WriteString(c, text)
}

type memoryConn struct {
	net.Conn
	world *world
	at    netip.AddrPort
	once  sync.Once
}

func (c *memoryConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.at) }

func (c *memoryConn) Close() error {
	c.once.Do(func() {
		c.world.mu.Lock()
		defer c.world.mu.Unlock()
		c.world.open[c.at.Addr()]--
	})
	return c.Conn.Close()
}

// node returns a node of the world.
func (w *world) node(t *testing.T, e scale.Engine) *scale.Node {
	t.Helper()
	store, err := scale.Folder(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return &scale.Node{
		Engine: e, Store: store, Dir: filepath.Join(t.TempDir(), "work"), Slots: 5,
		Resolver: func() *fetch1738.Resolver { return &fetch1738.Resolver{Env: fetch.Env{Dial: w.dial}} },
		Report: func(e scale.Event) {
			if e.Err != nil {
				t.Errorf("%s: %v", e.Unit, e.Err)
			}
		},
	}
}

// run runs a node until all is settled, which it looks for once in a while.
func run(t *testing.T, n *scale.Node, every time.Duration) scale.Counts {
	t.Helper()
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer n.Drain()
	for {
		time.Sleep(every)
		c, err := scale.Count(t.Context(), n.Engine)
		if err != nil {
			t.Fatal(err)
		}
		if c.Settled() {
			return c
		}
	}
}

func seed(t *testing.T, e scale.Engine, urls ...string) {
	t.Helper()
	if err := scale.Add(t.Context(), e, scale.Units{}, urls...); err != nil {
		t.Fatal(err)
	}
}

// export exports the archive and returns the number of records of documents by URL.
func export(t *testing.T, n *scale.Node) map[string]int {
	t.Helper()
	dir := t.TempDir()
	done, err := scale.Export(t.Context(), n.Engine, n.Store, dir)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	for url, files := range scaletest.Captures(t, dir) {
		if !scaletest.IsRules(url) {
			found[url] = len(files)
		}
	}
	again, err := scale.Export(t.Context(), n.Engine, n.Store, dir)
	if err != nil || again.Copied != 0 || again.Files != done.Files || again.Lines != done.Lines {
		t.Errorf("%+v, then %+v, %v", done, again, err)
	}
	if len(found) > 0 {
		a, err := archive.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	return found
}

// Hosts are found from host to host, each document is fetched once, and what the policy refuses never
// gets a unit.
func TestNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		w.host("a.example", "93.1.1.1", "0 /1 a.example", "1 / b.example", "1 / 127.0.0.1", "1 / 10.0.0.1", "8 telnet b.example")
		w.host("b.example", "93.1.1.2", "0 /2 b.example", "0 /1 a.example", "1 / private.example")
		w.host("private.example", "192.168.1.1")
		n := w.node(t, e)
		seed(t, e, "gopher://A.example./", "gopher://private.example/")
		c := run(t, n, time.Minute)
		got := export(t, n)
		for _, url := range []string{"gopher://a.example/", "gopher://a.example/0/1", "gopher://b.example/1/", "gopher://b.example/0/2"} {
			if got[url] != 1 {
				t.Errorf("%s was kept %d times", url, got[url])
			}
		}
		if len(got) != 4 || c.Documents != 4 || c.Units[scale.Done] != 3 || len(w.hosts["private.example"].asked) != 0 {
			t.Errorf("%v, %+v", got, c)
		}
		for _, addr := range w.most {
			if addr > 1 {
				t.Errorf("%d connections", addr)
			}
		}
	})
}

// A slice ends at its limit of documents, and the next ones continue. With SameHost links to other
// hosts are not followed.
func TestSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		lines := []string{"1 / b.example"}
		for i := range 20 {
			lines = append(lines, fmt.Sprintf("0 /%d a.example", i))
		}
		w.host("a.example", "93.1.1.1", lines...)
		w.host("b.example", "93.1.1.2")
		n := w.node(t, e)
		n.SliceDocuments, n.SameHost = 6, true
		seed(t, e, "gopher://a.example/")
		c := run(t, n, time.Minute)
		if got := export(t, n); len(got) != 21 || c.Files != 4 || c.Units[scale.Done] != 1 {
			t.Errorf("%d documents, %+v", len(got), c)
		}
		checkWaits(t, w.hosts["a.example"].asked, crawl.DefaultWait)
	})
}

func checkWaits(t *testing.T, asked []time.Time, wait time.Duration) {
	t.Helper()
	for i := range len(asked) - 1 {
		if got := asked[i+1].Sub(asked[i]); got < wait {
			t.Errorf("request %d came %v after the one before", i+1, got)
		}
	}
}

// A host that does not answer is asked again after ten minutes, then after twice that, up to a week,
// and is dead after thirty days. A new URL gives it another chance.
func TestDeadAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		g := w.host("a.example", "93.1.1.1", "0 /1 a.example")
		g.down = true
		n := w.node(t, e)
		seed(t, e, "gopher://a.example/")
		began := time.Now()
		c := run(t, n, time.Hour)
		// Only the last attempt is in the archive.
		if c.Units[scale.Dead] != 1 || c.Documents != 0 || c.Files != 1 || len(c.Failing) != 1 || !strings.Contains(c.Failing[0].Error, "refused") {
			t.Errorf("%+v", c)
		}
		if took := time.Since(began); took < 20*24*time.Hour || took > 31*24*time.Hour {
			t.Error("dead after", took)
		}
		for i, want := range []time.Duration{10, 20, 40, 80, 160} {
			if got := g.asked[i+1].Sub(g.asked[i]); got < want*time.Minute || got > want*time.Minute+5*time.Second {
				t.Errorf("attempt %d came after %v", i+1, got)
			}
		}
		if last := len(g.asked) - 1; g.asked[last].Sub(g.asked[last-1]) < scale.DefaultMaxBackoff {
			t.Error("the longest wait is", g.asked[last].Sub(g.asked[last-1]))
		}
		g.down = false
		seed(t, e, "gopher://a.example/0/1")
		e.units["a.example"].due = time.Now()
		again := w.node(t, e)
		again.Store = n.Store
		if c := run(t, again, time.Hour); c.Units[scale.Done] != 1 || c.Documents != 2 || len(c.Failing) != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// Names that have one address are asked in turn, with the wait between them.
func TestSharedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		var asked []*gopher
		for i := range 30 {
			name := fmt.Sprintf("h%d.example", i)
			asked = append(asked, w.host(name, "93.1.1.1", "0 /1 "+name))
			seed(t, e, "gopher://"+name+"/")
		}
		n := w.node(t, e)
		n.Slots = 30
		if c := run(t, n, time.Minute); c.Documents != 60 {
			t.Errorf("%+v", c)
		}
		if most := w.most[netip.MustParseAddr("93.1.1.1")]; most != 1 {
			t.Errorf("%d connections at once", most)
		}
		var times []time.Time
		for _, g := range asked {
			times = append(times, g.asked...)
		}
		sortTimes(times)
		checkWaits(t, times, crawl.DefaultWait)
	})
}

func sortTimes(times []time.Time) {
	for i := range times {
		for k := i; k > 0 && times[k].Before(times[k-1]); k-- {
			times[k], times[k-1] = times[k-1], times[k]
		}
	}
}

// A Crawl-delay that is longer than a slice should wait is obeyed over slices.
func TestCrawlDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		g := w.host("a.example", "93.1.1.1", "0 /1 a.example", "0 /2 a.example")
		g.answers["robots.txt"] = "User-agent: *\nCrawl-delay: 3600\n"
		n := w.node(t, e)
		seed(t, e, "gopher://a.example/")
		if c := run(t, n, time.Hour); c.Documents != 3 {
			t.Errorf("%+v", c)
		}
		checkWaits(t, g.asked[1:], time.Hour)
	})
}

// Drain commits what was fetched, and the next node continues. Interrupted by its context, a node
// commits nothing.
func TestDrain(t *testing.T) {
	for name, end := range map[string]func(*scale.Node, context.CancelFunc){
		"drained":     func(n *scale.Node, _ context.CancelFunc) { n.Drain(); n.Drain() },
		"interrupted": func(_ *scale.Node, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, e := newWorld(), newMemory()
				w.host("a.example", "93.1.1.1", "0 /1 a.example", "0 /2 a.example", "0 /3 a.example")
				n := w.node(t, e)
				seed(t, e, "gopher://a.example/")
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(13*time.Second, func() { end(n, cancel) })
				err := n.Run(ctx)
				cancel()
				c, countErr := scale.Count(t.Context(), e)
				if (err == nil) != (name == "drained") || countErr != nil || (c.Documents > 0) != (name == "drained") || c.Documents == 4 {
					t.Fatalf("%v, %v, %+v", err, countErr, c)
				}
				next := w.node(t, e)
				next.Store = n.Store
				if c := run(t, next, time.Minute); c.Documents != 4 {
					t.Errorf("%+v", c)
				}
				if got := export(t, next); len(got) != 4 {
					t.Error(got)
				}
			})
		})
	}
}

// A Store that fails costs a slice, which is repeated, and no document.
func TestBrokenStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		w.host("a.example", "93.1.1.1", "0 /1 a.example")
		n := w.node(t, e)
		store := &failingStore{Store: n.Store, puts: 5}
		n.Store = store
		errs := 0
		n.Report = func(e scale.Event) {
			if errors.Is(e.Err, errStore) {
				errs++
			}
		}
		seed(t, e, "gopher://a.example/")
		if c := run(t, n, time.Minute); c.Documents != 2 || c.Files != 1 || errs != 5 {
			t.Errorf("%+v, %d errors", c, errs)
		}
		if got := export(t, n); len(got) != 2 {
			t.Error(got)
		}
	})
}

var errStore = errors.New("the disk is full")

// failingStore fails some times.
type failingStore struct {
	scale.Store
	puts int
}

func (s *failingStore) Put(ctx context.Context, name string, r io.Reader) error {
	if s.puts--; s.puts >= 0 {
		return errStore
	}
	return s.Store.Put(ctx, name, r)
}

// An owner whose lease has ended stops at once and commits nothing.
func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, e := newWorld(), newMemory()
		g := w.host("a.example", "93.1.1.1", "0 /1 a.example", "0 /2 a.example", "0 /3 a.example")
		n := w.node(t, losing{e})
		var errs []error
		n.Report = func(e scale.Event) {
			if e.Err != nil {
				errs = append(errs, e.Err)
			}
		}
		seed(t, e, "gopher://a.example/")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := n.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		c, err := scale.Count(t.Context(), e)
		if err != nil || c.Documents != 0 || len(errs) != 1 || !errors.Is(errs[0], scale.ErrFenced) || len(g.asked) != 5 {
			t.Errorf("%+v, %v, %d requests, %v", c, errs, len(g.asked), err)
		}
	})
}

// losing is an Engine whose leases last for 9 seconds, and whose units are taken once.
type losing struct{ *memory }

func (l losing) Take(ctx context.Context) (*scale.Work, error) {
	w, err := l.memory.Take(ctx)
	if err == nil {
		lost := make(chan struct{})
		time.AfterFunc(9*time.Second, func() { close(lost) })
		w.Lost = lost
	}
	return w, err
}

func (l losing) Release(*scale.Work, time.Duration, time.Duration) {}

// A bad URL is named, and nothing is added.
func TestAdd(t *testing.T) {
	for url, why := range map[string]string{
		"telnet://h/":          "telnet",
		"ftp://user:secret@h/": "anonymous",
		"rubbish":              "rubbish",
		"gopher:///":           "host",
		"mailto:a@b.example":   "mailto",
	} {
		e := newMemory()
		err := scale.Add(t.Context(), e, scale.Units{}, "gopher://h/", url, "gopher://other/")
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "secret") || len(e.units) != 0 {
			t.Errorf("%s: %v", url, err)
		}
	}
}
