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

// A network is the Env.Dial of one test: it counts connections, keeps what goes
// over them, and spoils them as told.
type network struct {
	dial  dialFunc
	ended context.Context // once it is done, nobody answers a dial any more

	mu    sync.Mutex
	dials int
	wires []*wire // those that came about, in order
	sound int     // so many of them have no fault to come

	spoiled int           // index of the wire that gets the fault, or every
	fault   fault         // of that wire
	step    int           // octets a Read gives at most; 0: as they come
	pause   time.Duration // before each Read
}

// A fault happens to a connection when after octets have been received on it,
// or sent in the case of sever.
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
	stall  damage = "stall"  // nothing more comes
	cancel damage = "cancel" // the user has had enough
	garble damage = "garble" // one octet is another one
	sever  damage = "sever"  // the peer resets before it has got more
)

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
	switch w.remote.(type) { // or a pipe; the policy wants to see an address
	case *net.TCPAddr, *net.UDPAddr:
	default:
		w.remote = pipeAddr(address, w.datagrams)
	}
	if n.spoiled == every || n.spoiled == len(n.wires) {
		w.fault = n.fault
	}
	if w.fault.do == stall {
		w.void, w.voidEnd = net.Pipe()
	}
	n.wires = append(n.wires, w)
	return w, nil
}

// every connection gets the fault.
const every = -1

// spoil arms a fault for the k-th connection to come, from 0, or for every. It
// disarms any other.
func (n *network) spoil(k int, f fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.spoiled, n.fault = k, f
	if k != every {
		n.spoiled += len(n.wires)
	}
}

// mend disarms, also the connections that have not suffered yet.
func (n *network) mend() {
	n.spoil(every, fault{})
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.wires[n.sound:] {
		w.mend()
	}
	n.sound = len(n.wires)
}

// count is how many dials there were, with the failed ones.
func (n *network) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// since are the connections made after the first k.
func (n *network) since(k int) []*wire {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.wires[k:])
}

// made is how many connections were made.
func (n *network) made() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.wires)
}

// streams is how many of them were no sockets for datagrams, of which a fetch
// may use one for each exchange.
func (n *network) streams() int {
	return len(slices.DeleteFunc(n.since(0), func(w *wire) bool { return w.datagrams }))
}

// control is what was sent and received on the first connection, or on all if
// they are sockets for datagrams.
func (n *network) control() (sent, got []byte) {
	for i, w := range n.since(0) {
		if i == 0 || w.datagrams {
			sent, got = append(sent, w.sent()...), append(got, w.got()...)
		}
	}
	return sent, got
}

// unclosed is how many connections have not been closed.
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

// reached tells whether a connection was made to an address.
func (n *network) reached(addr netip.AddrPort) bool {
	return slices.ContainsFunc(n.since(0), func(w *wire) bool { return w.remote.String() == addr.String() })
}

// hangUp ends all open connections as a server does that is tired of waiting.
func (n *network) hangUp() {
	for _, w := range n.since(0) {
		w.hangUp()
	}
}

// abort breaks all connections.
func (n *network) abort() {
	for _, w := range n.since(0) {
		w.die(broken("read", syscall.ECONNABORTED))
	}
}

// pipeAddr is the address that a pipe stands for.
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

// recorded bounds what a wire keeps of each direction.
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
	in, out   []byte // the first octets received and sent
	received  int
	written   int
	begun     []int // received when each datagram came
	dead      error // what Read and Write give, once it is
	closeOnce sync.Once
	closed    chan struct{}
}

func (w *wire) RemoteAddr() net.Addr { return w.remote }

func (w *wire) Read(p []byte) (int, error) {
	if w.pause > 0 {
		time.Sleep(w.pause)
	}
	if w.step > 0 && !w.datagrams { // which come whole or not at all
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

// fail is a Read after the fault.
func (w *wire) fail(do damage, p []byte) (int, error) {
	switch do {
	case stall:
		return w.void.Read(p)
	case reset:
		w.die(broken("read", syscall.ECONNRESET))
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
		w.die(broken("read", syscall.ECONNRESET))
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

// mend takes the fault away, unless it has happened.
func (w *wire) mend() {
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

func (w *wire) hangUp() { w.die(io.EOF) }

// die ends the connection from the other side.
func (w *wire) die(err error) {
	w.mu.Lock()
	w.dead = err
	w.mu.Unlock()
	w.Conn.Close()
	if w.void != nil {
		w.void.Close()
	}
}

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

// deadline sets one where a Read or Write may wait. A connection that the peer
// has ended takes deadlines like any other.
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

// sent and got are the octets recorded.
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

// starts are after how many octets each of the datagrams received began.
func (w *wire) starts() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.begun)
}

// lengths are how many octets were received and sent.
func (w *wire) lengths() (received, sent int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received, w.written
}
