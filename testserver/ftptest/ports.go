package ftptest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Passive ports: where data connections arrive, and what clients are told about that.

// checkHost checks an address for the reply to PASV.
func checkHost(host string) error {
	if ip, err := netip.ParseAddr(host); host != "" && (err != nil || !ip.Is4()) {
		return fmt.Errorf("ftptest: %q is not an IPv4 address, which the reply to PASV requires", host)
	}
	return nil
}

// passiveHost returns the address for the reply to PASV, in place of the real one. A name that was
// made public cannot be told, except for localhost.
func (s *Server) passiveHost(host string) string {
	switch told := s.m.PublicHost(""); {
	case told == "localhost":
		return "127.0.0.1"
	case told != "" && checkHost(told) == nil:
		return told
	}
	return cmp.Or(s.PassiveHost, host)
}

// Ports returns the ports on which the server listens as long as it runs: the control port, then
// those of DataPorts. They are the ports to be mapped.
func (s *Server) Ports() []uint16 {
	ports := []uint16{s.m.Port()}
	if s.pool != nil {
		ports = append(ports, s.pool.ports...)
	}
	return ports
}

// maxDataPorts is the maximum of DataPorts.
const maxDataPorts = 1000

// preparePorts checks the settings of ports and adds to how what they require.
func (s *Server) preparePorts(how *build.Service) error {
	first, last := s.PassivePorts[0], s.PassivePorts[1]
	switch {
	case s.DataPorts < 0, s.DataPorts > maxDataPorts:
		return fmt.Errorf("ftptest: DataPorts is %d; the limits are 0 and %d", s.DataPorts, maxDataPorts)
	case s.OnePort && (s.DataPorts > 0 || first > 0 || last > 0):
		return errors.New("ftptest: with OnePort there are no DataPorts and no PassivePorts")
	case s.Passive == PassiveRefused && (s.OnePort || s.DataPorts > 0):
		return errors.New("ftptest: with OnePort and DataPorts passive ports cannot be closed")
	case s.OnePort:
		s.one = &onePort{srv: s}
		how.Sort = s.one.sort
	case s.DataPorts > 0:
		how.Opened = s.openPool
	}
	return checkHost(s.PassiveHost)
}

// dataListener is where the data connection of one transfer arrives. It is opened before the
// passive reply.
type dataListener interface {
	port() uint16
	// accept waits for the data connection, at most for dataTimeout.
	accept(ctx context.Context) (net.Conn, error)
	// close gives the port up, or ends its use after accept. Its error means that the accepted
	// connection may be the wrong one. Only the first call does something.
	close() error
}

// listenIn listens on the first of PassivePorts that is free, or on any of them.
func (s *Server) listenIn(host string, anyOf bool) (net.Listener, error) {
	first, last := int(s.PassivePorts[0]), int(max(s.PassivePorts[0], s.PassivePorts[1]))
	number, skipped := last-first+1, 0
	if anyOf {
		skipped = rand.IntN(number)
	}
	for i := range number {
		l, err := s.listen(host, uint16(first+(skipped+i)%number))
		if err == nil || errors.Is(err, net.ErrClosed) {
			return l, err
		}
	}
	return nil, errors.New("no port of PassivePorts is free")
}

// listen listens until the listener is closed by Untrack, or the server ends.
func (s *Server) listen(host string, port uint16) (net.Listener, error) {
	l, err := s.m.Net.Listen(s.m.Ctx(), "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	if !s.m.Track(l) {
		_ = l.Close()
		return nil, net.ErrClosed
	}
	return l, nil
}

// listening is a dataListener that has a port to itself, at least for the time being.
type listening struct {
	net.Listener
	peer    netip.Addr // where the data connection comes from
	release func(arrived bool)
	once    sync.Once
}

func (e *listening) port() uint16 { return portOf(e.Listener) }

func portOf(l net.Listener) uint16 { return l.Addr().(*net.TCPAddr).AddrPort().Port() }

