package crawl_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// A world is a network of named hosts, in memory.
type world struct {
	testing.TB
	net   testserver.Network
	mu    sync.Mutex
	hosts map[string]*site // by name
	asked []string         // of gopher servers, as "HOST SELECTOR"
	many  bool             // requests are not kept

	maxSize int64                            // of WARC files; 0 means the usual one
	records func(*warc.Writer) crawl.Records // of a crawl; nil means the Writer
	last    map[netip.Addr]time.Time
	least   time.Duration      // between two requests to an address
	open    map[netip.Addr]int // connections
	most    map[netip.Addr]int
}

// A site is a host of a world.
type site struct {
	addr  netip.Addr
	first []netip.Addr      // addresses that are tried before addr, and refuse
	ports map[uint16]string // port → address in the network; a missing port refuses
	deaf  bool              // connections to it are never established
}

func newWorld(tb testing.TB) *world {
	return &world{TB: tb, hosts: make(map[string]*site), open: make(map[netip.Addr]int), most: make(map[netip.Addr]int), last: make(map[netip.Addr]time.Time), least: time.Hour}
}

// site returns a host, which is created with a public address of its own.
func (w *world) site(name string) *site {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hosts[name] == nil {
		n := len(w.hosts)
		w.hosts[name] = &site{addr: netip.AddrFrom4([4]byte{93, 1, byte(n >> 8), byte(n)}), ports: make(map[uint16]string)}
	}
	return w.hosts[name]
}

// gopher starts a gopher server that answers selectors by a function. An answer "" is that of a
// server for what does not exist.
func (w *world) gopher(name string, answer func(selector string) string) {
	s := w.site(name)
	l, err := w.net.Listen(w.Context(), "tcp", "mem:0")
	if err != nil {
		w.Fatal(err)
	}
	s.ports[70] = l.Addr().String()
	w.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				line, _ := bufio.NewReader(c).ReadString('\n')
				if line == "" {
					return // nothing was asked
				}
				selector := strings.TrimRight(line, "\r\n")
				w.note(s.addr, name+" "+selector)
				text := answer(selector)
				if text == "" {
					text = "3'" + selector + "' does not exist\t\terror.host\t1\r\n.\r\n"
				}
				_, _ = io.WriteString(c, text)
			}()
		}
	}()
}

// note notes a request to a gopher server.
func (w *world) note(addr netip.Addr, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if before, ok := w.last[addr]; ok {
		w.least = min(w.least, now.Sub(before))
	}
	w.last[addr] = now
	if !w.many {
		w.asked = append(w.asked, what)
	}
}

// files returns the answers of a gopher server with some menus and documents.
func files(of map[string]string) func(string) string {
	return func(selector string) string { return of[selector] }
}

// item is a line of a menu.
func item(kind byte, selector, host string) string {
	return fmt.Sprintf("%citem\t%s\t%s\t70\r\n", kind, selector, host)
}

// menu is a menu.
func menu(lines ...string) string { return strings.Join(lines, "") + ".\r\n" }

// dial connects as a net.Dialer with DialControl does.
func (w *world) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, _ := net.SplitHostPort(address)
	w.mu.Lock()
	s := w.hosts[name]
	for _, other := range w.hosts {
		if s == nil && other.addr.String() == name {
			s = &site{addr: other.addr, ports: map[uint16]string{}} // a data connection of FTP
			if n, err := strconv.ParseUint(port, 10, 16); err == nil {
				s.ports[uint16(n)] = "mem:" + port
			}
		}
	}
	w.mu.Unlock()
	if s == nil {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(s.addr.String(), port))
	if err != nil {
		return nil, err
	}
	for _, addr := range s.first {
		_ = fetch.DialControl(ctx, network, netip.AddrPortFrom(addr, at.Port()).String(), nil)
	}
	if err := fetch.DialControl(ctx, network, at.String(), nil); err != nil {
		return nil, err
	}
	if s.deaf {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	to, ok := s.ports[at.Port()]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	c, err := w.net.Dial(ctx, network, to)
	if err != nil {
		return nil, err
	}
	w.count(s.addr, 1)
	return &conn{Conn: c, world: w, at: at}, nil
}

