package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// TB is what the New functions need of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Defaults of the fields of [Server], and limits of every server.
const (
	defaultMaxUpload = 256 << 20
	defaultMaxConns  = 4096
	defaultIdle      = 5 * time.Minute
	lingerTime       = time.Second // how long a closing connection waits for its peer
	settleTime       = 100 * time.Millisecond
	dataTimeout      = 10 * time.Second
)

// User is an account on a server.
type User struct {
	// Password is what PASS or Basic authentication must give. Where it is empty
	// an FTP server lets the user in without asking for one (230 to USER).
	Password string
	// Account, when not empty, is asked for by an FTP server with 332.
	Account string
}

// Server is what every server of this package has in common. Its fields are set
// by a configure function and are read-only once the server has started; its
// methods may be called concurrently at any time after that.
type Server struct {
	// Content is what is served; nil is an empty directory. A file without a
	// modification time has that of RFC 1738, the first of December 1994.
	Content fs.FS
	// Forbidden are names in Content, such as "private" or "a/secret.txt", that
	// are listed but refused, with all that is below them.
	Forbidden []string
	// MaxUpload bounds an uploaded file, in octets; 0 means 256 MiB.
	MaxUpload int64
	// MaxConns bounds the connections open at once, others are closed at once; 0 means 4096.
	MaxConns int
	// IdleTimeout ends connections whose client is silent; 0 means five minutes.
	IdleTimeout time.Duration
	// InMemory uses no sockets: clients come by [Server.Dial] only. The start sets
	// Network if it is nil.
	InMemory bool
	// Network, when not nil, is the memory network to listen on (InMemory is implied).
	Network *Network
	// Log, when not nil, is called with each line of the transcript as it is
	// recorded, one call at a time. It must not call the server.
	Log func(Line)

	// URL is where the server is, without a trailing slash: "ftp://127.0.0.1:2121".
	// Set by the start.
	URL string
	// Addr is host and port of URL. Set by the start.
	Addr string

	tb     TB // nil in a program
	tree   tree
	faults faults
	script script

	net      network
	listener net.Listener
	ctx      context.Context // ends with the server
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	ended    chan struct{}

	mu      sync.Mutex
	conns   map[io.Closer]struct{} // nil once closed
	count   int                    // connections accepted so far
	serving int                    // of them, those not yet at their end
	quiet   sync.Cond              // of mu: serving is 0 again

	probing sync.Mutex
	probes  map[string]chan<- struct{} // connections of WaitIdle, by local address; closed when accepted
}

// start listens and hands each connection to serve, which runs in a goroutine
// of its own and need not close it.
func (s *Server) start(ctx context.Context, scheme string, port int, addr string, serve func(*conn)) error {
	s.defaults()
	err := s.listen(port, addr, func(addr string) (err error) {
		s.listener, err = s.net.Listen(ctx, "tcp", addr)
		return err
	})
	if err != nil {
		return err
	}
	s.run(ctx, scheme, s.listener.Addr(), s.listener, func() { s.accept(serve) })
	return nil
}

// startPacket is start for a protocol of datagrams: serve runs until the socket
// is closed.
func (s *Server) startPacket(ctx context.Context, scheme string, port int, addr string, serve func(net.PacketConn)) error {
	s.defaults()
	var socket net.PacketConn
	err := s.listen(port, addr, func(addr string) (err error) {
		socket, err = s.net.ListenPacket(ctx, "udp", addr)
		return err
	})
	if err != nil {
		return err
	}
	s.run(ctx, scheme, socket.LocalAddr(), socket, func() { serve(socket) })
	return nil
}

// run lets the server live on what it listens on.
func (s *Server) run(ctx context.Context, scheme string, at net.Addr, listener io.Closer, serve func()) {
	s.Addr = at.String()
	s.URL = scheme + "://" + s.Addr
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.conns = make(map[io.Closer]struct{})
	s.ended = make(chan struct{})
	s.quiet.L = &s.mu
	s.track(listener)
	s.wg.Go(serve)
	context.AfterFunc(s.ctx, s.end)
}

func (s *Server) defaults() {
	if s.MaxUpload <= 0 {
		s.MaxUpload = defaultMaxUpload
	}
	if s.MaxConns <= 0 {
		s.MaxConns = defaultMaxConns
	}
	if s.IdleTimeout <= 0 {
		s.IdleTimeout = defaultIdle
	}
	s.tree.base, s.tree.forbidden = s.Content, s.Forbidden
	s.script.log = s.Log
}

// listen chooses the network and the address to open.
func (s *Server) listen(port int, addr string, open func(addr string) error) error {
	if s.Network != nil {
		s.InMemory = true
	} else if s.InMemory {
		s.Network = new(Network)
	}
	s.net = host{}
	if s.InMemory {
		s.net = s.Network
		if addr == "" {
			if open(fmt.Sprintf("127.0.0.1:%d", port)) == nil {
				return nil
			}
			// taken, perhaps by a server of the same kind
		}
	}
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	if err := open(addr); err != nil {
		return fmt.Errorf("testserver: %w", err)
	}
	return nil
}

// accept takes connections until the listener is closed.
func (s *Server) accept(serve func(*conn)) {
	for failures := 0; failures < 100; {
		nc, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, perhaps; worth another try
			failures++
			_ = sleep(s.ctx, 10*time.Millisecond)
			continue
		}
		failures = 0
		if s.isProbe(nc) {
			_ = nc.Close()
			continue
		}
		c, ok := s.admit(nc)
		if !ok {
			_ = nc.Close()
			continue
		}
		s.wg.Go(func() {
			defer s.untrack(nc)
			if c.open() {
				serve(c)
			}
			s.leave()
			c.linger()
		})
	}
}

