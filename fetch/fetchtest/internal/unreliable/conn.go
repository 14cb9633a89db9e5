package unreliable

import (
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Failure is damage to a connection when After bytes have been received on it; for Sever, when
// After bytes have been sent. The zero value means no damage.
type Failure struct {
	Do    Damage
	After int
	Call  func() // for Cancel
}

// Damage is what happens to a connection.
type Damage string

// The kinds of damage.
const (
	None   Damage = ""
	Cut    Damage = "cut"    // the peer closes
	Reset  Damage = "reset"  // the peer resets
	Stall  Damage = "stall"  // no more data arrives
	Cancel Damage = "cancel" // the caller cancels the context
	Garble Damage = "garble" // one byte is changed
	Sever  Damage = "sever"  // the peer resets before it has received more
)

// Happened describes the state of a connection after the damage.
func (d Damage) Happened() string {
	return map[Damage]string{
		Cut: "closed by the server", Reset: "reset by the server", Stall: "stalled", Cancel: "context cancelled",
		Garble: "one byte changed", Sever: "reset while sending",
	}[d]
}

// recorded is the number of bytes that a Conn keeps of each direction.
const recorded = 64 << 10

// Conn is one connection.
type Conn struct {
	net.Conn
	Remote        net.Addr // of the server
	Datagrams     bool     // it is a datagram socket
	step          int
	pause         time.Duration
	void, voidEnd net.Conn // where a stalled Read waits

	mu        sync.Mutex
	failure   Failure
	in, out   []byte // the first bytes received and sent
	received  int
	written   int
	begun     []int // bytes received before each datagram
	dead      error // the error of Read and Write after the failure
	closeOnce sync.Once
	closed    chan struct{}
}

func (c *Conn) RemoteAddr() net.Addr { return c.Remote }

func (c *Conn) Read(p []byte) (int, error) {
	if c.pause > 0 {
		time.Sleep(c.pause)
	}
	if c.step > 0 && !c.Datagrams { // datagrams are never split
		p = p[:min(c.step, len(p))]
	}
	c.mu.Lock()
	f, before, dead := c.failure, c.received, c.dead
	c.mu.Unlock()
	if dead != nil {
		return 0, dead
	}
	switch {
	case len(p) == 0 || f.Do == None || f.Do == Garble || f.Do == Sever:
	case before < f.After && !c.Datagrams:
		p = p[:min(f.After-before, len(p))]
	case before < f.After:
	case f.Do == Cancel:
		f.Call()
	default:
		return c.fail(f.Do, p)
	}
	n, err := c.Conn.Read(p)
	if i := f.After - before; f.Do == Garble && i >= 0 && i < n {
		p[i] ^= 0x15
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Datagrams && n > 0 {
		c.begun = append(c.begun, c.received)
	}
	c.received += n
	c.in = Keep(c.in, p[:n])
	if c.dead != nil && err != nil {
		err = c.dead
	}
	return n, err
}

// fail is Read after the failure.
func (c *Conn) fail(do Damage, p []byte) (int, error) {
	switch do {
	case Stall:
		return c.void.Read(p)
	case Reset:
		c.disconnect(broken("read", syscall.ECONNRESET))
		return 0, broken("read", syscall.ECONNRESET)
	}
	return 0, io.EOF
}

func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	f, before, dead := c.failure, c.written, c.dead
	c.mu.Unlock()
	if dead != nil {
		return 0, broken("write", syscall.EPIPE)
	}
	severed := f.Do == Sever && before+len(p) > f.After
	if severed {
		p = p[:f.After-before]
	}
	n, err := c.Conn.Write(p)
	if severed {
		c.disconnect(broken("read", syscall.ECONNRESET))
		err = broken("write", syscall.EPIPE)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += n
	c.out = Keep(c.out, p[:n])
	if c.dead != nil && err != nil {
		err = broken("write", syscall.EPIPE)
	}
	return n, err
}

// disarm removes the failure unless it has happened.
func (c *Conn) disarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	so := c.received
	if c.failure.Do == Sever {
		so = c.written
	}
	if so < c.failure.After {
		c.failure = Failure{}
	}
}

// hangUp ends the connection in order from the other side.
func (c *Conn) hangUp() { c.disconnect(io.EOF) }

// disconnect ends the connection from the other side.
func (c *Conn) disconnect(err error) {
	c.mu.Lock()
	c.dead = err
	c.mu.Unlock()
	c.Conn.Close()
	if c.void != nil {
		c.void.Close()
	}
}

// broken returns the error of a system call in the form of package net.
func broken(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, errno)}
}

func (c *Conn) Close() error {
	err := net.ErrClosed
	c.closeOnce.Do(func() {
		err = c.Conn.Close()
		if c.void != nil {
			c.void.Close()
			c.voidEnd.Close()
		}
		close(c.closed)
	})
	return err
}

func (c *Conn) SetDeadline(t time.Time) error {
	return c.deadline(t, net.Conn.SetDeadline)
}

func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.deadline(t, net.Conn.SetReadDeadline)
}

func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.deadline(t, net.Conn.SetWriteDeadline)
}

// deadline sets a deadline where a Read or Write may wait. Setting one works even on a connection
// that the peer has ended.
func (c *Conn) deadline(t time.Time, set func(net.Conn, time.Time) error) error {
	if c.void != nil {
		set(c.void, t)
	}
	err := set(c.Conn, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return nil
	}
	return err
}

// Sent returns the first bytes that were sent.
func (c *Conn) Sent() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.out)
}

// Got returns the first bytes that were received.
func (c *Conn) Got() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.in)
}

// Offsets returns the numbers of bytes at which damage to a connection like this one is tried,
// stride bytes apart, and the number of bytes that it had in that direction.
func (c *Conn) Offsets(do Damage, stride int) (list []int, octets int) {
	octets, sent := c.Lengths()
	if do == Sever {
		octets = sent
	}
	switch {
	case c.Datagrams && (do == Cut || do == Reset):
		return nil, octets // datagrams have no end
	case c.Datagrams && (do == Stall || do == Cancel) && octets > 0:
		// A datagram arrives whole, so damage within it takes effect after it.
		return slices.Compact(append(c.starts(), octets-1)), octets
	}
	for after := 0; after < octets; after += stride {
		list = append(list, after)
	}
	return list, octets
}

// starts returns the number of bytes received before each datagram.
func (c *Conn) starts() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.begun)
}

// Lengths returns the number of bytes received and sent.
func (c *Conn) Lengths() (received, sent int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received, c.written
}

// Closed returns a channel that is closed when the connection is.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// Keep appends bytes to those recorded, up to the limit of a Conn.
func Keep(list, p []byte) []byte { return append(list, p[:min(len(p), recorded-len(list))]...) }
