// Package wire has what both ends of a line protocol require: a connection that obeys a context and
// a time limit, and readers with limits.
package wire

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"
)

// Conn is a net.Conn each of whose reads and writes fails when its context is
// done or its time limit has passed. The error is then the context's (see [Ended])
// or a *[TimeoutError]. Reading and writing may go on at once; each by one goroutine
// at a time.
//
// Over TCP, a read that has to wait has the kernel acknowledge what has come (see
// [QuickAck]): the server may be waiting too.
type Conn struct {
	net.Conn
	tcp     *net.TCPConn // the connection below; nil if it is not TCP or not known
	mu      sync.Mutex
	ctx     context.Context
	stop    func() bool
	timeout time.Duration
	closing sync.Once
}

// NewConn wraps c. A timeout of 0 means no timeout. Close also releases the context.
func NewConn(ctx context.Context, c net.Conn, timeout time.Duration) *Conn {
	w := &Conn{Conn: c, tcp: belowAll(c), timeout: timeout}
	w.SetContext(ctx)
	return w
}

// SetContext changes the connection's context, as when a session is reused. It must not be called
// concurrently with Read or Write.
func (c *Conn) SetContext(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
	c.ctx, c.stop = ctx, nil
	if ctx.Done() == nil {
		return
	}
	c.stop = context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ctx == ctx {
			c.Conn.SetDeadline(time.Unix(1, 0))
		}
	})
}

// AckLate ends what a Conn does about acknowledgements. It must be called before the first Read.
func (c *Conn) AckLate() { c.tcp = nil }

// SetTimeout changes the time limit of each following read and write; 0 means no limit.
func (c *Conn) SetTimeout(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timeout = d
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	limit := c.limit()
	if c.tcp != nil && (limit == 0 || limit > stall) {
		n, err := c.read(p, stall)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		QuickAck(c.tcp)
	}
	return c.read(p, limit)
}

// limit returns the time limit, which SetTimeout may change meanwhile.
func (c *Conn) limit() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeout
}

// read is Read with a time limit of its own.
func (c *Conn) read(p []byte, limit time.Duration) (int, error) {
	if err := c.arm(c.Conn.SetReadDeadline, limit); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	return n, c.cause(err, limit, noData)
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	limit := c.limit()
	if err := c.arm(c.Conn.SetWriteDeadline, limit); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	return n, c.cause(err, limit, "the server accepts no data")
}

// SendFile sends up to n bytes of a file, in the kernel if that can do it. Fewer are sent at the
// end of the file. It fails if no byte is sent within the time limit. An error of the file is a
// *[fs.PathError].
func (c *Conn) SendFile(file *os.File, n int64) (sent int64, err error) {
	limit := c.limit()
	for sent < n {
		if err := c.arm(c.Conn.SetWriteDeadline, limit); err != nil {
			return sent, err
		}
		k, err := c.Conn.(io.ReaderFrom).ReadFrom(&io.LimitedReader{R: file, N: n - sent})
		sent += k
		var ofFile *fs.PathError
		switch late := errors.Is(err, os.ErrDeadlineExceeded); {
		case late && k > 0, err == nil && sent == n:
		case errors.As(err, &ofFile):
			return sent, ofFile
		default:
			return sent, c.cause(err, limit, "the server accepts no data")
		}
	}
	return sent, nil
}

// CanSendFile reports whether SendFile can be used.
func (c *Conn) CanSendFile() bool {
	_, ok := c.Conn.(*net.TCPConn)
	return ok
}

// Arm starts the time limit of a read that the caller does on the inner connection itself, such as
// one that splices. It fails when the context is done. Cause converts that read's error.
func (c *Conn) Arm() error { return c.arm(c.Conn.SetReadDeadline, c.limit()) }

// Cause returns the error of such a read as Read would return it.
func (c *Conn) Cause(err error) error { return c.cause(err, c.limit(), noData) }

// arm sets a deadline by set, unless the context has ended. No limit removes the deadline. An error of
// set is left to the read or write: a net.Pipe refuses a deadline when its other end is closed, and
// may have an io.EOF to read.
func (c *Conn) arm(set func(time.Time) error, limit time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := Ended(c.ctx); err != nil {
		return err
	}
	var deadline time.Time
	if limit > 0 {
		deadline = time.Now().Add(limit)
	}
	_ = set(deadline)
	return nil
}

// cause returns err, or why err came about: the end of the context or the limit.
func (c *Conn) cause(err error, limit time.Duration, awaited string) error {
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ended := Ended(c.ctx); ended != nil {
		return ended
	}
	if limit > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return &TimeoutError{Limit: limit, Awaited: awaited, Err: err}
	}
	return err
}

// Close implements net.Conn. Closing again does nothing.
func (c *Conn) Close() (err error) {
	c.closing.Do(func() {
		c.mu.Lock()
		if c.stop != nil {
			c.stop()
		}
		c.mu.Unlock()
		err = c.Conn.Close()
	})
	return err
}