// admit counts a connection and looks up what is armed against it.
func (s *Server) admit(nc net.Conn) (*conn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if s.conns == nil || s.serving >= s.MaxConns {
		return nil, false
	}
	s.serving++
	s.conns[nc] = struct{}{}
	return newConn(s, nc, s.count, s.faults.at("CONNECT")), true
}

// leave counts a connection off that is served no more.
func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving--; s.serving == 0 {
		s.quiet.Broadcast()
	}
}

// isProbe reports whether WaitIdle has made a connection.
func (s *Server) isProbe(nc net.Conn) bool {
	s.probing.Lock()
	defer s.probing.Unlock()
	key := nc.RemoteAddr().String()
	accepted, ok := s.probes[key]
	if ok {
		close(accepted)
		delete(s.probes, key)
	}
	return ok
}

// WaitIdle returns when every connection that was made before the call has been
// served to its end, or with an error when ctx ends or the server is closed. What
// a client sent last, without waiting for an answer, is in the transcript then.
// For a server of datagrams it returns at once.
func (s *Server) WaitIdle(ctx context.Context) error {
	if s.listener == nil {
		return nil
	}
	// Connections are accepted in the order in which they were made.
	s.probing.Lock()
	probe, err := s.net.Dial(ctx, "tcp", s.Addr)
	if err != nil {
		s.probing.Unlock()
		return err
	}
	defer probe.Close()
	accepted := make(chan struct{})
	if s.probes == nil {
		s.probes = make(map[string]chan<- struct{})
	}
	s.probes[probe.LocalAddr().String()] = accepted
	s.probing.Unlock()
	select {
	case <-accepted:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
		return net.ErrClosed
	}
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.quiet.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.serving > 0 && ctx.Err() == nil {
		s.quiet.Wait()
	}
	return ctx.Err()
}

// track remembers something to be closed with the server; false means that the
// server is closed already.
func (s *Server) track(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// untrack closes what track remembered.
func (s *Server) untrack(c io.Closer) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.Close()
}

// endWith closes the server at the end of a test, which fails if faults were
// armed for something that never happened.
func (s *Server) endWith(tb TB) {
	s.tb = tb
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("%v", err)
		}
	})
}

// Close ends the server: it closes the listener and all connections and waits
// for the goroutines. It may be called more than once. Its error is that of
// PendingFaults; the server is closed all the same.
func (s *Server) Close() error {
	s.end()
	return s.PendingFaults()
}

func (s *Server) end() {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	if conns == nil {
		<-s.ended
		return
	}
	s.cancel()
	for c := range conns {
		_ = c.Close()
	}
	s.wg.Wait()
	close(s.ended)
}

// Wait returns when the server has ended.
func (s *Server) Wait() { <-s.ended }

// shown is the host and port that a server tells of itself: those it was given,
// else those it listens on.
func (s *Server) shown(host string, port int) (string, int) {
	own, service, _ := net.SplitHostPort(s.Addr)
	if host == "" {
		host = own
	}
	if port == 0 {
		port, _ = strconv.Atoi(service)
	}
	return host, port
}

// Dial connects to address as this server's clients do, over loopback or in
// memory; it refuses to leave the machine. In memory it reaches all of the
// server's [Network].
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := checkLoopback(address); err != nil && !s.InMemory {
		return nil, err
	}
	return s.net.Dial(ctx, network, address)
}

// On arms faults for a stage (see the package comment; letter case of the first
// word does not matter) and its n-th occurrence from now on, counted from 1 over
// all connections; 0 means every one. Faults armed by several calls for the same
// occurrence add up.
//
// A fault that never comes about is a mistake in the test, such as a misspelt
// command: see PendingFaults. One that the server does not have at that stage,
// such as NoDot for FTP, fails the test at once; outside of a test On panics.
func (s *Server) On(stage string, n int, fault ...Fault) {
	if lacking, found := s.faults.known.lacks(stage, fault); found {
		message := fmt.Sprintf("testserver: On(%q, %d): the %s server has no fault %v at this stage", stage, n, s.faults.server, lacking)
		if s.tb == nil {
			panic(message)
		}
		s.tb.Helper()
		s.tb.Fatalf("%s", message)
	}
	s.faults.add(stage, n, fault)
}

// ResetFaults disarms everything, also what has not come about.
func (s *Server) ResetFaults() { s.faults.reset() }

// PendingFaults returns an error that names the armed faults whose occurrence
// has not come, or nil. A test whose server was made by a New function fails
// with it when it ends; a program learns it from Close.
func (s *Server) PendingFaults() error {
	var errs []error
	for _, r := range s.faults.unseen() {
		errs = append(errs, fmt.Errorf("testserver: %s never came to %v", s.URL, r))
	}
	return errors.Join(errs...)
}

// Transcript is what went over the control connections so far, passwords
// included. A line is recorded before it is sent, so what a client has seen is there.
func (s *Server) Transcript() Transcript { return s.script.lines() }

// ResetTranscript forgets the lines recorded so far.
func (s *Server) ResetTranscript() { s.script.reset() }

// Put stores a file beside Content, or over it. The name may have any octets
// but NUL; directories on the way are made. It is not among Uploads.
func (s *Server) Put(name string, data []byte) error { return s.tree.put(clean(name), data) }

// Uploads are the files that clients stored and that are still there, by name
// without a leading slash.
func (s *Server) Uploads() map[string][]byte { return s.tree.uploads() }

// sleep waits unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// allowed is the login check that FTP and HTTP share.
func allowed(users map[string]User, name, password string) bool {
	u, ok := users[name]
	return ok && u.Password == password
}

// hidden tells whether list has word, in any letter case.
func hidden(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
