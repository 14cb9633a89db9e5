//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/internal/scaletest"
	"github.com/fetch1738/fetch1738/scale/nats"
)

// envScale is the environment variable with the size of the tests that have a large form: HOSTSxITEMS.
const envScale = "FETCH1738_SCALE"

// sizes returns the number of hosts and items: those of the environment, or else the small ones.
func sizes(t *testing.T, hosts, items int) (h, i int, large bool) {
	t.Helper()
	text := os.Getenv(envScale)
	if text == "" {
		return hosts, items, false
	}
	if n, err := fmt.Sscanf(text, "%dx%d", &hosts, &items); n != 2 || err != nil {
		t.Fatalf("%s=%s: want HOSTSxITEMS", envScale, text)
	}
	return hosts, items, true
}

// A cluster is a crawl by several processes, with the hosts that they ask.
type cluster struct {
	testing.TB
	ctx    context.Context
	hosts  *scaletest.Hosts
	server *natsServer
	config nodeConfig // of each node, without Args and Local
	args   []string   // of each node
	nodes  []*process
	losses output // of the nodes in this process, see lostText
	began  int    // nodes that were started
}

// The usual times of the tests. That of the leases is as short as a process that gets no processor for
// some time can bear.
const (
	testTTL   = 2 * time.Second
	testWait  = 50 * time.Millisecond
	testDelay = 5 * time.Millisecond
)

// newCluster starts the hosts and a server of NATS. Nodes have a number of slots.
func newCluster(tb testing.TB, o scaletest.Options, slots int) *cluster {
	tb.Helper()
	c := &cluster{TB: tb, hosts: scaletest.New(tb, o)}
	c.ctx = tb.Context()
	if t, ok := tb.(*testing.T); ok {
		if end, ok := t.Deadline(); ok { // to say what was going on
			var cancel context.CancelFunc
			c.ctx, cancel = context.WithDeadline(c.ctx, end.Add(-10*time.Second))
			tb.Cleanup(cancel)
		}
	}
	c.config = nodeConfig{
		TTL: testTTL, Reply: time.Minute, Backoff: 200 * time.Millisecond, MaxBackoff: time.Second, DeadAfter: time.Hour,
		lost: &c.losses,
	}
	c.args = []string{"--slots", strconv.Itoa(slots), "--wait", seconds3(testWait), "--verbose"}
	c.server = startServer(tb)
	return c
}

// seconds3 returns a time as an option has it.
func seconds3(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// A process is a process of a test.
type process struct {
	tb     testing.TB
	cmd    *exec.Cmd
	output output // of standard error
	ended  chan struct{}
	err    error
}

// An output is what a process has printed.
type output struct {
	mu   sync.Mutex
	text []byte
	more chan struct{} // closed by the next Write
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// printed waits until the process has printed a text.
func (p *process) printed(text string) {
	p.tb.Helper()
	for {
		p.output.mu.Lock()
		found := bytes.Contains(p.output.text, []byte(text))
		if p.output.more == nil {
			p.output.more = make(chan struct{})
		}
		more := p.output.more
		p.output.mu.Unlock()
		if found {
			return
		}
		select {
		case <-more:
		case <-p.ended:
			p.tb.Fatalf("process %d has ended without %q: %v", p.cmd.Process.Pid, text, p.err)
		case <-p.tb.Context().Done():
			p.tb.Fatal(p.tb.Context().Err())
		}
	}
}

// start starts a process: this test binary, unless cmd is another program. It ends with the test.
func start(tb testing.TB, cmd *exec.Cmd) *process {
	tb.Helper()
	p := &process{tb: tb, cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	tb.Cleanup(func() {
		p.kill()
		if tb.Failed() {
			text := p.output.String()
			tb.Logf("process %d, %v:\n%s", cmd.Process.Pid, p.err, text[max(0, len(text)-4000):])
		}
	})
	return p
}

// kill kills the process.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) signal(s syscall.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.tb.Fatalf("process %d: %v", p.cmd.Process.Pid, err)
	}
}

// wait waits until the process has ended with success.
func (p *process) wait(ctx context.Context) {
	p.tb.Helper()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.tb.Fatalf("process %d: %v", p.cmd.Process.Pid, ctx.Err())
	}
	if p.err != nil {
		p.tb.Errorf("process %d: %v", p.cmd.Process.Pid, p.err)
	}
}

