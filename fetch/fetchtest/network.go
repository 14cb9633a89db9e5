package fetchtest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// A network provides the Env.Dial of one test. It counts connections, records what goes over them,
// and applies faults.
type network struct {
	dial  dialFunc
	ended context.Context // once it is done, dials get no answer

	mu    sync.Mutex
	dials int
	wires []*wire // the connections established, in order
	sound int     // the number of them that have no pending fault

	armedFor int           // index of the wire that gets the fault, or every
	fault    fault         // of that wire
	step     int           // maximum bytes a Read returns; 0 means no maximum
	pause    time.Duration // before each Read
}

// A fault happens to a connection when after bytes have been received on it; for sever, when after
// bytes have been sent.
type fault struct {
	do    damage
	after int
	call  func() // for cancel
}

type damage string

const (
	none   damage = ""
	cut    damage = "cut"    // the peer closes
	reset  damage = "reset"  // the peer resets
	stall  damage = "stall"  // no more data arrives
	cancel damage = "cancel" // the caller cancels the context
	garble damage = "garble" // one byte is changed
	sever  damage = "sever"  // the peer resets before it has received more
)

// happened describes the state of a connection after the damage.
func (d damage) happened() string {
	return map[damage]string{
		cut: "closed by the server", reset: "reset by the server", stall: "stalled", cancel: "context cancelled",
		garble: "one byte changed", sever: "reset while sending",
	}[d]
}

// Dial is an Env.Dial.
func (n *network) Dial(ctx context.Context, netw, address string) (net.Conn, error) {
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
	w := &wire{Conn: conn, remote: conn.RemoteAddr(), datagrams: strings.HasPrefix(netw, "udp"), step: n.step, pause: n.pause, closed: make(chan struct{})}
	switch w.remote.(type) { // otherwise a pipe; the policy requires an address
	case *net.TCPAddr, *net.UDPAddr:
	default:
		w.remote = pipeAddr(address, w.datagrams)
	}
	if n.armedFor == every || n.armedFor == len(n.wires) {
		w.fault = n.fault
	}
	if w.fault.do == stall {
		w.void, w.voidEnd = net.Pipe()
	}
	n.wires = append(n.wires, w)
	return w, nil
}

// every means that each connection gets the fault.
const every = -1

// arm arms a fault for the k-th connection from now, counted from 0, or for every. It disarms any
// other.
func (n *network) arm(k int, f fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.armedFor, n.fault = k, f
	if k != every {
		n.armedFor += len(n.wires)
	}
}

// disarm disarms the fault, also for open connections on which it has not happened yet.
func (n *network) disarm() {
	n.arm(every, fault{})
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.wires[n.sound:] {
		w.disarm()
	}
	n.sound = len(n.wires)
}

// count returns the number of dials, including those that failed.
func (n *network) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// since returns the connections established after the first k.
func (n *network) since(k int) []*wire {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.wires[k:])
}

// established returns the number of connections established.
func (n *network) established() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.wires)
}

// streams returns the number of connections that are not datagram sockets. A fetch may use one of
// the latter for each exchange.
func (n *network) streams() int {
	return len(slices.DeleteFunc(n.since(0), func(w *wire) bool { return w.datagrams }))
}

// control returns what was sent and received on the first connection, or on all if they are
// datagram sockets.
func (n *network) control() (sent, got []byte) {
	for i, w := range n.since(0) {
		if i == 0 || w.datagrams {
			sent, got = append(sent, w.sent()...), append(got, w.got()...)
		}
	}
	return sent, got
}

// unclosed returns the number of connections that have not been closed.
func (n *network) unclosed() int {
	return len(slices.DeleteFunc(n.since(0), func(w *wire) bool {
		select {
		case <-w.closed:
			return true
		default:
			return false
		}
	}))
}

// reached reports whether a connection was established to an address.
func (n *network) reached(addr netip.AddrPort) bool {
	return slices.ContainsFunc(n.since(0), func(w *wire) bool { return w.remote.String() == addr.String() })
}

// hangUp ends all open connections, as a server does after an idle timeout.
func (n *network) hangUp() {
	for _, w := range n.since(0) {
		w.hangUp()
	}
}

