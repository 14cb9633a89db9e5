package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// bufferSize is how many octets a connection holds in each direction before a
// writer waits, about what a kernel gives a socket.
const bufferSize = 64 << 10

// Conn is one end of a connection. It has the methods of [net.TCPConn] that
// change what the peer sees: CloseWrite and SetLinger.
type Conn struct {
	in, out       *stream
	local, remote *net.TCPAddr
	closed        atomic.Bool
	abort         atomic.Bool // SetLinger(0): Close resets
}

// newPair connects two ends; the first one is the dialler's.
func newPair(local, remote *net.TCPAddr) (client, server *Conn) {
	up, down := newStream(), newStream()
	client = &Conn{in: down, out: up, local: local, remote: remote}
	server = &Conn{in: up, out: down, local: remote, remote: local}
	return client, server
}

// Read implements [net.Conn]. After the peer's Close it gives what was still
// under way and then io.EOF; after a reset, what was under way and then ECONNRESET.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	if err != nil && err != io.EOF {
		err = c.fail("read", err)
	}
	return n, err
}

// Write implements [net.Conn]. It returns as soon as the octets are buffered.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	if err != nil {
		err = c.fail("write", err)
	}
	return n, err
}

// Close ends the connection in both directions; see [Conn.SetLinger].
func (c *Conn) Close() error {
	if c.abort.Load() {
		return c.Reset()
	}
	return c.close(nil)
}

// Reset ends the connection as a TCP RST does.
func (c *Conn) Reset() error { return c.close(syscall.ECONNRESET) }

func (c *Conn) close(cause error) error {
	if c.closed.Swap(true) {
		return c.fail("close", net.ErrClosed)
	}
	c.out.closeWrite(net.ErrClosed, cause)
	c.in.closeRead(cause)
	return nil
}

// CloseWrite ends this direction only: the peer reads io.EOF and may go on writing.
func (c *Conn) CloseWrite() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.out.closeWrite(os.NewSyscallError("write", syscall.EPIPE), nil)
	return nil
}

// SetLinger decides what Close does: 0 resets, anything else ends in order.
func (c *Conn) SetLinger(sec int) error {
	c.abort.Store(sec == 0)
	return nil
}

// Readable reports whether a Read would not have to wait.
func (c *Conn) Readable() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return len(c.in.queue) > 0 || c.in.ended
}

// LocalAddr is a *net.TCPAddr on the loopback network.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is a *net.TCPAddr on the loopback network.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements [net.Conn].
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements [net.Conn].
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	c.in.setDeadline(&c.in.readBy, t)
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	c.out.setDeadline(&c.out.writeBy, t)
	return nil
}

func (c *Conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// stream is one direction of a connection: a bounded queue of octets.
type stream struct {
	mu              sync.Mutex
	cond            sync.Cond
	queue           []byte // unread octets
	readBy, writeBy deadline

	ended    bool  // no more will be written: the reader gets cause or io.EOF
	cause    error // nil: an orderly end
	writeErr error // what the writer gets once ended
	deaf     bool  // the reader is gone
	deafErr  error // what the writer gets then
}

func newStream() *stream {
	s := new(stream)
	s.cond.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.deaf:
			return 0, net.ErrClosed
		case s.readBy.passed:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(s.queue) > 0:
			n := copy(p, s.queue)
			s.queue = s.queue[n:]
			if len(s.queue) == 0 {
				s.queue = nil
			}
			s.cond.Broadcast()
			return n, nil
		case s.ended && s.cause != nil:
			return 0, os.NewSyscallError("read", s.cause)
		case s.ended:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return n, s.writeErr
		case s.deaf:
			return n, os.NewSyscallError("write", s.deafErr)
		case s.writeBy.passed:
			return n, os.ErrDeadlineExceeded
		case n == len(p):
			return n, nil
		}
		if free := bufferSize - len(s.queue); free > 0 {
			chunk := p[n:min(n+free, len(p))]
			s.queue = append(s.queue, chunk...)
			n += len(chunk)
			s.cond.Broadcast()
			continue
		}
		s.cond.Wait()
	}
}

// closeWrite is called from the writing end. A later write there fails with writeErr.
func (s *stream) closeWrite(writeErr, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended || cause != nil {
		s.ended, s.cause = true, cause
	}
	s.writeErr = writeErr
	s.writeBy.stop()
	s.cond.Broadcast()
}

// closeRead is called from the reading end: who writes now is told so.
func (s *stream) closeRead(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf, s.deafErr, s.queue = true, syscall.EPIPE, nil
	if cause != nil {
		s.deafErr = cause
	}
	s.readBy.stop()
	s.cond.Broadcast()
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.set(t, &s.cond)
}

// deadline is a point in time after which waiting is over. Its owner's lock,
// the one of the cond given to set, guards it.
type deadline struct {
	passed bool
	timer  *time.Timer
}

func (d *deadline) set(t time.Time, cond *sync.Cond) {
	d.stop()
	d.passed = false
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		d.passed = true
		cond.Broadcast()
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		cond.L.Lock()
		defer cond.L.Unlock()
		if d.timer == timer { // not replaced meanwhile
			d.passed = true
			cond.Broadcast()
		}
	})
	d.timer = timer
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
