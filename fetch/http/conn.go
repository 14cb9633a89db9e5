package http

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// piece is how much of a response a server may send before it waits for an acknowledgement.
const piece = 4 << 10

// conn is a connection of the transport, above TLS. It reports the traffic to the current exchange.
// It sends nothing for an exchange whose policy would not have permitted a connection to this peer.
type conn struct {
	net.Conn
	about fetch.Connection
	peer  netip.AddrPort // the server's; invalid through a proxy
	via   string         // the proxy
	stall time.Duration  // how long a write may make no progress; 0 means no limit

	mu       sync.Mutex
	of       *exchange // the one that dialed c
	ex       *exchange // the current one; nil between two
	asked    bool      // ex has begun to send its request
	used     bool      // a request was sent, or data arrived without one
	refused  error
	body     *attempt     // the request body that ex sends
	early    bytes.Buffer // received, but not yet part of a response
	mended   []byte       // a head, or output of addCRs, that Read returns first
	writeErr error        // the write error after which nothing more is sent
	readErr  error        // the first read error
	closed   bool
}

// begin prepares c for an exchange. If c was dialed for another exchange, it asks the policy again:
// the other may have had wider permissions.
func (c *conn) begin(ex *exchange, reused bool) {
	ex.start(c)
	var refused error
	if c.of != ex {
		refused = c.permit(ex)
	}
	c.mu.Lock()
	if c.early.Len() > 0 || len(c.mended) > 0 || c.writeErr != nil {
		refused = errors.New("the connection cannot be used again")
	}
	c.ex, c.asked, c.refused, c.body = ex, false, refused, ex.call.upload.latest()
	c.mu.Unlock()
	if reused && refused == nil {
		ex.call.hooks.call(func(t *fetch.Trace) { t.Reused(c.about) })
	}
}

// permit returns an error unless an exchange may use the connection: it requires the same proxy and
// the permission of the policy.
func (c *conn) permit(ex *exchange) error {
	if c.via != ex.via() {
		return errors.New("the connection uses a different proxy")
	}
	env, t := &ex.call.env, ex.target()
	if err := env.Permit(ex.call.ctx, t); err != nil || !c.peer.IsValid() {
		return err
	}
	t.Addr = c.peer
	return env.Permit(ex.call.ctx, t)
}

// end is called when c becomes idle.
func (c *conn) end(ex *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ex == ex {
		c.ex = nil
	}
}

// ask returns the exchange that is about to send a request, or the reason why it must not.
func (c *conn) ask() (*exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = c.refused == nil
	c.used = c.used || c.asked
	return c.ex, c.refused
}

// Write implements net.Conn. A refused exchange fails before its first byte. If the request can
// still be sent, the transport then dials another connection, about which the policy decides.
//
// A server may respond and close before it has read the whole body. That response counts. So an
// error while sending a body is not reported here: the rest of the body is discarded, and Read
// finds out whether there is a response.
func (c *conn) Write(p []byte) (int, error) {
	ex, refused := c.ask()
	switch {
	case refused != nil:
		return 0, refused
	case c.writeFailed():
		return c.discard(p)
	}
	p = ex.versioned(c, p)
	ex.recordHead(c, p)
	n, err := c.write(p)
	ex.sent(c, len(p)-n)
	if err != nil && ex.headSent() && fetch.KindOf(err) == fetch.ErrConnectionFailed {
		c.mu.Lock()
		c.writeErr = err
		c.mu.Unlock()
		return c.discard(p)
	}
	return n, err
}

// write fails if it makes no progress for c.stall.
func (c *conn) write(p []byte) (int, error) {
	if c.stall > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// writeFailed reports whether an earlier write failed.
func (c *conn) writeFailed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeErr != nil
}

// discard discards p until c is closed.
func (c *conn) discard(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed && c.readErr != nil:
		return 0, c.readErr // more specific than net.ErrClosed
	case c.closed:
		return 0, net.ErrClosed
	}
	return len(p), nil
}

