package driver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A Conn is the connection of a Fetcher to its server, for a protocol in which the client sends and
// then reads. It obeys the context and the Limits, and the Trace sees what is said on it:
//
//	c, err := env.Open(ctx, target)
//	if err != nil {
//		return nil, err
//	}
//	if _, err := io.WriteString(c, selector+"\r\n"); err != nil {
//		return nil, err
//	}
//	body, err := c.Body() // which the caller of Fetch closes
//
// Every error is an *[fetch.Error] that a Fetcher can return as it is, except the io.EOF of Read.
// It closes the connection; later calls fail. Close may be called at any time, and more than once.
// The other methods are for one goroutine at a time.
type Conn struct {
	ctx      context.Context
	loc      locator.Locator
	limits   fetch.Limits
	conn     *wire.Conn
	lines    *wire.LineReader
	answered bool // bytes have come since the last Write
}

// NewConn returns a Conn over conn, which [Env.Connect] has returned or which is TLS over such a
// one, for a request of l. From now on close the Conn, not conn.
func (e *Env) NewConn(ctx context.Context, l locator.Locator, conn net.Conn) *Conn {
	limits := e.Limits
	c := &Conn{ctx: ctx, loc: l, limits: limits, conn: wire.NewConn(ctx, conn, limits.Reply)}
	c.lines = wire.NewLineReader(awaited{c}, limits.Line)
	return c
}

// awaited reads from a Conn. The first bytes after a Write may take Limits.Reply, further ones
// Limits.Idle.
type awaited struct{ *Conn }

func (a awaited) Read(p []byte) (int, error) {
	n, err := a.conn.Read(p)
	if n > 0 && !a.answered {
		a.answered = true
		a.conn.SetTimeout(a.limits.Idle)
	}
	return n, err
}

// Write sends p, within Limits.Reply. It calls the Sent hook of the Trace, with the arguments of
// PASS, ACCT and AUTHINFO PASS and the values of header fields with logins masked. A server may
// take the first packet for the whole request, so send a request in one call.
func (c *Conn) Write(p []byte) (int, error) {
	c.answered = false
	c.conn.SetTimeout(c.limits.Reply)
	n, err := c.conn.Write(p)
	if err != nil {
		return n, c.fail(fetch.OpSend, err)
	}
	ContextTrace(c.ctx).Sent([]byte(wire.Masked(string(p))))
	return n, nil
}

// ReadLine returns the next line without its LF or CR LF, and calls the Received hook of the Trace
// with all of it. It waits for the first byte after a Write, or of a greeting, within Limits.Reply,
// and for each further one within Limits.Idle. A line of more than Limits.Line bytes is an error of
// kind [fetch.ErrTooLarge]. If the server closes the connection, that is an error too: of kind
// [fetch.ErrTruncated] within a line, and [fetch.ErrConnectionFailed] before one.
func (c *Conn) ReadLine() (string, error) {
	line, err := c.lines.ReadLine()
	if err == nil && line[len(line)-1] != '\n' {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", c.fail(fetch.OpRead, err)
	}
	ContextTrace(c.ctx).Received(line)
	return string(wire.TrimEOL(line)), nil
}

// Read reads what follows the last line, within the same limits. At the end of the connection it
// returns io.EOF; whether that is the end of the document is for the protocol to say. It calls no
// hook. It is for a reader of the protocol's framing, which is passed to [NewBody] together with c.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.lines.Read(p)
	if err != nil && err != io.EOF {
		err = c.fail(fetch.OpRead, err)
	}
	return n, err
}

// Body waits for the first byte after the last Write or line, and returns a Body that ends where
// the server closes the connection: see [NewBody]. Its limit is Limits.Body. Closing it closes c.
func (c *Conn) Body() (io.ReadCloser, error) {
	if err := c.lines.Fill(); err != nil && err != io.EOF {
		return nil, c.fail(fetch.OpRead, err)
	}
	return NewBody(c.ctx, c.loc, c, c, c.limits.Body), nil
}

// Peer returns the address of the server, for [fetch.Resource.Peer]. Through a proxy it is invalid.
func (c *Conn) Peer() netip.AddrPort { return AddrPort(c.conn.RemoteAddr()) }

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// fail closes the connection and returns the error of op.
func (c *Conn) fail(op fetch.Op, err error) error {
	c.conn.Close()
	kind := fetch.ErrOther
	if errors.Is(err, wire.ErrLineTooLong) {
		kind = fetch.ErrTooLarge
	}
	return Fail(op, c.loc, kind, err)
}
