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

// bufferSize is the number of bytes that a connection buffers in each direction before a writer
// waits. It is about the size of a kernel's socket buffer.
const bufferSize = 64 << 10

// Conn is one end of a connection. It has the methods of [net.TCPConn] that change what the peer
// sees: CloseWrite and SetLinger.
type Conn struct {
	in, out       *stream
	local, remote *net.TCPAddr
	closed        atomic.Bool
	abort         atomic.Bool // set by SetLinger(0): Close resets
}

// newPair returns two connected ends; the first one is the client's.
func newPair(local, remote *net.TCPAddr) (client, server *Conn) {
	up, down := newStream(), newStream()
	client = &Conn{in: down, out: up, local: local, remote: remote}
	server = &Conn{in: up, out: down, local: remote, remote: local}
	return client, server
}

// Read implements [net.Conn]. After the peer has closed, it returns the remaining bytes and then
// io.EOF; after a reset, the remaining bytes and then ECONNRESET.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	if err != nil && err != io.EOF {
		err = c.fail("read", err)
	}
	return n, err
}

// Write implements [net.Conn]. It returns as soon as the bytes are buffered.
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

// close ends both directions. The peer gets the error cause; nil means the end of the data.
func (c *Conn) close(cause error) error {
	if c.closed.Swap(true) {
		return c.fail("close", net.ErrClosed)
	}
	c.out.closeWrite(net.ErrClosed, cause)
	c.in.closeRead(cause)
	return nil
}

// CloseWrite closes this direction only: the peer reads io.EOF and may continue to write.
func (c *Conn) CloseWrite() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.out.closeWrite(os.NewSyscallError("write", syscall.EPIPE), nil)
	return nil
}

// SetLinger determines what Close does: with 0 it resets the connection, otherwise it closes in
// order.
func (c *Conn) SetLinger(sec int) error {
	c.abort.Store(sec == 0)
	return nil
}

// Await waits until Read would return without waiting.
func (c *Conn) Await() {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for len(c.in.queue) == 0 && !c.in.ended && !c.in.readClosed && !c.in.readBy.passed {
		c.in.cond.Wait()
	}
}

// Readable reports whether Read would return without waiting.
func (c *Conn) Readable() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return len(c.in.queue) > 0 || c.in.ended
}

// LocalAddr returns a *net.TCPAddr on the loopback network.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns a *net.TCPAddr on the loopback network.
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

// stream is one direction of a connection: a bounded queue of bytes.
type stream struct {
	mu              sync.Mutex
	cond            sync.Cond
	queue           []byte // unread bytes
	readBy, writeBy deadline

	ended      bool  // no more will be written: the reader gets cause or io.EOF
	cause      error // nil means an orderly end
	writeErr   error // the error of Write once ended
	readClosed bool  // the reading end is closed
	closedErr  error // the error of Write if readClosed
}

func newStream() *stream {
	s := new(stream)
	s.cond.L = &s.mu
	return s
}

// read waits until there is something to return.
func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readClosed:
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

// write waits until all of p is in the buffer.
func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return n, s.writeErr
		case s.readClosed:
			return n, os.NewSyscallError("write", s.closedErr)
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

// closeWrite is called by the writing end. A later write fails with writeErr.
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

// closeRead is called by the reading end. A later write fails.
func (s *stream) closeRead(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readClosed, s.closedErr, s.queue = true, syscall.EPIPE, nil
	if cause != nil {
		s.closedErr = cause
	}
	s.readBy.stop()
	s.cond.Broadcast()
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.set(t, &s.cond)
}

// deadline is a point in time after which waiting ends. It is guarded by its owner's lock, the one
// of the cond that is passed to set.
type deadline struct {
	passed bool
	timer  *time.Timer
}

// set restarts the deadline. When it passes, it wakes the goroutines that wait for cond.
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
		if d.timer == timer { // not replaced in the meantime
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