// breakOff returns the error of a failed Read. The operating system reports a reset connection only
// once, and that may have been to Write.
func (c *conn) breakOff(err error, answered bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == io.EOF && c.writeErr != nil && !answered {
		err = c.writeErr
	}
	if c.readErr == nil && err != io.EOF {
		c.readErr = err
	}
	return err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.body.cancel() // the transport waits until its Read returns
	c.mu.Unlock()
	return c.Conn.Close()
}

// Read implements net.Conn. It returns the bytes of one response only. Anything behind them ends
// the connection, and is never taken for the next response.
func (c *conn) Read(p []byte) (int, error) {
	for {
		if n := c.readMended(p); n > 0 {
			return n, nil
		}
		if n, held, err := c.readOnce(p); !held {
			return n, err
		}
	}
}

// readOnce reads for Read. If the bytes are in a head, those that Read returns instead are in
// c.mended.
func (c *conn) readOnce(p []byte) (n int, held bool, err error) {
	n, ex := c.readEarly(p)
	isNew := n == 0
	if isNew {
		if n, err = c.next(p); n < min(len(p), piece) {
			wire.QuickAck(c.Conn) // the server may wait before it sends the next piece
		}
		ex = c.expecting()
	}
	switch {
	case n == 0:
		return copy(p, ex.breakOff(c)), false, c.breakOff(err, ex == nil || ex.answered())
	case ex == nil:
		return 0, false, c.unsolicited(p[:n])
	}
	take, inHead, instead, bad := ex.receive(c, p[:n])
	switch {
	case !isNew:
		c.dropEarly(take)
	case take < n:
		c.keepEarly(p[take:n])
		err = nil
	}
	switch {
	case bad != nil:
		return copy(p, instead), false, bad
	case take == 0:
		return 0, false, io.EOF
	case inHead:
		c.mend(instead)
		return 0, true, nil
	}
	if bare := ex.bareLines(); len(bare) > 0 {
		return c.addCRs(p, take, bare), false, nil
	}
	return take, false, err
}

// next reads into p, or into the file that is lent for it.
func (c *conn) next(p []byte) (int, error) {
	if ex := c.expecting(); ex != nil {
		if l := ex.borrowed(c, p); l != nil {
			if n, err := l.read(c.Conn, p); n > 0 || err != nil {
				return n, err
			}
		}
	}
	return c.Conn.Read(p)
}

// unsolicited returns the error of data that arrives without a request. On a new connection, that
// is the greeting of a server of another protocol.
func (c *conn) unsolicited(octets []byte) error {
	c.mu.Lock()
	of, isNew := c.of, !c.used && !c.asked
	c.used = true
	c.mu.Unlock()
	if !isNew || startsAsHTTP(octets) {
		return io.EOF
	}
	return fetch.Fail(of.call.method, of.hop.locator, fetch.ErrProtocol, of.notHTTP(octets))
}

// addCRs puts a CR before each bare LF in p[:n], because net/http requires CR LF. What does not fit
// into p is returned by the next Read.
func (c *conn) addCRs(p []byte, n int, bare []int) int {
	mended := make([]byte, 0, n+len(bare))
	at := 0
	for _, end := range bare {
		mended = append(append(mended, p[at:end]...), '\r')
		at = end
	}
	mended = append(mended, p[at:n]...)
	n = copy(p, mended)
	c.mend(mended[n:])
	return n
}

// mend makes Read return octets next.
func (c *conn) mend(octets []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mended = octets
}

// readMended copies the first of the bytes that Read returns next.
func (c *conn) readMended(p []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(p, c.mended)
	c.mended = c.mended[n:]
	return n
}

// expecting returns the exchange whose response may arrive; nil if there is no such exchange.
func (c *conn) expecting() *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		return nil
	}
	return c.ex
}

// readEarly copies data that arrived early, and returns the exchange that it belongs to. It stays
// until it is taken.
func (c *conn) readEarly(p []byte) (int, *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(p, c.early.Bytes())
	if !c.asked {
		return n, nil
	}
	return n, c.ex
}

// dropEarly removes the first n bytes that arrived early.
func (c *conn) dropEarly(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early.Next(n)
}

// keepEarly appends bytes that arrived early.
func (c *conn) keepEarly(octets []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early.Write(octets)
}