// command returns the command of a process of this test binary.
func (c *nodeConfig) command(tb testing.TB) *exec.Cmd {
	tb.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envNode+"="+string(text))
	return cmd
}

// node starts a node, which ends when nothing is left to do. Its connections come from the address peer(i), where i is the number of nodes
// started before.
func (c *cluster) node(set ...func(*nodeConfig)) *process {
	c.Helper()
	config := c.config
	config.Local = peer(c.began)
	dir := filepath.Join(c.TempDir(), "node")
	config.Args = append([]string{"node", "--until-done", "--join", c.server.url, "--dir", dir}, c.args...)
	for _, f := range set {
		f(&config)
	}
	c.began++
	p := start(c.TB, config.command(c.TB))
	c.nodes = append(c.nodes, p)
	return p
}

// peer returns the address of a node.
func peer(node int) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 1, byte(1 + node)}) }

// verb runs a verb of the program, and returns its output.
func (c *cluster) verb(args ...string) string {
	c.Helper()
	var out, message bytes.Buffer
	args = append([]string{args[0], "--join", c.server.url}, args[1:]...)
	if code := run(c.ctx, args, streams{strings.NewReader(""), &out, &message}, c.config.hooks(nil)); code != 0 {
		c.Fatalf("%q: exit code %d: %s", args, code, &message)
	}
	return out.String()
}

// add adds the first menus of all hosts.
func (c *cluster) add(urls ...string) {
	c.Helper()
	file := filepath.Join(c.TempDir(), "urls")
	if err := os.WriteFile(file, []byte(strings.Join(urls, "\n")+"\n"), 0o600); err != nil {
		c.Fatal(err)
	}
	if got, want := c.verb("add", file), fmt.Sprintf("%d URLs added\n", len(urls)); got != want {
		c.Fatalf("%q, want %q", got, want)
	}
}

// export exports the crawl, and checks that it has all documents of all hosts.
func (c *cluster) export(store ...string) (dir string) {
	c.Helper()
	dir = filepath.Join(c.TempDir(), "export")
	c.verb(append([]string{"export", dir}, store...)...)
	c.hosts.CheckArchive(c.TB, dir)
	return dir
}

// status returns the output of status --json.
func (c *cluster) status() (s scale.Counts) {
	c.Helper()
	if err := json.Unmarshal([]byte(c.verb("status", "--json")), &s); err != nil {
		c.Fatal(err)
	}
	return s
}

// wait waits until nodes have ended.
func (c *cluster) wait(nodes ...*process) {
	c.Helper()
	for _, p := range nodes {
		p.wait(c.ctx)
	}
}

// lost counts the slices that nodes could not commit.
func (c *cluster) lost() int {
	n := strings.Count(c.losses.String(), lostText)
	for _, p := range c.nodes {
		n += strings.Count(p.output.String(), lostText)
	}
	return n
}

// A natsServer is a server of NATS in a process of its own.
type natsServer struct {
	tb      testing.TB
	dir     string
	program string // of Debian; "" means that of package scale/nats
	addr    string
	url     string
	process *process
}

// startServer starts the server of package scale/nats.
func startServer(tb testing.TB) *natsServer {
	tb.Helper()
	s := &natsServer{tb: tb, dir: tb.TempDir(), addr: "127.0.0.2:0"}
	s.start()
	s.addr = strings.TrimPrefix(s.url, "nats://")
	return s
}

// debianServer starts the server of Debian.
func debianServer(t testing.TB) *natsServer {
	t.Helper()
	const program = "/usr/sbin/nats-server"
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("%v: the server of Debian is not installed", err)
	}
	l, err := net.Listen("tcp", "127.0.0.2:0") // nobody else uses this address
	if err != nil {
		t.Fatal(err)
	}
	s := &natsServer{tb: t, dir: t.TempDir(), program: program, addr: l.Addr().String()}
	l.Close()
	s.url = "nats://" + s.addr
	s.start()
	return s
}