func (e *listening) accept(ctx context.Context) (net.Conn, error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		setDeadline(e.Listener, time.Unix(1, 0))
		close(ended)
	})
	nc, err := acceptFrom(e.Listener, e.peer, dataTimeout)
	if !stop() {
		<-ended // the deadline must not be that of the next session
	}
	if err == nil {
		e.once.Do(func() { e.release(true) })
	}
	return nc, err
}

func (e *listening) close() error {
	e.once.Do(func() { e.release(false) })
	return nil
}

// setDeadline sets the deadline of Accept, if the listener has one.
func setDeadline(l net.Listener, t time.Time) {
	if d, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
		_ = d.SetDeadline(t)
	}
}

// acceptFrom accepts a connection from peer. Those from other hosts are closed.
func acceptFrom(l net.Listener, peer netip.Addr, limit time.Duration) (net.Conn, error) {
	setDeadline(l, time.Now().Add(limit))
	for range 16 {
		nc, err := l.Accept()
		if err != nil {
			return nil, err
		}
		if addrOf(nc.RemoteAddr()) == peer {
			return nc, nil
		}
		_ = nc.Close() // from another host
	}
	return nil, fmt.Errorf("no data connection from %v", peer)
}

// lateTime is how long a data connection is awaited whose session has given it up. It is also how
// long a connection waits for the end of another client's session, with OnePort.
const lateTime = 2 * time.Second

// pool has the ports of DataPorts, which all sessions share.
//
// No session may accept the data connection of another one, although all come from one address if
// that is the address of a forwarder. A client makes one connection for each passive reply. So:
//
//   - A port whose connection was accepted is free at once: no other is to come.
//   - A port that a session has given up, or whose session has ended, is free when its connection
//     has come, which is reset, or after lateTime.
//   - When a port is reserved, all connections that have reached it are reset: those that came
//     still later, and those of port scans and health checks. They are in front of one that the
//     server makes itself. Closing and opening the port again would reset them too, but meanwhile
//     the system could give the port to a connection of another program.
//   - The port that was used longest ago is taken first.
//
// One mistake cannot be excluded: a foreign connection that comes while a port is reserved, before
// the right one. It would be that of a port scan, or one that comes more than lateTime after its
// session gave it up.
type pool struct {
	srv   *Server
	ports []uint16
	free  chan net.Listener // the one that was used longest ago first; sessions wait in turn
}

// openPool opens the ports of DataPorts.
func (s *Server) openPool() error {
	host, _, _ := net.SplitHostPort(s.Addr)
	p := &pool{srv: s, free: make(chan net.Listener, s.DataPorts)}
	for range s.DataPorts {
		l, err := s.listenIn(host, false)
		if err != nil {
			return fmt.Errorf("DataPorts is %d, but only %d ports could be opened: %w", s.DataPorts, len(p.ports), err)
		}
		p.ports = append(p.ports, portOf(l))
		p.free <- l
	}
	s.pool = p
	return nil
}

// reserve takes a port, and waits for one if necessary.
func (p *pool) reserve(ctx context.Context, peer netip.Addr) (dataListener, error) {
	var l net.Listener
	select {
	case l = <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := p.empty(ctx, l); err != nil {
		p.free <- l
		return nil, err
	}
	return &listening{Listener: l, peer: peer, release: func(arrived bool) { p.release(l, peer, arrived) }}, nil
}

// empty resets the connections that have reached a port.
func (p *pool) empty(ctx context.Context, l net.Listener) error {
	last, err := p.srv.m.Net.Dial(ctx, "tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer core.EndConn(last, true) // an orderly end would keep a port for a minute
	setDeadline(l, time.Now().Add(dataTimeout))
	for {
		nc, err := l.Accept()
		if err != nil {
			return err
		}
		if nc.RemoteAddr().String() == last.LocalAddr().String() {
			return nc.Close()
		}
		core.EndConn(nc, true)
	}
}

// release frees a port, when its connection has arrived or is not awaited any more.
func (p *pool) release(l net.Listener, peer netip.Addr, arrived bool) {
	if arrived {
		p.free <- l
		return
	}
	p.srv.m.Go(func() {
		if nc, err := acceptFrom(l, peer, lateTime); err == nil {
			core.EndConn(nc, true)
		}
		p.free <- l
	})
}
