// Package unreliable has networks whose connections fail where a test says, and peers that violate
// every protocol. It records what a client sends and receives.
package unreliable

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// DialFunc is the type of an Env.Dial.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// Network provides the Env.Dial of one test. It counts connections, records what goes over them,
// and damages them. Its methods may be called at the same time.
type Network struct {
	dial  DialFunc
	ended context.Context

	mu    sync.Mutex
	dials int
	conns []*Conn // those established, in order
	sound int     // how many of them have no pending failure

	armedFor int     // index of the connection that fails, or Every
	failure  Failure // of that connection

	// Step is the maximum number of bytes that a Read returns; 0 means no maximum. Pause is the
	// time before each Read. Both may be set before the first dial.
	Step  int
	Pause time.Duration
}

// New returns a network that connects by dial. Once ended is done, dials get no answer.
func New(ended context.Context, dial DialFunc) *Network { return &Network{dial: dial, ended: ended} }

// Dial is an Env.Dial.
func (n *Network) Dial(ctx context.Context, netw, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	n.mu.Unlock()
	if n.ended.Err() != nil {
		return nil, broken("dial", syscall.ECONNREFUSED)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ended, cancel)()
	conn, err := n.dial(ctx, netw, address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &Conn{Conn: conn, Remote: conn.RemoteAddr(), Datagrams: strings.HasPrefix(netw, "udp"), step: n.Step, pause: n.Pause, closed: make(chan struct{})}
	switch c.Remote.(type) { // otherwise a pipe; the policy requires an address
	case *net.TCPAddr, *net.UDPAddr:
	default:
		c.Remote = pipeAddr(address, c.Datagrams)
	}
	if n.armedFor == Every || n.armedFor == len(n.conns) {
		c.failure = n.failure
	}
	if c.failure.Do == Stall {
		c.void, c.voidEnd = net.Pipe()
	}
	n.conns = append(n.conns, c)
	return c, nil
}

// Every means that each connection fails.
const Every = -1

// Arm arms a failure of the k-th connection from now, counted from 0, or of Every. It disarms any
// other.
func (n *Network) Arm(k int, f Failure) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.armedFor, n.failure = k, f
	if k != Every {
		n.armedFor += len(n.conns)
	}
}

// Disarm disarms the failure, also of open connections on which it has not happened yet.
func (n *Network) Disarm() {
	n.Arm(Every, Failure{})
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns[n.sound:] {
		c.disarm()
	}
	n.sound = len(n.conns)
}

// Count returns the number of dials, including those that failed.
func (n *Network) Count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// Since returns the connections established after the first k.
func (n *Network) Since(k int) []*Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.conns[k:])
}

// Established returns the number of connections established.
func (n *Network) Established() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// Streams returns the number of connections that are not datagram sockets. A fetch may use one of
// the latter for each exchange.
func (n *Network) Streams() int {
	return len(slices.DeleteFunc(n.Since(0), func(c *Conn) bool { return c.Datagrams }))
}

// Control returns what was sent and received on the first connection, or on all if they are
// datagram sockets.
func (n *Network) Control() (sent, got []byte) {
	for i, c := range n.Since(0) {
		if i == 0 || c.Datagrams {
			sent, got = append(sent, c.Sent()...), append(got, c.Got()...)
		}
	}
	return sent, got
}

// Unclosed returns the number of connections that have not been closed.
func (n *Network) Unclosed() int {
	return len(slices.DeleteFunc(n.Since(0), func(c *Conn) bool {
		select {
		case <-c.Closed():
			return true
		default:
			return false
		}
	}))
}

// Busiest returns the index of the connection that received the most bytes.
func (n *Network) Busiest() (most int) {
	conns := n.Since(0)
	for i, c := range conns {
		received, _ := c.Lengths()
		if other, _ := conns[most].Lengths(); received > other {
			most = i
		}
	}
	return most
}

// Reached reports whether a connection was established to an address.
func (n *Network) Reached(addr netip.AddrPort) bool {
	return slices.ContainsFunc(n.Since(0), func(c *Conn) bool { return c.Remote.String() == addr.String() })
}

// HangUp ends all open connections, as a server does after an idle timeout.
func (n *Network) HangUp() {
	for _, c := range n.Since(0) {
		c.hangUp()
	}
}

// Abort breaks all connections.
func (n *Network) Abort() {
	for _, c := range n.Since(0) {
		c.disconnect(broken("read", syscall.ECONNABORTED))
	}
}

// pipeAddr returns the address that the other end of a pipe appears to have.
func pipeAddr(address string, datagrams bool) net.Addr {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		ap = netip.MustParseAddrPort("127.0.0.1:1738")
	}
	if datagrams {
		return net.UDPAddrFromAddrPort(ap)
	}
	return net.TCPAddrFromAddrPort(ap)
}