// start starts the process, and waits until it is ready.
func (s *natsServer) start() {
	s.tb.Helper()
	if s.program != "" {
		host, port, _ := net.SplitHostPort(s.addr)
		cmd := exec.Command(s.program, "-js", "-sd", s.dir, "-a", host, "-p", port)
		s.process = start(s.tb, cmd)
		s.process.printed("Server is ready")
		return
	}
	config := nodeConfig{Server: nats.ServerOptions{Dir: s.dir, Listen: s.addr}}
	cmd := config.command(s.tb)
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.tb.Fatal(err)
	}
	s.process = start(s.tb, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.tb.Fatalf("the server of NATS: %v", err)
	}
	s.url = strings.TrimSpace(line)
}

// restart ends the server by a signal and starts it again with its store.
func (s *natsServer) restart(by syscall.Signal) {
	s.tb.Helper()
	s.process.signal(by)
	<-s.process.ended
	s.start()
}

// Nodes that are killed in the middle of their work, and start anew, lose nothing and fetch little
// twice. No host sees that there are several of them.
func TestKilledNodes(t *testing.T) {
	t.Parallel()
	hosts, items, large := sizes(t, 60, 10)
	nodes, slots, kills, slice := 3, 8, 4, 4
	if large {
		slots, kills, slice = 10, 12, 5
	}
	c := newCluster(t, scaletest.Options{Hosts: hosts, Items: items, Links: 4, Delay: testDelay}, slots)
	c.args = append(c.args, "--slice-documents", strconv.Itoa(slice))
	c.add(c.hosts.URL(0, 0)) // all others are found
	running := make([]*process, nodes)
	for i := range running {
		running[i] = c.node()
	}
	var clock <-chan time.Time
	if large {
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		clock = ticker.C
	}
	began := time.Now()
	for kill := range kills {
		if large {
			<-clock
		} else if err := c.hosts.Requested(c.ctx, (kill+1)*c.hosts.Documents()/(kills+1)); err != nil {
			t.Fatal(err)
		}
		if len(c.hosts.Missing()) == 0 {
			t.Logf("kill %d comes after the work is done", kill)
		}
		victim := &running[kill%nodes]
		(*victim).kill()
		*victim = c.node()
	}
	c.wait(running...)
	requests, repeated := c.hosts.Count()
	t.Logf("%d documents, %d requests, %.2f %% of them again, %d kills, %d slices lost otherwise, %v",
		c.hosts.Documents(), requests, 100*float64(repeated)/float64(requests), kills, c.lost(), time.Since(began))
	allowed := (kills*slots + c.lost()) * slice // what was not committed
	if large {
		allowed = c.hosts.Documents() / 100
	}
	c.hosts.Check(t, testWait, allowed)
	c.export()
}

// stop stops the process, and returns when it has stopped.
func (p *process) stop() {
	p.tb.Helper()
	p.signal(syscall.SIGSTOP)
	p.stopped()
}

// stopped returns when the process has stopped.
func (p *process) stopped() {
	p.tb.Helper()
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || !status.Stopped() {
			p.tb.Fatalf("process %d has not stopped: %v, status %v", p.cmd.Process.Pid, err, status)
		}
		return
	}
}

// A node that is stopped for longer than its leases last, and continued, asks none of the hosts any
// more that others have taken, and what it stores is not in the archive.
func TestStoppedNode(t *testing.T) {
	t.Run("requests", testStoppedRequests)
	t.Run("files", testStoppedFiles)
}

