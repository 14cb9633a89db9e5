// Package core is what the test servers have in common: connections with their faults, the
// transcript, and the files that are served. It knows no protocol.
package core

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/tree"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Defaults and limits of every server.
const (
	defaultMaxUpload = 256 << 20
	defaultMaxConns  = 4096
	defaultIdle      = 5 * time.Minute
	LingerTime       = time.Second // how long a closing connection waits for its peer
)

// Config has the settings that all servers share. The fields of testserver.Server document them.
type Config struct {
	Content     fs.FS
	Forbidden   []string
	MaxUpload   int64
	MaxConns    int
	OneClient   bool
	IdleTimeout time.Duration
	Network     Network
	Log         func(Line)
	Store       *os.Root
	Recorder    *traffic.Recorder
	TLS         *tls.Config
	ImplicitTLS bool
}

// Machine is the part that all servers have in common.
type Machine struct {
	Config
	Table *Table
	Tree  tree.Tree // Content and the changes of clients
	URL   string
	Addr  string
	Test  TB // nil in a program

	faults
	script
	listener net.Listener
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	ended    chan struct{}

	turn  chan struct{} // full while a client is served, if OneClient
	fresh func() error
	root  context.Context // ends with the server
	epoch atomic.Pointer[epoch]
	// public is nil until SetPublic is called.
	public atomic.Pointer[public]

	mu      sync.Mutex
	conns   map[io.Closer]bool    // nil once the server is closed; true means a client
	count   int                   // clients so far
	serving int                   // accepted connections that have not ended
	quiet   sync.Cond             // signals, under mu, that serving is 0 again
	trees   map[string]*tree.Tree // of users that have one of their own

	resets  sync.Mutex
	probing sync.Mutex
	probes  map[string]chan<- struct{} // connections of CatchUp, by local address; closed when accepted
}

// New returns a machine that has not started.
func New(t *Table) *Machine { return &Machine{Table: t} }

// Service is how a server listens.
type Service struct {
	Scheme string
	Port   int // the usual one, which a server in memory has
	// SecureScheme and SecurePort are those with ImplicitTLS.
	SecureScheme string
	SecurePort   int
	// Path is added to the URL.
	Path string
	// Addr is the address to listen on; "" means a free loopback port.
	Addr string
	// Serve is called for each connection, in a goroutine of its own. It need not close the
	// connection. If it is nil, ServePackets is called and runs until the socket is closed.
	Serve        func(*Client)
	ServePackets func(net.PacketConn)
	// Fresh, if not nil, sets what the server keeps besides the Tree to what it is at the start. It is
	// called when the server starts, and by Reset.
	Fresh func() error
	// Opened, if not nil, is called when the address is open, before the first connection is
	// accepted. With an error the server does not start.
	Opened func() error
	// Sort, if not nil, is for servers on whose address not only clients arrive. It is called with
	// each connection in the order of arrival, and returns what a goroutine of the connection does;
	// then the connection is closed. If that calls serve, the connection is a client, and is served.
	Sort func(nc net.Conn, serve func()) (run func())
}

// Start listens and serves until ctx ends or Close is called.
func (m *Machine) Start(ctx context.Context, how Service) error {
	m.MaxUpload = cmp.Or(max(0, m.MaxUpload), defaultMaxUpload)
	m.MaxConns = cmp.Or(max(0, m.MaxConns), defaultMaxConns)
	m.IdleTimeout = cmp.Or(max(0, m.IdleTimeout), defaultIdle)
	m.turn = make(chan struct{}, 1)
	m.Tree.Serve(m.Content, m.Forbidden)
	m.Tree.Store(m.Store)
	m.script.log = m.Log
	if m.fresh = how.Fresh; m.fresh != nil {
		if err := m.fresh(); err != nil {
			return err
		}
	}
	if m.ImplicitTLS {
		if m.TLS == nil || how.Serve == nil {
			return errors.New("testserver: ImplicitTLS is for servers of connections, and needs TLS, such as NewTLS()")
		}
		how.Scheme, how.Port = how.SecureScheme, how.SecurePort
	}
	if how.Serve == nil {
		var socket net.PacketConn
		return m.listen(ctx, how, func(addr string) (at net.Addr, c io.Closer, err error) {
			if socket, err = m.network().ListenPacket(ctx, "udp", addr); err != nil {
				return nil, nil, err
			}
			return socket.LocalAddr(), socket, nil
		}, func() { how.ServePackets(socket) })
	}
	return m.listen(ctx, how, func(addr string) (at net.Addr, c io.Closer, err error) {
		if m.listener, err = m.network().Listen(ctx, "tcp", addr); err != nil {
			return nil, nil, err
		}
		return m.listener.Addr(), m.listener, nil
	}, func() { m.accept(&how) })
}

