package exchange

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

const (
	readSize = 16 << 10 // a small document arrives together with its head
	idleTime = 90 * time.Second
)

// conn is a connection that speaks HTTP/1.1 (RFC 9112). It serves one exchange at a time.
type conn struct {
	*wire.Conn          // above TLS
	below      net.Conn // below TLS
	in         *bufio.Reader
	about      fetch.Connection
	peer       netip.AddrPort // the server's; invalid through a proxy
	tls        *tls.ConnectionState

	ex      *Exchange // the current one, or the last one
	release func()    // gives the connection back
	sending *sending  // its request; nil before the first one
	heard   bool      // bytes of a response to it have arrived
	failed  error     // why there is no response to it
	keeps   bool      // the response is complete, and another may follow
}

// acking is a connection that acknowledges at once what comes in small pieces: the server may wait for
// that before it sends the next one. A Conn alone would do so after a pause, for which each read needs a
// timer.
type acking struct{ *wire.Conn }

// piece is how much of a response a server may send before it waits.
const piece = 4 << 10

func (c acking) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && n < piece {
		wire.QuickAck(c.Conn.Conn)
	}
	return n, err
}

// Permit implements session.Session.
func (c *conn) Permit(ctx context.Context, ex *Exchange) error {
	return talk.PermitReuse(ctx, ex.Env, ex.target(), c.peer)
}

// Resume implements session.Session.
func (c *conn) Resume(_ context.Context, ex *Exchange) {
	ex.Hooks.Call(func(t *fetch.Trace) { t.Reused(c.about) })
}

// Rest implements session.Session. It keeps nothing of the exchange, which may have a large body.
func (c *conn) Rest() {
	c.SetContext(context.Background())
	c.ex, c.sending, c.release = nil, nil, nil
}

// glance is how long a read looks for bytes on an idle connection where the system does not tell.
const glance = time.Millisecond

// Waiting implements session.Session. TLS may have bytes that it has read before.
func (c *conn) Waiting() bool {
	waiting, known := wire.Look(c.below)
	if waiting || known && c.tls == nil {
		return waiting
	}
	until := time.Unix(1, 0) // in the past: only for what TLS has read already
	if !known {
		until = time.Now().Add(glance)
	}
	if err := c.Conn.Conn.SetReadDeadline(until); err != nil {
		return true
	}
	n, err := c.Conn.Conn.Read(make([]byte, 1))
	return n > 0 || !errors.Is(err, os.ErrDeadlineExceeded)
}

// Reusable implements session.Session. Bytes behind a response are never taken for the next one.
func (c *conn) Reusable() bool { return c.keeps && c.in.Buffered() == 0 && c.sending.complete() }

// Stale implements session.Session. The request is sent again if that does no harm.
func (c *conn) Stale() bool { return !c.heard && c.ex.stale(c.sending.r, c.failed) }

// stale reports whether err can be that of a connection that the server has closed before the exchange
// began, and the request may be sent again.
func (ex *Exchange) stale(r *http.Request, err error) bool {
	return fetch.KindOf(err) == fetch.ErrConnectionFailed && Idempotent(r.Method) && ex.Body.CanResend()
}

// End implements session.Session.
func (c *conn) End() { c.Drop() }

// Drop implements session.Session.
func (c *conn) Drop() {
	if c.sending != nil {
		c.sending.cancel()
	}
	_ = c.Close() // no exchange waits for the result
}

// exchange sends a request, and reads the head of the response. The caller then calls receive.
func (c *conn) exchange(ex *Exchange, r *http.Request) (resp *http.Response, err error) {
	c.ex, c.heard, c.keeps = ex, false, false
	c.SetTimeout(ex.Env.Limits.Idle)
	defer func() { c.failed = err }()
	if c.sending, err = ex.send(c.Conn, r); err != nil {
		return nil, err
	}
	h, err := c.readHead()
	if err != nil {
		return nil, err
	}
	resp, err = h.parse(r, ex.IgnoreLength)
	c.sending.answer(resp)
	ex.HTTP2, ex.Head, ex.Peer, ex.TLS = false, h.octets, c.peer, c.tls
	ex.answered()
	return resp, err
}

// readHead reads heads up to that of the final response.
func (c *conn) readHead() (*head, error) {
	h := &head{limits: &c.ex.Env.Limits}
	for {
		err := h.read(c.in)
		c.heard = c.heard || len(h.octets) > 0
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && c.sending.ctx.Err() == nil:
			// Limits.Idle does not apply: see sending.reply.
		case err != nil:
			return nil, c.explain(h, err)
		case !h.isInterim():
			c.ex.Hooks.Call(func(t *fetch.Trace) { t.Received(h.octets) })
			return h, nil
		default:
			c.ex.Hooks.Call(func(t *fetch.Trace) { t.Received(h.octets) })
			c.sending.proceed()
			h.octets = nil
		}
	}
}

// explain returns the error of a head that could not be read.
func (c *conn) explain(h *head, err error) error {
	switch {
	case len(h.octets) > 0 && !startsAsHTTP(h.octets):
		return &fetch.Error{Kind: fetch.ErrProtocol, Err: notHTTP(c.ex.Hooks, h.octets)}
	case err == io.EOF && c.heard:
		return &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: io.ErrUnexpectedEOF}
	case err == io.EOF: // the system reports a reset connection only once, and that may have been to Write
		if failed := c.sending.failure(); failed != nil {
			return failed
		}
	}
	return err
}

// receive makes what follows the head the body of the response.
func (c *conn) receive(resp *http.Response) {
	hooks := c.ex.Hooks
	from, ends := bodyOf(c.in, resp, func(trailer []byte) { hooks.Call(func(t *fetch.Trace) { t.Received(trailer) }) })
	final := resp.StatusCode >= 200 // behind another one, what follows is not HTTP
	b := &received{conn: c, from: from, ends: ends && final && !resp.Close && !resp.Request.Close}
	resp.Body = b
	if from == http.NoBody {
		b.end(io.EOF)
	}
}

// received is the body of a response. At its end it releases the connection. Close may be called
// during a Read.
type received struct {
	conn *conn
	from io.Reader // the body without framing
	ends bool      // another response may follow

	mu  sync.Mutex
	err error // what every further Read returns
}

// Read implements io.Reader.
func (b *received) Read(p []byte) (int, error) {
	if err := b.ended(); err != nil {
		return 0, err
	}
	n, err := b.from.Read(p)
	if err != nil {
		b.end(err)
	}
	return n, err
}

// ended returns the error of the end; nil before it.
func (b *received) ended() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// end releases the connection.
func (b *received) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
		b.conn.keeps = b.ends && err == io.EOF
		b.conn.release()
	}
}

// Close implements io.Closer. It drops a connection that still has data to come, because reading the
// rest may take forever.
func (b *received) Close() error {
	b.end(http.ErrBodyReadAfterClose)
	return nil
}