func testStoppedRequests(t *testing.T) {
	t.Parallel()
	hosts, items, large := sizes(t, 20, 20)
	const slots = 6
	c := newCluster(t, scaletest.Options{Hosts: hosts, Items: items, Delay: testDelay}, slots)
	c.add(c.hosts.URLs()...)
	first := c.node()
	if err := c.hosts.Requested(c.ctx, 3*slots); err != nil {
		t.Fatal(err)
	}
	// When it is stopped, it is waiting for answers: it does not connect just then.
	taken, release, err := c.hosts.Hold(c.ctx, peer(0), slots)
	if err != nil {
		t.Fatal(err)
	}
	first.stop()
	release()
	others := []*process{c.node(), c.node()}
	if large {
		select {
		case <-time.After(time.Minute):
		case <-c.ctx.Done():
		}
	}
	for _, host := range taken {
		if err := c.hosts.Changed(c.ctx, host, 2); err != nil {
			t.Fatal(err)
		}
	}
	lost := c.lost()
	first.signal(syscall.SIGCONT)
	c.wait(append(others, first)...)
	c.hosts.Check(t, testWait, (slots+c.lost())*c.hosts.PerHost())
	if c.lost() == lost+slots { // nobody else has lost a lease
		for _, host := range taken {
			if got := c.hosts.Peers(host); len(got) != 2 {
				t.Errorf("%s was asked by %v in turn, and only the first has lost its lease", c.hosts.Name(host), got)
			}
		}
	}
	t.Logf("%d leases lost", c.lost())
	c.export()
}

func testStoppedFiles(t *testing.T) {
	t.Parallel()
	c := newCluster(t, scaletest.Options{Hosts: 3, Items: 10, Delay: testDelay}, 1)
	store := filepath.Join(t.TempDir(), "store")
	c.args = append(c.args, "--store", store)
	c.add(c.hosts.URLs()...)
	first := c.node(func(n *nodeConfig) { n.StopAtPut = true })
	first.stopped()
	taken := -1
	for i := range c.hosts.Options.Hosts {
		if len(c.hosts.Peers(i)) > 0 {
			taken = i
		}
	}
	second := c.node()
	if err := c.hosts.Changed(c.ctx, taken, 2); err != nil {
		t.Fatal(err)
	}
	first.signal(syscall.SIGCONT)
	c.wait(first, second)
	c.hosts.Check(t, testWait, (1+c.lost())*c.hosts.PerHost())
	dir := c.export("--store", store)
	stored, _ := filepath.Glob(filepath.Join(store, "warc", "*.warc.gz"))
	exported, _ := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if len(exported) != c.hosts.Options.Hosts || len(stored) <= len(exported) {
		t.Errorf("%q are stored, and %q exported; want a file of each host, and another one in the store", stored, exported)
	}
}

// The clock of a node may be wrong. Only the dates in its files are. The wait is longer than it takes
// to pass a host on.
func TestClock(t *testing.T) {
	t.Parallel()
	const wait, off, slots, slice = time.Second, time.Hour, 4, 2
	c := newCluster(t, scaletest.Options{Hosts: 10, Items: 3, Delay: testDelay}, slots)
	wrong := func(n *nodeConfig) { n.Clock = off }
	c.args = append(c.args, "--wait", seconds3(wait), "--slice-documents", strconv.Itoa(slice))
	c.add(c.hosts.URLs()...)
	nodes := []*process{c.node(), c.node(wrong), c.node(func(n *nodeConfig) { n.Clock = -off })}
	if err := c.hosts.Requested(c.ctx, c.hosts.Documents()/2); err != nil {
		t.Fatal(err)
	}
	nodes[1].kill() // others continue what it has done
	nodes[1] = c.node(wrong)
	c.wait(nodes...)
	c.hosts.Check(t, wait, (slots+c.lost())*slice)
	dir := c.export()
	early, late := 0, 0
	for _, date := range scaletest.Dates(t, dir) {
		switch d := time.Since(date); {
		case d < -off/2:
			late++
		case d > off/2:
			early++
		}
	}
	if early == 0 || late == 0 {
		t.Errorf("%d files are dated an hour ago, and %d in an hour; want some of both", early, late)
	}
}

