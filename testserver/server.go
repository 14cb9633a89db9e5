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

// TB is the part of *testing.T, *testing.B and *testing.F that the New functions use.
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
	// Password is required by PASS or Basic authentication. If it is empty, an FTP server does not
	// request one (230 to USER).
	Password string
	// Account, if not empty, is requested by an FTP server with 332.
	Account string
}

// Server is the part that all servers of this package have in common. A configure function sets its
// fields; they are read-only once the server has started. Its methods may be called concurrently at
// any time after that.
type Server struct {
	// Content is what the server serves. If nil, it is an empty directory. A file without a
	// modification time has that of RFC 1738, the first of December 1994.
	Content fs.FS
	// Forbidden lists names in Content, such as "private" or "a/secret.txt". The server lists them
	// but refuses access to them and to all that is below them.
	Forbidden []string
	// MaxUpload is the maximum size of an uploaded file, in bytes; 0 means 256 MiB.
	MaxUpload int64
	// MaxConns is the maximum number of open connections; 0 means 4096. Further ones are closed at
	// once.
	MaxConns int
	// IdleTimeout is how long a client may be silent before the server closes its connection; 0
	// means five minutes.
	IdleTimeout time.Duration
	// InMemory means that the server uses no sockets: clients connect by [Server.Dial] only. If
	// Network is nil, starting the server sets it.
	InMemory bool
	// Network, if not nil, is the memory network to listen on (InMemory is implied).
	Network *Network
	// Log, if not nil, is called with each line of the transcript as it is recorded, one call at a
	// time. It must not call methods of the server.
	Log func(Line)

	// URL is the URL of the server without a trailing slash: "ftp://127.0.0.1:2121". It is set when
	// the server starts.
	URL string
	// Addr is the host and port of URL. It is set when the server starts.
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
	conns   map[io.Closer]struct{} // nil once the server is closed
	count   int                    // connections accepted so far
	serving int                    // accepted connections that are still served
	quiet   sync.Cond              // signals, under mu, that serving is 0 again

	probing sync.Mutex
	probes  map[string]chan<- struct{} // connections of WaitIdle, by local address; closed when accepted
}

// start listens and calls serve for each connection, in a goroutine of its own. serve need not
// close the connection.
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

// startPacket is start for a protocol of datagrams: serve runs until the socket is closed.
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

// run starts serve in a goroutine, and ends the server with ctx.
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

// listen chooses the network and the address and calls open with them.
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
			// The port is taken, perhaps by a server of the same kind.
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
		if err != nil { // perhaps out of descriptors: try again
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

// admit counts a connection and looks up the faults armed for it.
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

// leave records that a connection is no longer served.
func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving--; s.serving == 0 {
		s.quiet.Broadcast()
	}
}

// isProbe reports whether WaitIdle opened the connection.
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

// WaitIdle returns when every connection that was opened before the call has been served to its
// end. It returns an error when ctx ends or the server is closed. The transcript then has what a
// client sent last without waiting for an answer. For a server of datagrams WaitIdle returns at
// once.
func (s *Server) WaitIdle(ctx context.Context) error {
	if s.listener == nil {
		return nil
	}
	// Connections are accepted in the order in which they were opened.
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

// track registers something to be closed with the server. It returns false if the server is closed
// already.
func (s *Server) track(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// untrack closes what track registered.
func (s *Server) untrack(c io.Closer) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.Close()
}

// endWith closes the server at the end of a test. The test fails if it armed faults that were never
// used.
func (s *Server) endWith(tb TB) {
	s.tb = tb
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("%v", err)
		}
	})
}

// Close ends the server: it closes the listener and all connections and waits for the goroutines.
// It may be called more than once. Its error is that of PendingFaults; the server is closed in any
// case.
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

// shown returns the host and port that a server shows to clients: the given ones, or those it
// listens on.
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

// Dial connects to address, over loopback or in memory, as this server's clients do. It refuses an
// address that is not on this host. In memory it reaches all servers of the [Network].
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := checkLoopback(address); err != nil && !s.InMemory {
		return nil, err
	}
	return s.net.Dial(ctx, network, address)
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all
// connections; 0 means every occurrence. The package comment lists the stages; the letter case of a
// stage's first word does not matter. Faults armed by several calls for the same occurrence add up.
//
// A fault that is never used is a mistake in the test, such as a misspelt command: see
// PendingFaults. A fault that the server does not have at that stage, such as NoDot for FTP, fails
// the test at once; outside of a test On panics.
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

// ResetFaults disarms all faults, including those not used yet.
func (s *Server) ResetFaults() { s.faults.reset() }

// PendingFaults returns an error that lists the armed faults whose occurrence has not come, or nil.
// A test whose server was started by a New function fails with that error when it ends. A program
// receives it from Close.
func (s *Server) PendingFaults() error {
	var errs []error
	for _, r := range s.faults.unseen() {
		errs = append(errs, fmt.Errorf("testserver: %s: fault never used: %v", s.URL, r))
	}
	return errors.Join(errs...)
}

// Transcript returns what went over the control connections so far, passwords included. A line is
// recorded before it is sent, so everything that a client has received is there.
func (s *Server) Transcript() Transcript { return s.script.lines() }

// ResetTranscript deletes the lines recorded so far.
func (s *Server) ResetTranscript() { s.script.reset() }

// Put stores a file in addition to Content, or in place of a file of Content. The name may have any
// bytes except NUL; missing directories are created. The file is not among Uploads.
func (s *Server) Put(name string, data []byte) error { return s.tree.put(clean(name), data) }

// Uploads returns the files that clients stored and did not delete, by name without a leading
// slash.
func (s *Server) Uploads() map[string][]byte { return s.tree.uploads() }

// sleep waits for d, or until ctx ends.
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

// hidden reports whether list contains word, in any letter case.
func hidden(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