// abort breaks all connections.
func (n *network) abort() {
	for _, w := range n.since(0) {
		w.disconnect(broken("read", syscall.ECONNABORTED))
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

// recorded is the number of bytes that a wire keeps of each direction.
const recorded = 64 << 10

// A wire is one connection.
type wire struct {
	net.Conn
	remote        net.Addr
	datagrams     bool
	step          int
	pause         time.Duration
	void, voidEnd net.Conn // where a stalled Read waits

	mu        sync.Mutex
	fault     fault
	in, out   []byte // the first bytes received and sent
	received  int
	written   int
	begun     []int // bytes received before each datagram
	dead      error // the error of Read and Write after the fault
	closeOnce sync.Once
	closed    chan struct{}
}

func (w *wire) RemoteAddr() net.Addr { return w.remote }

func (w *wire) Read(p []byte) (int, error) {
	if w.pause > 0 {
		time.Sleep(w.pause)
	}
	if w.step > 0 && !w.datagrams { // datagrams are never split
		p = p[:min(w.step, len(p))]
	}
	w.mu.Lock()
	f, before, dead := w.fault, w.received, w.dead
	w.mu.Unlock()
	if dead != nil {
		return 0, dead
	}
	switch {
	case len(p) == 0 || f.do == none || f.do == garble || f.do == sever:
	case before < f.after && !w.datagrams:
		p = p[:min(f.after-before, len(p))]
	case before < f.after:
	case f.do == cancel:
		f.call()
	default:
		return w.fail(f.do, p)
	}
	n, err := w.Conn.Read(p)
	if i := f.after - before; f.do == garble && i >= 0 && i < n {
		p[i] ^= 0x15
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.datagrams && n > 0 {
		w.begun = append(w.begun, w.received)
	}
	w.received += n
	w.in = keep(w.in, p[:n])
	if w.dead != nil && err != nil {
		err = w.dead
	}
	return n, err
}

// fail is Read after the fault.
func (w *wire) fail(do damage, p []byte) (int, error) {
	switch do {
	case stall:
		return w.void.Read(p)
	case reset:
		w.disconnect(broken("read", syscall.ECONNRESET))
		return 0, broken("read", syscall.ECONNRESET)
	}
	return 0, io.EOF
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	f, before, dead := w.fault, w.written, w.dead
	w.mu.Unlock()
	if dead != nil {
		return 0, broken("write", syscall.EPIPE)
	}
	severed := f.do == sever && before+len(p) > f.after
	if severed {
		p = p[:f.after-before]
	}
	n, err := w.Conn.Write(p)
	if severed {
		w.disconnect(broken("read", syscall.ECONNRESET))
		err = broken("write", syscall.EPIPE)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written += n
	w.out = keep(w.out, p[:n])
	if w.dead != nil && err != nil {
		err = broken("write", syscall.EPIPE)
	}
	return n, err
}

// disarm removes the fault unless it has happened.
func (w *wire) disarm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	so := w.received
	if w.fault.do == sever {
		so = w.written
	}
	if so < w.fault.after {
		w.fault = fault{}
	}
}

// hangUp ends the connection in order from the other side.
func (w *wire) hangUp() { w.disconnect(io.EOF) }

// disconnect ends the connection from the other side.
func (w *wire) disconnect(err error) {
	w.mu.Lock()
	w.dead = err
	w.mu.Unlock()
	w.Conn.Close()
	if w.void != nil {
		w.void.Close()
	}
}

// broken returns the error of a system call in the form of package net.
func broken(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, errno)}
}

func (w *wire) Close() error {
	err := net.ErrClosed
	w.closeOnce.Do(func() {
		err = w.Conn.Close()
		if w.void != nil {
			w.void.Close()
			w.voidEnd.Close()
		}
		close(w.closed)
	})
	return err
}

func (w *wire) SetDeadline(t time.Time) error {
	return w.deadline(t, net.Conn.SetDeadline)
}

func (w *wire) SetReadDeadline(t time.Time) error {
	return w.deadline(t, net.Conn.SetReadDeadline)
}

func (w *wire) SetWriteDeadline(t time.Time) error {
	return w.deadline(t, net.Conn.SetWriteDeadline)
}

// deadline sets a deadline where a Read or Write may wait. Setting one works even on a connection
// that the peer has ended.
func (w *wire) deadline(t time.Time, set func(net.Conn, time.Time) error) error {
	if w.void != nil {
		set(w.void, t)
	}
	err := set(w.Conn, t)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead != nil {
		return nil
	}
	return err
}

// sent and got return the recorded bytes.
func (w *wire) sent() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.out)
}

func (w *wire) got() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.in)
}

// starts returns the number of bytes received before each datagram.
func (w *wire) starts() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.begun)
}

// lengths returns the number of bytes received and sent.
func (w *wire) lengths() (received, sent int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received, w.written
}