// network returns the network to use.
func (m *Machine) network() Network {
	if m.Network == nil {
		return new(host)
	}
	return m.Network
}

// listen chooses the address, opens it, and starts serve.
func (m *Machine) listen(ctx context.Context, how Service, open func(addr string) (net.Addr, io.Closer, error), serve func()) error {
	var at net.Addr
	var listener io.Closer
	err := errors.New("no address yet")
	if m.Network != nil && how.Addr == "" {
		// The port may be taken, perhaps by a server of the same kind.
		at, listener, err = open(fmt.Sprintf("127.0.0.1:%d", how.Port))
	}
	if err != nil {
		at, listener, err = open(cmp.Or(how.Addr, "127.0.0.1:0"))
	}
	if err != nil {
		return fmt.Errorf("testserver: %w", err)
	}
	m.Addr = at.String()
	m.URL = how.Scheme + "://" + m.Addr + how.Path
	m.root, m.cancel = context.WithCancel(ctx)
	m.begin()
	m.conns = make(map[io.Closer]bool)
	m.ended = make(chan struct{})
	m.quiet.L = &m.mu
	m.Track(listener)
	if how.Opened != nil {
		if err := how.Opened(); err != nil {
			m.end()
			return fmt.Errorf("testserver: %w", err)
		}
	}
	if how.Serve != nil {
		m.Recorder.Started(m.URL, m.Addr)
	}
	m.wg.Go(serve)
	context.AfterFunc(m.root, m.end)
	return nil
}

// accept takes connections until the listener is closed.
func (m *Machine) accept(how *Service) {
	for failures := 0; failures < 100; {
		nc, err := m.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // perhaps out of descriptors: try again
			failures++
			_ = Sleep(m.Ctx(), 10*time.Millisecond)
			continue
		}
		failures = 0
		if m.isProbe(nc) {
			_ = nc.Close()
			continue
		}
		nc = m.Recorder.Accepted(nc, nil)
		if !m.admit(nc) {
			_ = nc.Close()
			continue
		}
		m.wg.Go(m.handle(nc, how))
	}
}

// handle returns what the goroutine of a connection does.
func (m *Machine) handle(nc net.Conn, how *Service) func() {
	var c *Client
	begin := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.count++
		c = newClient(m, nc, m.count)
	}
	serve := func() {
		if c == nil {
			begin()
		}
		if m.OneClient {
			select {
			case m.turn <- struct{}{}:
				defer func() { <-m.turn }()
			case <-m.Ctx().Done():
				return
			}
		}
		if c.open() && (!m.ImplicitTLS || c.Secure() == nil) {
			how.Serve(c)
		}
	}
	run := serve
	if how.Sort != nil {
		run = how.Sort(nc, serve)
	} else {
		begin() // here, so that the occurrences of CONNECT are in the order of arrival
	}
	return func() {
		defer m.Untrack(nc)
		run()
		m.leave()
		if c != nil {
			c.linger()
		}
	}
}

// admit reports whether there may be another connection.
func (m *Machine) admit(nc net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conns == nil || m.serving >= m.MaxConns || m.Ctx().Err() != nil {
		return false
	}
	m.serving++
	m.conns[nc] = true
	return true
}

// leave records that a connection is no longer served.
func (m *Machine) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.serving--; m.serving == 0 {
		m.quiet.Broadcast()
	}
}

// isProbe reports whether CatchUp opened the connection.
func (m *Machine) isProbe(nc net.Conn) bool {
	m.probing.Lock()
	defer m.probing.Unlock()
	key := nc.RemoteAddr().String()
	accepted, ok := m.probes[key]
	if ok {
		close(accepted)
		delete(m.probes, key)
	}
	return ok
}

// WaitIdle returns when every connection that was opened before the call has been served to its
// end, or with an error when ctx ends or the server is closed.
func (m *Machine) WaitIdle(ctx context.Context) error {
	if m.listener == nil {
		return nil
	}
	if err := m.CatchUp(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.quiet.Broadcast()
	})()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.serving > 0 && ctx.Err() == nil {
		m.quiet.Wait()
	}
	return ctx.Err()
}

// CatchUp returns when every connection that was opened before the call has been accepted, or with
// an error when ctx ends or the server is closed.
func (m *Machine) CatchUp(ctx context.Context) error {
	// Connections are accepted in the order in which they were opened.
	m.probing.Lock()
	probe, err := m.network().Dial(ctx, "tcp", m.Addr)
	if err != nil {
		m.probing.Unlock()
		return err
	}
	defer EndConn(probe, true) // an orderly end would keep a port for a minute
	accepted := make(chan struct{})
	if m.probes == nil {
		m.probes = make(map[string]chan<- struct{})
	}
	m.probes[probe.LocalAddr().String()] = accepted
	m.probing.Unlock()
	select {
	case <-accepted:
	case <-ctx.Done():
		return ctx.Err()
	case <-m.ended:
		return net.ErrClosed
	}
	return nil
}