// The server of NATS may end at any time, and starts again with its store. Nothing is lost.
func TestServerRestart(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { testServerRestart(t, startServer, syscall.SIGTERM, syscall.SIGKILL) })
	// A server of version 2.9 that is killed has messages again that were acknowledged.
	t.Run("debian", func(t *testing.T) { testServerRestart(t, debianServer, syscall.SIGTERM, syscall.SIGKILL) })
}

func testServerRestart(t *testing.T, server func(testing.TB) *natsServer, signals ...syscall.Signal) {
	t.Parallel()
	c := newCluster(t, scaletest.Options{Hosts: 30, Items: 10, Links: 3, Delay: testDelay}, 8)
	c.server = server(t)
	c.add(c.hosts.URL(0, 0))
	nodes := []*process{c.node(), c.node()}
	for i, by := range signals {
		if err := c.hosts.Requested(c.ctx, (i+1)*c.hosts.Documents()/(len(signals)+1)); err != nil {
			t.Fatal(err)
		}
		c.server.restart(by)
	}
	c.wait(nodes...)
	t.Logf("%d slices lost", c.lost())
	c.hosts.Check(t, testWait, c.lost()*c.hosts.PerHost())
	c.export()
}

// settled waits until nothing is left to do and no host will be asked again, and drains the nodes. It
// returns the status then.
func (c *cluster) settled() (s scale.Counts) {
	c.Helper()
	for {
		began := time.Now()
		if s = c.status(); s.Settled() {
			c.verb("drain")
			return s
		}
		select {
		case <-time.After(max(200*time.Millisecond, 20*time.Since(began))): // the nodes need the processors
		case <-c.ctx.Done():
			c.Fatalf("%v: %+v", c.ctx.Err(), s)
		}
	}
}

// Of many hosts only a few answer. Those are fetched, and the others are given up in the end.
func TestMostlyDead(t *testing.T) {
	t.Parallel()
	hosts, items, large := sizes(t, 300, 5)
	slots, backoff, maxBackoff, deadAfter := 50, 100*time.Millisecond, time.Second, time.Second
	if large { // the times of a real node, and 30 days are five minutes
		const scaled = 30 * 24 * time.Hour / (5 * time.Minute)
		slots, backoff, maxBackoff, deadAfter = 100, scale.DefaultBackoff/scaled, scale.DefaultMaxBackoff/scaled, scale.DefaultDeadAfter/scaled
	}
	dead := func(host int) bool { return host%20 != 0 }
	c := newCluster(t, scaletest.Options{
		Hosts: hosts, Items: items, Delay: testDelay,
		Refuses: func(host int) bool { return dead(host) && host%2 == 0 },
		Silent:  func(host int) bool { return dead(host) && host%2 == 1 },
	}, slots)
	c.config.Reply, c.config.Backoff, c.config.MaxBackoff, c.config.DeadAfter = time.Second, backoff, maxBackoff, deadAfter
	c.add(c.hosts.URLs()...)
	began := time.Now()
	forever := func(n *nodeConfig) {
		n.Args = slices.DeleteFunc(n.Args, func(a string) bool { return a == "--until-done" })
	}
	nodes := []*process{c.node(forever), c.node(forever), c.node(forever)}
	s := c.settled()
	took := time.Since(began)
	c.wait(nodes...)
	if alive := (hosts + 19) / 20; s.Units[scale.Done] != alive || s.Units[scale.Dead] != hosts-alive {
		t.Errorf("%v, want %d done and %d dead", s.Units, alive, hosts-alive)
	}
	c.hosts.Check(t, testWait, c.lost()*c.hosts.PerHost())
	c.export()
	const limit = 512 << 20
	for i, p := range nodes {
		_, text, _ := strings.Cut(p.output.String(), memoryText)
		switch peak, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); {
		case err != nil:
			t.Errorf("node %d: %v", i, err)
		case peak > limit:
			t.Errorf("node %d has used %d bytes of memory, want %d at most", i, peak, limit)
		default:
			t.Logf("node %d has used %d MiB of memory", i, peak>>20)
		}
	}
	total, _ := c.hosts.Connections()
	t.Logf("%d hosts, %d connections in %v", hosts, total, took)
}
