package interop

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
)

// killed are the servers of TestDeployKilled.
var killed = []string{"vsftpd", "proftpd", "pure-ftpd", "pyftpdlib"}

// TestDeployKilled kills the client or the server, and runs the command again: in 20 rounds, or in
// DEPLOY_ROUNDS. A round changes the folder, and kills when a number of commands, replies and
// pieces of data have passed. The random numbers depend on DEPLOY_SEED, which .ci/hunt draws.
//
// After a round, a file on the server is complete, the old or the new one. After the next run, the
// server has what the folder has, the owner's files, and no temporary file.
func TestDeployKilled(t *testing.T) {
	t.Parallel()
	rounds := cmp.Or(number(t, "DEPLOY_ROUNDS"), 20) / uint64(len(killed))
	seed := cmp.Or(number(t, "DEPLOY_SEED"), 1738)
	for i, name := range killed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKiller(t, name, rand.New(rand.NewPCG(seed, uint64(i))))
			for n := range rounds {
				if k.round(t); t.Failed() {
					t.Fatalf("round %d of DEPLOY_SEED=%d DEPLOY_ROUNDS=%d", n, seed, rounds*uint64(len(killed)))
				}
			}
			t.Logf("%d of %d rounds killed the client, %d the server", k.clients, rounds, k.servers)
		})
	}
}

func number(t *testing.T, variable string) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A killer kills clients of one server, and the server.
type killer struct {
	*uploader
	*rand.Rand
	kind    *ftpservers.Kind
	site    ftpservers.Server // to start
	process *mortal
	tap     *tap
	most    int    // the number of events of a complete run
	said    string // by the command that was killed, or whose server was
	first   func() // if not nil, it is called before something is killed

	clients, servers int // how many were killed
}

// newKiller starts a server, to which a folder has been brought.
func newKiller(t *testing.T, name string, random *rand.Rand) *killer {
	t.Helper()
	k := newKillerOf(t, name, random)
	for i := range 24 {
		k.change(t, fmt.Sprintf("%sfile %d", folders[i%len(folders)], i))
	}
	for _, folder := range folders { // none becomes empty: that would be a reason not to delete
		k.write(t, folder+"kept", "kept\n", 100)
	}
	k.run(t, 0)
	k.check(t, nil)
	k.most = k.tap.passed()
	return k
}

func newKillerOf(t *testing.T, name string, random *rand.Rand) *killer {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	makeDir(t, filepath.Join(root, "htdocs"), 0o755)
	ftpservers.Own(t, root)
	k := &killer{Rand: random, kind: ftpservers.Named(t, name), site: ftpservers.Server{Root: root, Addr: daemon.FreeAddr(t)}}
	k.start(t)
	k.tap = newTap(t, k.site.Addr)
	k.uploader = newUploader(t, "ftp://"+labUser+":"+labPassword+"@"+k.tap.Addr().String()+"/htdocs/", uploader{server: diskSite(filepath.Join(root, "htdocs"))})
	return k
}

// start starts the server. It is killed at the end, or before by k.process.
func (k *killer) start(t *testing.T) {
	t.Helper()
	k.process = &mortal{TB: t}
	t.Cleanup(k.process.kill)
	site := k.site
	k.kind.Start(k.process, &site)
}

// A mortal is a test whose cleanup functions may be called before its end: they kill the servers
// that it has started.
type mortal struct {
	testing.TB
	mu      sync.Mutex
	cleanup []func()
}

func (m *mortal) Cleanup(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cleanup = append(m.cleanup, f)
}

func (m *mortal) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range slices.Backward(m.cleanup) {
		f()
	}
	m.cleanup = nil
}

// folders are those of the tree that a killer changes.
var folders = []string{"", "sub/", "new/", "new/deep/", "other/deep/"}

// change gives a file new content: often of the size that it has, sometimes so large that it is
// sent in several pieces. Its time is in the same minute as others, or long ago.
func (k *killer) change(t *testing.T, name string) {
	t.Helper()
	size := k.IntN(3000)
	old, err := os.Stat(filepath.Join(k.dir, name))
	switch n := k.IntN(8); {
	case n == 0:
		size = 100_000 + k.IntN(200_000)
	case n < 4 && err == nil:
		size = int(old.Size())
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(k.Uint32())
	}
	k.write(t, name, string(data), k.IntN(2)*k.IntN(1000))
}

// vary changes the folder: it replaces some files, adds some, and removes some of those that were
// there before.
func (k *killer) vary(t *testing.T) {
	t.Helper()
	names := slices.Sorted(maps.Keys(filesBelow(t, k.dir)))
	k.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:4] {
		k.change(t, name)
	}
	for range 2 {
		k.change(t, fmt.Sprintf("%sadded %d", folders[k.IntN(len(folders))], k.IntN(1_000_000)))
	}
	for _, name := range names[4:7] {
		if !strings.HasSuffix(name, "kept") {
			k.remove(t, name)
		}
	}
}

