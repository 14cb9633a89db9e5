package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

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
	Serve        func(*core.Client)
	ServePackets func(net.PacketConn)
	// Fresh, if not nil, sets what the server keeps besides its files to what it is at the start. It is
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

// listen listens and serves until ctx ends or the server is closed.
func listen(ctx context.Context, s *testserver.Server, m *core.Machine, how Service) error {
	setDefaults(s)
	m.Tree.Serve(s.Content, s.Forbidden)
	m.Tree.Store(s.Store)
	m.Log.Each = s.Log
	m.Net.Memory = s.Network
	m.Datagrams = how.Serve == nil
	if m.Fresh = how.Fresh; m.Fresh != nil {
		if err := m.Fresh(); err != nil {
			return err
		}
	}
	if s.ImplicitTLS {
		if s.TLS == nil || m.Datagrams {
			return errors.New("testserver: ImplicitTLS is for servers of connections, and needs TLS, such as NewTLS()")
		}
		how.Scheme, how.Port = how.SecureScheme, how.SecurePort
	}
	if m.Datagrams {
		socket, err := open(ctx, s, how, "udp", m.Net.ListenPacket)
		if err != nil {
			return err
		}
		return run(ctx, s, m, how, socket.LocalAddr(), socket, func() { how.ServePackets(socket) })
	}
	l, err := open(ctx, s, how, "tcp", m.Net.Listen)
	if err != nil {
		return err
	}
	a := &acceptor{srv: s, m: m, how: how, turn: make(chan struct{}, 1)}
	return run(ctx, s, m, how, l.Addr(), l, func() { a.accept(l) })
}

// setDefaults sets the settings whose zero value means a default.
func setDefaults(s *testserver.Server) {
	s.MaxUpload = cmp.Or(max(0, s.MaxUpload), 256<<20)
	s.MaxConns = cmp.Or(max(0, s.MaxConns), 4096)
	s.IdleTimeout = cmp.Or(max(0, s.IdleTimeout), 5*time.Minute)
	if s.InMemory && s.Network == nil {
		s.Network = new(testserver.Network)
	}
	s.InMemory = s.Network != nil
}

// open chooses the address, and opens it.
func open[L any](ctx context.Context, s *testserver.Server, how Service, network string, listen func(ctx context.Context, network, address string) (L, error)) (L, error) {
	if s.InMemory && how.Addr == "" {
		// The port may be taken, perhaps by a server of the same kind.
		if l, err := listen(ctx, network, fmt.Sprintf("127.0.0.1:%d", how.Port)); err == nil {
			return l, nil
		}
	}
	l, err := listen(ctx, network, cmp.Or(how.Addr, "127.0.0.1:0"))
	if err != nil {
		err = fmt.Errorf("testserver: %w", err)
	}
	return l, err
}

// run starts serve, which uses listener. Its address is at.
func run(ctx context.Context, s *testserver.Server, m *core.Machine, how Service, at net.Addr, listener io.Closer, serve func()) error {
	s.Addr = at.String()
	s.URL = how.Scheme + "://" + s.Addr + how.Path
	m.Own = s.Addr
	m.Begin(ctx)
	m.Track(listener)
	if how.Opened != nil {
		if err := how.Opened(); err != nil {
			m.End()
			return fmt.Errorf("testserver: %w", err)
		}
	}
	if !m.Datagrams {
		s.Recorder.Started(s.URL, s.Addr)
	}
	m.Serve(serve)
	return nil
}

// acceptor accepts the connections of a server.
type acceptor struct {
	srv  *testserver.Server
	m    *core.Machine
	how  Service
	turn chan struct{} // full while a client is served, if OneClient

	mu      sync.Mutex
	clients int // so far
}

// accept takes connections until the listener is closed.
func (a *acceptor) accept(l net.Listener) {
	for failures := 0; failures < 100; {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // perhaps out of descriptors: try again
			failures++
			_ = core.Sleep(a.m.Ctx(), 10*time.Millisecond)
			continue
		}
		failures = 0
		if a.m.Arrived(nc) {
			_ = nc.Close()
			continue
		}
		nc = a.srv.Recorder.Accepted(nc, nil)
		if !a.m.Admit(nc, a.srv.MaxConns) {
			_ = nc.Close()
			continue
		}
		a.m.Go(a.handle(nc))
	}
}

// handle returns what the goroutine of a connection does.
func (a *acceptor) handle(nc net.Conn) func() {
	var c *core.Client
	release := sync.OnceFunc(a.m.Release)
	begin := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.clients++
		c = core.NewClient(a.m, nc, a.clients, a.srv.IdleTimeout, a.srv.TLS, release)
	}
	serve := func() {
		if c == nil {
			begin()
		}
		if a.srv.OneClient {
			select {
			case a.turn <- struct{}{}:
				defer func() { <-a.turn }()
			case <-a.m.Ctx().Done():
				return
			}
		}
		if c.Open() && (!a.srv.ImplicitTLS || c.Secure() == nil) {
			a.how.Serve(c)
		}
	}
	run := serve
	if a.how.Sort != nil {
		run = a.how.Sort(nc, serve)
	} else {
		begin() // here, so that the occurrences of CONNECT are in the order of arrival
	}
	return func() {
		defer a.m.Untrack(nc)
		run()
		release()
		a.m.Leave()
		if c != nil {
			c.Linger()
		}
	}
}
