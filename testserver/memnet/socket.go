package memnet

import (
	"bytes"
	"context"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// queued is the maximum number of datagrams that wait at a socket; more are lost.
const queued = 512

// maxDatagram is the maximum size of a UDP datagram over IPv4.
const maxDatagram = 65507

// Socket sends and receives datagrams like UDP: each Write sends one, each Read receives one, and
// what does not fit into the reader's buffer is lost. A socket from [Network.Dial] is connected: it
// receives datagrams from its peer only, and returns ECONNREFUSED if the peer does not exist. No
// datagram is lost or reordered unless a socket's queue is full.
type Socket struct {
	net    *Network
	local  *net.UDPAddr
	remote *net.UDPAddr // nil means not connected

	mu      sync.Mutex
	cond    sync.Cond
	queue   []datagram
	closed  bool
	refused bool // the peer does not exist; not yet returned as an error
	readBy  deadline
}

type datagram struct {
	from   *net.UDPAddr
	octets []byte
}

// ListenPacket opens a socket that receives datagrams from all addresses. The network must be a
// "udp"; the address has the form of that of Listen.
func (n *Network) ListenPacket(_ context.Context, network, address string) (net.PacketConn, error) {
	addr, err := resolveUDP(network, address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	s, err := n.bind(addr, nil)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: addr, Err: err}
	}
	return s, nil
}

// connect opens a socket connected to an address, which need not exist.
func (n *Network) connect(network, address string) (net.Conn, error) {
	remote, err := resolveUDP(network, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	s, err := n.bind(&net.UDPAddr{IP: remote.IP}, remote)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: remote, Err: err}
	}
	return s, nil
}

// bind assigns a port to a socket; 0 means any free port.
func (n *Network) bind(local, remote *net.UDPAddr) (*Socket, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for tries := lastDynamic - firstDynamic + 1; local.Port == 0 && tries > 0; tries-- {
		if p := n.nextDynamic(); n.sockets[p] == nil {
			local.Port = int(p)
		}
	}
	port := uint16(local.Port)
	if port == 0 || n.sockets[port] != nil {
		return nil, os.NewSyscallError("bind", syscall.EADDRINUSE)
	}
	s := &Socket{net: n, local: local, remote: remote}
	s.cond.L = &s.mu
	if n.sockets == nil {
		n.sockets = make(map[uint16]*Socket)
	}
	n.sockets[port] = s
	return s, nil
}

// resolveUDP is resolve for datagrams.
func resolveUDP(network, address string) (*net.UDPAddr, error) {
	switch network {
	case "udp", "udp4", "udp6":
	default:
		return nil, net.UnknownNetworkError(network)
	}
	tcp, err := resolve("tcp", address)
	if err != nil {
		return nil, err
	}
	return &net.UDPAddr{IP: tcp.IP, Port: tcp.Port}, nil
}

// Read implements [net.Conn].
func (s *Socket) Read(p []byte) (int, error) {
	n, _, err := s.ReadFrom(p)
	return n, err
}

// ReadFrom implements [net.PacketConn].
func (s *Socket) ReadFrom(p []byte) (int, net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return 0, nil, s.fail("read", net.ErrClosed)
		case s.readBy.passed:
			return 0, nil, s.fail("read", os.ErrDeadlineExceeded)
		case s.refused:
			s.refused = false
			return 0, nil, s.fail("read", os.NewSyscallError("recvfrom", syscall.ECONNREFUSED))
		case len(s.queue) > 0:
			d := s.queue[0]
			s.queue = slices.Delete(s.queue, 0, 1)
			return copy(p, d.octets), d.from, nil
		}
		s.cond.Wait()
	}
}

// Write implements [net.Conn] for a connected socket.
func (s *Socket) Write(p []byte) (int, error) {
	if s.remote == nil {
		return 0, s.fail("write", syscall.EDESTADDRREQ)
	}
	return s.send(p, s.remote)
}

// WriteTo implements [net.PacketConn].
func (s *Socket) WriteTo(p []byte, to net.Addr) (int, error) {
	addr, ok := to.(*net.UDPAddr)
	if !ok || s.remote != nil {
		return 0, s.fail("write", syscall.EISCONN)
	}
	return s.send(p, addr)
}

// send delivers a datagram. If no socket has the port, the next call of a connected socket fails.
func (s *Socket) send(p []byte, to *net.UDPAddr) (int, error) {
	s.mu.Lock()
	closed, refused := s.closed, s.refused
	s.refused = false
	s.mu.Unlock()
	switch {
	case closed:
		return 0, s.fail("write", net.ErrClosed)
	case refused:
		return 0, s.fail("write", os.NewSyscallError("sendto", syscall.ECONNREFUSED))
	case len(p) > maxDatagram:
		return 0, s.fail("write", os.NewSyscallError("sendto", syscall.EMSGSIZE))
	}
	s.net.mu.Lock()
	other := s.net.sockets[uint16(to.Port)]
	s.net.mu.Unlock()
	if other == nil || !other.receive(datagram{from: s.local, octets: bytes.Clone(p)}) {
		s.refuse()
	}
	return len(p), nil
}

// receive queues a datagram. It returns false if the socket is closed.
func (s *Socket) receive(d datagram) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if (s.remote == nil || s.remote.Port == d.from.Port) && len(s.queue) < queued {
		s.queue = append(s.queue, d)
		s.cond.Broadcast()
	}
	return true
}

// refuse makes a connected socket return ECONNREFUSED.
func (s *Socket) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remote != nil {
		s.refused = true
		s.cond.Broadcast()
	}
}

// Close frees the port.
func (s *Socket) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.fail("close", net.ErrClosed)
	}
	s.closed, s.queue = true, nil
	s.readBy.stop()
	s.cond.Broadcast()
	s.mu.Unlock()

	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	delete(s.net.sockets, uint16(s.local.Port))
	return nil
}

// LocalAddr returns a *net.UDPAddr on the loopback network.
func (s *Socket) LocalAddr() net.Addr { return s.local }

// RemoteAddr returns the peer of a connected socket, a *net.UDPAddr.
func (s *Socket) RemoteAddr() net.Addr {
	if s.remote == nil {
		return nil
	}
	return s.remote
}

// SetDeadline is SetReadDeadline, because writes never wait.
func (s *Socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// SetReadDeadline implements [net.Conn].
func (s *Socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.fail("set", net.ErrClosed)
	}
	s.readBy.set(t, &s.cond)
	return nil
}

// SetWriteDeadline implements [net.Conn]; writes never wait.
func (s *Socket) SetWriteDeadline(time.Time) error { return nil }

func (s *Socket) fail(op string, err error) error {
	e := &net.OpError{Op: op, Net: "udp", Source: s.local, Err: err}
	if s.remote != nil {
		e.Addr = s.remote
	}
	return e
}