// Track registers something to be closed with the server. It returns false if the server is closed
// already.
func (m *Machine) Track(c io.Closer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conns == nil {
		return false
	}
	m.conns[c] = false
	return true
}

// epoch is the time between two resets.
type epoch struct {
	ctx context.Context
	end context.CancelFunc
}

// Ctx returns a context that ends with the server, and at the next reset.
func (m *Machine) Ctx() context.Context { return m.epoch.Load().ctx }

// begin begins an epoch.
func (m *Machine) begin() {
	e := new(epoch)
	e.ctx, e.end = context.WithCancel(m.root)
	m.epoch.Store(e)
}

// Reset closes all connections and waits until they are no longer served; meanwhile others are
// closed at once. Then it disarms all faults, and deletes the transcript and what clients have
// changed. A new server on the same port would lose that to another program now and then.
func (m *Machine) Reset() error {
	m.resets.Lock()
	defer m.resets.Unlock()
	m.epoch.Load().end()
	m.mu.Lock()
	for c, client := range m.conns {
		if client {
			_ = c.Close()
		}
	}
	for m.serving > 0 {
		m.quiet.Wait()
	}
	trees := slices.Collect(maps.Values(m.trees))
	m.mu.Unlock()
	m.ResetFaults()
	m.ResetLines()
	err := m.Tree.Reset()
	for _, t := range trees {
		err = errors.Join(err, t.Reset())
	}
	if m.fresh != nil {
		err = errors.Join(err, m.fresh())
	}
	m.begin()
	return err
}

// Untrack closes what Track registered.
func (m *Machine) Untrack(c io.Closer) {
	m.mu.Lock()
	delete(m.conns, c)
	m.mu.Unlock()
	_ = c.Close()
}

// Go runs f in a goroutine, for whose end Close waits.
func (m *Machine) Go(f func()) { m.wg.Go(f) }

// Close ends the server. Its error is that of Pending.
func (m *Machine) Close() error {
	m.end()
	return m.Pending()
}

// end closes all connections and waits for the goroutines. A second call waits for the first one.
func (m *Machine) end() {
	m.mu.Lock()
	conns := m.conns
	m.conns = nil
	m.mu.Unlock()
	if conns == nil {
		<-m.ended
		return
	}
	m.cancel()
	for c := range conns {
		_ = c.Close()
	}
	m.wg.Wait()
	close(m.ended)
}

// Wait returns when the server has ended.
func (m *Machine) Wait() { <-m.ended }

// Dial connects to address as this server's clients do. It refuses an address that is not on this
// host.
func (m *Machine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := checkLoopback(address); err != nil && m.Network == nil {
		return nil, err
	}
	return m.network().Dial(ctx, network, address)
}

// Listen opens a listener on the network of the server.
func (m *Machine) Listen(address string) (net.Listener, error) {
	return m.network().Listen(m.Ctx(), "tcp", address)
}

// Connect connects to a client.
func (m *Machine) Connect(ctx context.Context, address string) (net.Conn, error) {
	return m.network().Dial(ctx, "tcp", address)
}

// Arm arms faults for the n-th occurrence of a stage from now on; 0 means every occurrence.
func (m *Machine) Arm(stage string, n int, f []Fault) error {
	return m.arm(m.Table, stage, n, f)
}

// Pending returns an error that lists the armed faults that have not acted, or nil.
func (m *Machine) Pending() error {
	var errs []error
	for _, message := range m.pending() {
		errs = append(errs, fmt.Errorf("testserver: %s: %s", m.URL, message))
	}
	return errors.Join(errs...)
}

// TreeOf returns the files of a user: Tree, or a tree of the user's own if there is content for it.
func (m *Machine) TreeOf(user string, content fs.FS) *tree.Tree {
	if content == nil {
		return &m.Tree
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.trees[user]
	if t == nil {
		if m.trees == nil {
			m.trees = make(map[string]*tree.Tree)
		}
		t = tree.New(content, m.Forbidden)
		m.trees[user] = t
	}
	return t
}

// FilesOf returns the files of a user that has a tree of its own, or nil.
func (m *Machine) FilesOf(user string) fs.FS {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.trees[user]; t != nil {
		return t.FS()
	}
	return nil
}

// UploadsOf returns the uploads of a user that has a tree of its own.
func (m *Machine) UploadsOf(user string) map[string][]byte {
	m.mu.Lock()
	t := m.trees[user]
	m.mu.Unlock()
	if t == nil {
		return nil
	}
	return t.Uploads()
}
