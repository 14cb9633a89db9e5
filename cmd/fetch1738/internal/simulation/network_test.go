package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// allow is the policy of a process. It permits everything, and remembers what it was asked.
func (p *process) allow(_ context.Context, t fetch.Target) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed[fmt.Sprintf("%s:%d", t.Host, t.Port)] = true
	return nil
}

// dial connects to a server of the world.
func (p *process) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t, _ := fetch.ContextTarget(ctx)
	asked := ""
	if t.Locator != nil {
		asked = t.Locator.String()
	}
	p.w.tell("asks for %s %s", address, asked)
	p.w.step(p, "dial", address, asked, true)
	p.mu.Lock()
	allowed := p.allowed[address]
	p.mu.Unlock()
	if !allowed {
		p.w.breaks("the policy was not asked about %s", address)
	}
	if p.killed() {
		return nil, syscall.ENETDOWN
	}
	if _, refused := p.w.take(func(e Event) bool { return e.Kind == "refuse" }); refused {
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	mem, err := p.w.net.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: mem, p: p, to: address}
	c.mem, _ = mem.(*memnet.Conn)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[address]++
	// A call that a jump holds up cannot be ended, so the connection of an access that has taken another
	// session meanwhile stays open. The system's would be closed at once.
	if limit := p.w.limit(); p.w.isServer(address) && limit > 0 && p.open[address] > limit && p.w.jumps.Load() == 0 {
		p.w.breaks("%d connections to %s, although the limit is %d", p.open[address], address, limit)
	}
	if c.mem == nil {
		return c, nil
	}
	p.conns = append(p.conns, c)
	return stream{c}, nil
}

// A conn is a connection or a socket of a process.
type conn struct {
	net.Conn
	p      *process
	mem    *memnet.Conn // nil for datagrams
	to     string
	until  time.Time // the time limit of reads
	closed bool
	left   bool // it no longer counts
}

// Read implements net.Conn. What has arrived is read a little later, when it is certain that
// nothing else arrives at the same time.
func (c *conn) Read(b []byte) (int, error) {
	if c.mem == nil {
		n, err := c.Conn.Read(b)
		c.p.w.step(c.p, "read", c.to, c.LocalAddr().String(), true)
		return n, err
	}
	c.mem.Await()
	c.p.w.step(c.p, "read", c.to, c.LocalAddr().String(), true)
	e, ok := c.p.w.take(func(e Event) bool { return e.Kind == "cut" || e.Kind == "stall" || e.Kind == "half" })
	if ok && e.Kind == "stall" {
		c.stall(time.Duration(e.N%600) * time.Second)
	}
	n, err := c.mem.Read(b)
	c.p.w.tell("%.200q %v", b[:n], err)
	if ok && err == nil && e.Kind != "stall" {
		if e.Kind == "half" && n > 1 {
			n = 1 + e.N%(n-1)
		}
		_ = c.mem.Reset()
	}
	return n, err
}

// stall waits for a time, or until nobody waits for the read any more.
func (c *conn) stall(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
		c.p.mu.Lock()
		over := c.closed || !c.until.IsZero() && !time.Now().Before(c.until)
		c.p.mu.Unlock()
		if over {
			return
		}
	}
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.p.mu.Lock()
	c.until = t
	c.p.mu.Unlock()
	return c.Conn.SetReadDeadline(t)
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("QUIT\r\n")) {
		c.leave() // it ends while the next one may begin
	}
	c.p.w.tell("%.200q", b)
	c.p.w.step(c.p, "write", c.to, c.LocalAddr().String(), true)
	if _, ok := c.p.w.take(func(e Event) bool { return e.Kind == "lost" }); ok && c.mem != nil {
		n, _ := c.Conn.Write(b[:len(b)/2])
		_ = c.mem.Reset()
		return n, syscall.ECONNRESET
	}
	return c.Conn.Write(b)
}

// leave ends the counting of a connection.
func (c *conn) leave() {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if !c.left {
		c.p.open[c.to]--
	}
	c.left = true
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.leave()
	c.p.mu.Lock()
	c.closed = true
	c.p.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) isClosed() bool {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return c.closed
}

// stream is a conn with the methods of a *net.TCPConn.
type stream struct{ *conn }

func (s stream) CloseWrite() error       { return s.mem.CloseWrite() }
func (s stream) SetLinger(sec int) error { return s.mem.SetLinger(sec) }
func (s stream) Readable() bool          { return s.mem.Readable() }

var _ io.Writer = stream{}