// round changes the folder, starts the command and kills it or the server, and tests what is there.
// Then it runs the command again.
func (k *killer) round(t *testing.T) {
	t.Helper()
	before := k.server.files(t)
	old := filesBelow(t, k.dir)
	k.vary(t)
	ofServer, at := k.IntN(2) == 0, 1+k.IntN(k.most)
	k.killAt(t, at, ofServer)
	k.checkComplete(t, before, ofServer)
	switch k.IntN(3) {
	case 0: // the folder changes once more: what was begun is not continued
		for name := range old {
			if _, err := os.Lstat(filepath.Join(k.dir, name)); err == nil && k.IntN(6) == 0 {
				k.change(t, name)
			}
		}
	case 1: // a change is taken back
		for _, name := range slices.Sorted(maps.Keys(old)) {
			if now, err := os.ReadFile(filepath.Join(k.dir, name)); err == nil && string(now) != old[name] && k.IntN(2) == 0 {
				k.write(t, name, old[name], 0)
			}
		}
	}
	r := k.run(t, 0, "--delete")
	k.check(t, nil)
	if t.Failed() {
		t.Logf("killed at %d of %d, the server: %v:\n%s\nthen:\n%s\n%s", at, k.most, ofServer, k.said, r.out, r.said)
		return
	}
	k.run(t, 0, "--delete").sends(t, 0, 0)
}

// killAt runs the command, and kills it or the server when a number of events have passed. Then the
// server is started again.
func (k *killer) killAt(t *testing.T, at int, ofServer bool) {
	t.Helper()
	cmd := k.command(t, "--delete")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	started := make(chan struct{})
	reached := k.tap.arm(at, k.IntN(2) == 0, func() {
		if k.first != nil {
			k.first()
		}
		if ofServer {
			k.process.kill()
		} else {
			<-started
			_ = cmd.Process.Kill()
		}
	})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	again := func() {
		if ofServer {
			k.servers++
			k.start(t)
		} else {
			k.clients++
		}
	}
	select {
	case <-reached:
		again() // while the client may be running
		<-ended
		k.tap.disarm(t)
	case <-ended:
		if n := k.tap.disarm(t); isClosed(reached) {
			again()
		} else {
			k.most = n
		}
	}
	k.said = said.String()
	if code := cmd.ProcessState.ExitCode(); code == 0 && strings.Contains(said.String(), "missing on the server") {
		t.Errorf("the command says that files are missing, but exits with 0:\n%s", said.String())
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// partName matches the names of temporary files.
var partName = regexp.MustCompile(`(^|/)fetch1738-[0-9a-f]{24}\.part$`)

// checkComplete requires that what the server has is as it was before, or as it is in the folder.
// Temporary files may be there. A pure-ftpd that is killed while it replaces a file may have moved
// the old one away.
func (k *killer) checkComplete(t *testing.T, before map[string]string, ofServer bool) {
	t.Helper()
	now, here := k.server.files(t), filesBelow(t, k.dir)
	moved := false
	for name := range now {
		if ofServer && strings.HasPrefix(filepath.Base(name), ".pureftpd-rename.") {
			moved = true
			delete(now, name)
			if err := os.Remove(filepath.Join(k.site.Root, "htdocs", name)); err != nil {
				t.Error(err)
			}
		}
	}
	maps.Copy(here, k.owned)
	for name, data := range now {
		was, existed := before[name]
		is, exists := here[name]
		if !(existed && data == was || exists && data == is || !existed && !exists && partName.MatchString(name)) {
			t.Errorf("half a file is visible: %q has %d bytes; it had %d, and shall have %d", name, len(data), len(was), len(is))
		}
	}
	for name := range before {
		if _, there := now[name]; !there && here[name] != "" && !moved {
			t.Errorf("%q is missing, although the folder has it", name)
		}
	}
}

// A tap forwards FTP connections, those for data too, and counts what passes: each command, each
// line of a reply, each piece of data.
type tap struct {
	net.Listener
	to string

	wg      sync.WaitGroup
	mu      sync.Mutex
	conns   map[io.Closer]bool // and listeners; nil at the end
	events  int
	at      int // the number of the event at which act is called; 0 is never
	before  bool
	act     func()
	reached chan struct{}
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{Listener: l, to: to, conns: make(map[io.Closer]bool)}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.control(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		for c := range p.conns {
			c.Close()
		}
		p.conns = nil
		p.mu.Unlock()
		p.wg.Wait()
	})
	return p
}

// passed returns the number of events so far, and counts again from 0.
func (p *tap) passed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.events
	p.events = 0
	return n
}

