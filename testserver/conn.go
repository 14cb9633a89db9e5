package testserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// conn is an accepted connection. What is written to it passes the recorder and the faults armed at
// CONNECT; what is read is recorded too.
type conn struct {
	net.Conn
	srv      *Server
	plan     *plan     // armed at CONNECT
	out      io.Writer // leads to Conn, through the plan's faults and the recorder
	tap      *tap
	received *recorder
}

// These errors end a connection without a further reply.
var (
	errCut    = errors.New("testserver: truncated by a fault")
	errSilent = errors.New("testserver: silenced by a fault")
)

func newConn(s *Server, nc net.Conn, id int, p *plan) *conn {
	tap := &tap{to: nc, sent: recorder{script: &s.script, conn: id, from: FromServer}}
	return &conn{
		Conn: nc, srv: s, plan: p, tap: tap,
		out:      shape(s.ctx, tap, nc, &p.octets),
		received: &recorder{script: &s.script, conn: id, from: FromClient},
	}
}

// tap records what is written to the control connection and passes it on.
type tap struct {
	to   io.Writer
	sent recorder
	mute bool // do not record: a document goes over the same connection
}

func (t *tap) Write(p []byte) (int, error) {
	if !t.mute {
		_, _ = t.sent.Write(p)
	}
	return t.to.Write(p)
}

// open applies the faults armed at CONNECT. It returns false if the connection is over.
func (c *conn) open() bool {
	if err := c.preempt(c.plan); err != nil {
		if errors.Is(err, errSilent) {
			c.wait()
		}
		return false
	}
	if c.plan.endAtOnce(c.Conn) {
		return false
	}
	if c.plan.reply != nil {
		_, _ = c.Write([]byte(replyOctets(*c.plan.reply)))
		return false
	}
	return true
}

// Read waits for the client, but not longer than IdleTimeout.
func (c *conn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.srv.IdleTimeout))
	return c.Conn.Read(p)
}

// Write sends bytes of the control connection. The bytes that are really sent are recorded.
func (c *conn) Write(p []byte) (int, error) { return c.out.Write(p) }

// body returns a writer for a document on this connection. Documents are not recorded.
func (c *conn) body() io.Writer {
	c.tap.mute = true
	if c.plan.any() {
		return c.out
	}
	return c.Conn // the kernel may splice into it
}

// preempt applies the faults of p that come before an answer or instead of one. An error means that
// no answer must be sent. The error is errSilent if the connection must stay open nevertheless.
func (c *conn) preempt(p *plan) error {
	for _, come := range p.gather {
		select {
		case <-come:
		case <-c.srv.ctx.Done():
			return c.srv.ctx.Err()
		}
	}
	if err := sleep(c.srv.ctx, p.delay); err != nil {
		return err
	}
	switch {
	case p.silence:
		return errSilent
	case p.close:
		endConn(c.Conn, false)
		return errCut
	case p.endless:
		return endlessLine(c)
	}
	return nil
}

// endlessLine writes a line without end until the client closes the connection.
func endlessLine(w io.Writer) error {
	chunk := bytes.Repeat([]byte{'a'}, 4<<10)
	for {
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
}

// answer sends a reply with the faults of p.
func (c *conn) answer(p *plan, reply string) error {
	out := io.Writer(c)
	if p.any() {
		out = shape(c.srv.ctx, c, c.Conn, &p.octets)
	}
	text := replyOctets(reply)
	if p.extra != nil {
		more := *p.extra
		if more == "" {
			more = reply
		}
		text += replyOctets(more)
	}
	_, err := io.WriteString(out, text)
	return err
}

// wait reads and records until the client or the server ends.
func (c *conn) wait() {
	_ = c.SetReadDeadline(time.Time{})
	_, _ = io.Copy(c.received, c.Conn)
	c.received.end()
}

// linger closes in order: it gives the client time to read what was sent. Closing with unread bytes
// from the client would destroy that.
func (c *conn) linger() {
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok && cw.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.Conn, 1<<20)
	}
	_ = c.Close()
}

// endConn closes the sending side of nc, or resets nc. It leaves the close to the owner of nc:
// closing with unread bytes from the client also resets the connection, and the client could lose
// what was sent before.
func endConn(nc net.Conn, reset bool) {
	if reset {
		if l, ok := nc.(interface{ SetLinger(sec int) error }); ok {
			_ = l.SetLinger(0)
		}
	} else if half, ok := nc.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = nc.Close()
}

// replyOctets returns a reply text as it is sent, with CR LF.
func replyOctets(text string) string {
	return strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
}

// shape returns a writer that applies the faults of o to what is written to out, which leads to nc.
// Pauses end with ctx.
func shape(ctx context.Context, out io.Writer, nc net.Conn, o *octets) io.Writer {
	if !o.any() {
		return out
	}
	return &shaper{octets: o, ctx: ctx, out: out, conn: nc}
}

type shaper struct {
	*octets
	ctx  context.Context
	out  io.Writer
	conn net.Conn
	sent int64
}

func (w *shaper) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if err := w.limit(); err != nil {
			return n, err
		}
		m, err := w.out.Write(w.garble(w.sent, w.next(p[n:])))
		n += m
		w.sent += int64(m)
		if err != nil {
			return n, err
		}
		if err := sleep(w.ctx, w.pause); err != nil {
			return n, err
		}
	}
	return n, w.limit()
}

// next returns the part of p to send in one write.
func (w *shaper) next(p []byte) []byte {
	if w.step > 0 {
		p = p[:min(w.step, len(p))]
	}
	if w.cut {
		p = p[:min(w.cutAt-w.sent, int64(len(p)))]
	}
	return p
}

// endAtOnce ends nc if it must be truncated before the first byte.
func (o *octets) endAtOnce(nc net.Conn) bool {
	if !o.cut || o.cutAt > 0 {
		return false
	}
	endConn(nc, o.reset)
	return true
}

// limit ends the connection after the last byte allowed.
func (w *shaper) limit() error {
	if !w.cut || w.sent < w.cutAt {
		return nil
	}
	endConn(w.conn, w.reset)
	return errCut
}