func (w *world) count(addr netip.Addr, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[addr] += n
	w.most[addr] = max(w.most[addr], w.open[addr])
}

// conn is a connection to a host of a world.
type conn struct {
	net.Conn
	world *world
	at    netip.AddrPort
	once  sync.Once
}

func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.at) }

func (c *conn) Close() error {
	c.once.Do(func() { c.world.count(c.at.Addr(), -1) })
	return c.Conn.Close()
}

// crawl returns a crawl of the world, into a folder.
func (w *world) crawl(dir string, urls ...string) *crawl.Crawl {
	c := &crawl.Crawl{Dir: dir, Resolver: &fetch1738.Resolver{Env: fetch.Env{Dial: w.dial}}}
	for _, url := range urls {
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
		if err != nil {
			w.Fatal(err)
		}
		c.Start = append(c.Start, ref.Locator)
	}
	return c
}

// run runs a crawl with a Recorder.
func (w *world) run(ctx context.Context, c *crawl.Crawl) (crawl.Summary, error) {
	w.Helper()
	files, err := warc.Create(c.Dir, warc.Options{Software: "test", MaxSize: w.maxSize})
	if err != nil {
		w.Fatal(err)
	}
	c.Records = files
	if w.records != nil {
		c.Records = w.records(files)
	}
	resolver := &fetch1738.Resolver{Env: c.Resolver.Env, Recorder: (&archive.Recorder{Writer: files, NoRevisits: true}).Record}
	defer resolver.Close()
	c.Resolver = resolver
	sum, err := c.Run(ctx)
	if err := files.Close(); err != nil {
		w.Error(err)
	}
	return sum, err
}

// eachCapture calls do with the URL of each record of a document in a folder.
func eachCapture(tb testing.TB, dir string, do func(url string)) {
	tb.Helper()
	eachRecord(tb, dir, func(rec *warc.Record) {
		switch rec.Type() {
		case warc.Resource, warc.Revisit, warc.Response:
			do(rec.Header.Get(warc.FieldTargetURI))
		}
	})
}

// fields returns the metadata of a folder: for each URL the lines.
func fields(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	found := make(map[string]string)
	eachRecord(tb, dir, func(rec *warc.Record) {
		if rec.Type() == warc.Metadata {
			text, err := io.ReadAll(rec.Block)
			if err != nil {
				tb.Error(err)
			}
			found[strings.TrimPrefix(rec.Header.Get(warc.FieldTargetURI), "metadata:")] += string(text)
		}
	})
	return found
}

// eachRecord calls do with each record in a folder.
func eachRecord(tb testing.TB, dir string, do func(*warc.Record)) {
	tb.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz*"))
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		defer file.Close()
		r := warc.NewReader(file)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
			do(rec)
		}
	}
}

// captures counts the records of documents in a folder, by URL.
func captures(tb testing.TB, dir string) map[string]int {
	tb.Helper()
	found := make(map[string]int)
	eachCapture(tb, dir, func(url string) { found[url]++ })
	return found
}

// urls returns what gopher servers were asked, sorted, without robots.txt and caps.txt.
func (w *world) urls() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, url := range w.asked {
		if !strings.HasSuffix(url, "robots.txt") && !strings.HasSuffix(url, "caps.txt") {
			list = append(list, url)
		}
	}
	slices.Sort(list)
	return list
}

// checkPolite checks that no two requests to an address were closer than wait, or at once.
func (w *world) checkPolite(wait time.Duration) {
	w.Helper()
	if w.least < wait {
		w.Errorf("a request %v after the one before", w.least)
	}
	for addr, n := range w.most {
		if n > 1 {
			w.Errorf("%v: %d connections at once", addr, n)
		}
	}
}