// arm makes act be called at an event, before it is forwarded or after.
func (p *tap) arm(at int, before bool, act func()) (reached <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events, p.at, p.before, p.act, p.reached = 0, at, before, act, make(chan struct{})
	return p.reached
}

// disarm ends what arm has begun, and waits until the server has closed all connections, so that it
// does no more of what the killed client has sent. It returns the number of events.
func (p *tap) disarm(t *testing.T) int {
	t.Helper()
	p.mu.Lock()
	p.at = 0
	n := p.events
	p.mu.Unlock()
	over := daemon.TimeOver(t)
	for {
		p.mu.Lock()
		left := len(p.conns)
		p.mu.Unlock()
		if left == 0 {
			return n
		}
		select {
		case <-over:
			t.Fatalf("%d connections are not closed", left)
		case <-time.After(time.Millisecond):
		}
	}
}

// pass counts an event, forwards it, and acts if it is the one that was waited for. It reports
// whether the connection can continue.
func (p *tap) pass(forward func() error) bool {
	p.mu.Lock()
	p.events++
	act, before, reached := p.act, p.before, p.reached
	hit := p.events == p.at
	p.mu.Unlock()
	if !hit {
		return forward() == nil
	}
	defer close(reached)
	if !before {
		_ = forward()
	}
	act()
	return !before
}

// open registers what the end of the test closes.
func (p *tap) open(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

// shut closes a connection, once the other side has done so.
func (p *tap) shut(c net.Conn, half bool) {
	if half {
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	}
	p.closeConn(c)
}

// closeConn closes a connection that a kill must no longer close.
func (p *tap) closeConn(c io.Closer) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// control forwards a control connection.
func (p *tap) control(client net.Conn) {
	if !p.open(client) {
		return
	}
	defer p.shut(client, false)
	server, err := net.Dial("tcp", p.to)
	if err != nil || !p.open(server) {
		return
	}
	left := make(chan struct{})
	ports := &tapPorts{tap: p}
	p.wg.Go(func() {
		defer close(left)
		defer ports.close() // pure-ftpd waits there for the client, and does not see that it has gone
		for lines := bufio.NewReader(client); ; {
			line, err := lines.ReadString('\n')
			if line != "" && !p.pass(func() error { _, err := io.WriteString(server, line); return err }) || err != nil {
				break
			}
		}
		_ = server.(*net.TCPConn).CloseWrite()
	})
	for lines := bufio.NewReader(server); ; {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "229 ") {
			line = p.divert(line, ports)
		}
		if line != "" && !p.pass(func() error { _, err := io.WriteString(client, line); return err }) || err != nil {
			break
		}
	}
	client.Close()
	<-left
	p.shut(server, true)
}

// tapPorts are the listeners in place of the passive ports of a session.
type tapPorts struct {
	tap    *tap
	mu     sync.Mutex
	open   []net.Listener
	closed bool // the client has gone
}

// add adds a listener.
func (p *tapPorts) add(l net.Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open = append(p.open, l); p.closed {
		p.tap.closeConn(l)
	}
}

// close closes the listeners, also those that are added later.
func (p *tapPorts) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, l := range p.open {
		p.tap.closeConn(l)
	}
}

// port is where the reply to EPSV has the port.
var port = regexp.MustCompile(`\(\|\|\|([0-9]+)\|\)`)

// divert replaces the port in a reply to EPSV by one that is forwarded to it, and adds it to ports.
func (p *tap) divert(line string, ports *tapPorts) string {
	m := port.FindStringSubmatch(line)
	host, _, _ := net.SplitHostPort(p.to)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if m == nil || err != nil {
		return line
	}
	if !p.open(l) {
		return line
	}
	ports.add(l)
	p.wg.Go(func() {
		client, failed := l.Accept()
		p.closeConn(l)
		server, err := net.Dial("tcp", net.JoinHostPort(host, m[1]))
		if failed != nil && err == nil {
			server.Close() // otherwise the server would wait for a minute until it sees that the client has gone
		}
		if failed != nil || !p.open(client) {
			return
		}
		defer p.shut(client, false)
		if err != nil || !p.open(server) {
			return
		}
		down := make(chan struct{})
		p.wg.Go(func() {
			defer close(down)
			p.copy(client, server)
			_ = client.(*net.TCPConn).CloseWrite()
		})
		p.copy(server, client)
		_ = server.(*net.TCPConn).CloseWrite()
		<-down
		p.shut(server, true)
	})
	_, number, _ := net.SplitHostPort(l.Addr().String())
	return strings.Replace(line, m[0], "(|||"+number+"|)", 1)
}

// copy forwards data in pieces.
func (p *tap) copy(to, from net.Conn) {
	piece := make([]byte, 8<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 && !p.pass(func() error { _, err := to.Write(piece[:n]); return err }) || err != nil {
			return
		}
	}
}
