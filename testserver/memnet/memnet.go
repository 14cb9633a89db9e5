// Package memnet is a small network in memory, with listeners and connections that behave like TCP
// and sockets that behave like UDP, all on one loopback host. Everything may be used concurrently.
// All blocking is on sync.Cond and timers, so that it works, with a fake clock, inside a
// testing/synctest bubble.
//
// Unlike [net.Pipe] a connection buffers as a socket does. Two peers may write at the same time
// without either of them reading, bytes written before a close still arrive, and a reset differs
// from an orderly end.
package memnet

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Ports assigned if the caller requests none: IANA's dynamic range.
const (
	firstDynamic = 49152
	lastDynamic  = 65535
)

// backlog is the maximum number of connections that wait to be accepted; more are refused.
const backlog = 1024

// Network is one host with its ports. The zero value is ready to use. A Network must not be copied.
// All methods may be called concurrently.
type Network struct {
	mu        sync.Mutex
	listeners map[uint16]*Listener
	sockets   map[uint16]*Socket
	used      uint16 // dynamic port assigned last
}

// Listen opens a listener. The address is host:port, as in "127.0.0.1:21" or "mem:21"; port 0 means
// any free port. The network must be a "tcp".
func (n *Network) Listen(_ context.Context, network, address string) (net.Listener, error) {
	addr, err := resolve(network, address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr.Port == 0 {
		addr.Port = int(n.freePort())
	}
	port := uint16(addr.Port)
	if port == 0 || n.listeners[port] != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: addr, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &Listener{net: n, addr: addr}
	l.cond.L = &l.mu
	if n.listeners == nil {
		n.listeners = make(map[uint16]*Listener)
	}
	n.listeners[port] = l
	return l, nil
}

// Dial connects to a listener of this network. It accepts loopback addresses and the names
// "localhost" and "mem"; for any other host it fails as if there were no route. Like a kernel it
// returns before the listener has accepted. For a "udp" network it returns a connected [Socket].
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if strings.HasPrefix(network, "udp") {
		return n.connect(network, address)
	}
	addr, err := resolve(network, address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	n.mu.Lock()
	l := n.listeners[uint16(addr.Port)]
	local := &net.TCPAddr{IP: addr.IP, Port: int(n.nextDynamic())}
	n.mu.Unlock()

	client, server := newPair(local, addr)
	if l == nil || !l.offer(server) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: addr, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	return client, nil
}

// nextDynamic assigns the port of a connection's local end. Ports repeat after about sixteen
// thousand, which is harmless here.
func (n *Network) nextDynamic() uint16 {
	if n.used < firstDynamic || n.used == lastDynamic {
		n.used = firstDynamic
	} else {
		n.used++
	}
	return n.used
}

// freePort returns a dynamic port that has no listener, or 0.
func (n *Network) freePort() uint16 {
	for range lastDynamic - firstDynamic + 1 {
		if p := n.nextDynamic(); n.listeners[p] == nil {
			return p
		}
	}
	return 0
}

func (n *Network) removeListener(l *Listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if port := uint16(l.addr.Port); n.listeners[port] == l {
		delete(n.listeners, port)
	}
}

// resolve parses an address. All names of hosts but localhost and mem are unknown, and other hosts
// are unreachable.
func resolve(network, address string) (*net.TCPAddr, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, net.UnknownNetworkError(network)
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &net.AddrError{Err: "invalid port", Addr: address}
	}
	if host == "mem" || host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if !ip.IsLoopback() {
		return nil, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	}
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port))), nil
}

// Listener accepts the connections dialled to one port.
type Listener struct {
	net  *Network
	addr *net.TCPAddr

	mu       sync.Mutex
	cond     sync.Cond
	queue    []*Conn
	closed   bool
	deadline deadline
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.closed:
			return nil, l.fail(net.ErrClosed)
		case len(l.queue) > 0:
			c := l.queue[0]
			l.queue = slices.Delete(l.queue, 0, 1)
			return c, nil
		case l.deadline.passed:
			return nil, l.fail(os.ErrDeadlineExceeded)
		}
		l.cond.Wait()
	}
}

// Close ends Accept, frees the port and resets the connections that were not accepted.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return l.fail(net.ErrClosed)
	}
	l.closed = true
	left := l.queue
	l.queue = nil
	l.deadline.stop()
	l.cond.Broadcast()
	l.mu.Unlock()

	l.net.removeListener(l)
	for _, c := range left {
		_ = c.Reset()
	}
	return nil
}

// Addr returns the address of the listener, a *net.TCPAddr.
func (l *Listener) Addr() net.Addr { return l.addr }

// SetDeadline sets the deadline of Accept, as for [net.TCPListener]. The zero time means no
// deadline.
func (l *Listener) SetDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.fail(net.ErrClosed)
	}
	l.deadline.set(t, &l.cond)
	return nil
}

// offer queues a connection. It returns false if the connection is refused.
func (l *Listener) offer(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.queue) >= backlog {
		return false
	}
	l.queue = append(l.queue, c)
	l.cond.Broadcast()
	return true
}

func (l *Listener) fail(err error) error {
	return &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: err}
}
