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

// piece is what a server may send of an answer before it waits for an acknowledgement.
const piece = 4 << 10

// conn is a connection of the transport's, above TLS. It shows what goes over
// it to the exchange at hand, and lets no octet of an exchange out that the
// policy would not have connected to this peer.
type conn struct {
	net.Conn
	about fetch.Connection
	peer  netip.AddrPort // the server's; invalid by a proxy
	via   string         // the proxy
	stall time.Duration  // how long a write may get no further; 0 is for ever

	mu      sync.Mutex
	of      *exchange // the one it was dialled for
	ex      *exchange // the one at hand; nil between two
	asked   bool      // its request is on the way
	used    bool      // there has been a request, or what came without one
	refused error
	body    *attempt // what the exchange sends
	early   []byte   // came, but not as part of what was read so far
	mended  []byte   // to be read before anything else
	lost    error    // why the server takes no more
	broken  error    // why nothing more comes from it
	closed  bool
}

// begin readies c for an exchange. The policy is asked again if c was dialled
// for another one: that may have come from somebody who may go further.
func (c *conn) begin(ex *exchange, reused bool) {
	ex.start(c)
	var refused error
	if c.of != ex {
		refused = c.permit(ex)
	}
	c.mu.Lock()
	if len(c.early) > 0 || len(c.mended) > 0 || c.lost != nil {
		refused = errors.New("the connection cannot be used again")
	}
	c.ex, c.asked, c.refused, c.body = ex, false, refused, ex.call.upload.latest()
	c.mu.Unlock()
	if reused && refused == nil {
		ex.call.trace.Reused(c.about)
	}
}

func (c *conn) permit(ex *exchange) error {
	if c.via != ex.via() {
		return errors.New("the connection goes another way")
	}
	env, t := &ex.call.env, ex.target()
	if err := env.Permit(ex.call.ctx, t); err != nil || !c.peer.IsValid() {
		return err
	}
	t.Addr = c.peer
	return env.Permit(ex.call.ctx, t)
}

// end is called when c waits for its next exchange.
func (c *conn) end(ex *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ex == ex {
		c.ex = nil
	}
}

// ask is the exchange that is to send a request, or why it must not.
func (c *conn) ask() (*exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = c.refused == nil
	c.used = c.used || c.asked
	return c.ex, c.refused
}

// Write implements net.Conn. A refused exchange fails before its first octet;
// the transport then dials a connection for it, if it can still send it, and
// the policy decides about that.
//
// A server may answer before it has read a body, and close: the answer counts.
// So when it takes no more of a body, that is lost in silence, and it is for
// Read to tell whether there is an answer.
func (c *conn) Write(p []byte) (int, error) {
	ex, refused := c.ask()
	switch {
	case refused != nil:
		return 0, refused
	case c.deaf():
		return c.lose(p)
	}
	ex.sends(c, p)
	n, err := c.write(p)
	ex.sent(c, len(p)-n)
	if err != nil && ex.headSent() && fetch.KindOf(err) == fetch.ErrConnectionFailed {
		c.mu.Lock()
		c.lost = err
		c.mu.Unlock()
		return c.lose(p)
	}
	return n, err
}

// write fails when it gets no further for too long.
func (c *conn) write(p []byte) (int, error) {
	if c.stall > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// deaf reports whether the server takes no more.
func (c *conn) deaf() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost != nil
}

// lose takes octets until c is closed.
func (c *conn) lose(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed && c.broken != nil:
		return 0, c.broken // what Read failed with says more
	case c.closed:
		return 0, net.ErrClosed
	}
	return len(p), nil
}

// breakOff is the error of a Read. Where a server has broken a connection for what
// it was sent, the system tells so once, and that may have been in Write.
func (c *conn) breakOff(err error, answered bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == io.EOF && c.lost != nil && !answered {
		err = c.lost
	}
	if c.broken == nil && err != io.EOF {
		c.broken = err
	}
	return err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.body.leave() // the transport waits for whoever reads it
	c.mu.Unlock()
	return c.Conn.Close()
}

// Read implements net.Conn. It gives the octets of one answer only: whatever
// else comes ends the connection, and is never taken for the next answer.
func (c *conn) Read(p []byte) (int, error) {
	if n := c.takeMended(p); n > 0 {
		return n, nil
	}
	n, ex := c.kept(p)
	var err error
	if n == 0 {
		if n, err = c.Conn.Read(p); n < min(len(p), piece) {
			wire.QuickAck(c.Conn) // the server may wait with the next piece
		}
		ex = c.expecting()
	}
	switch {
	case n == 0:
		return 0, c.breakOff(err, ex == nil || ex.answered())
	case ex == nil:
		return 0, c.spokeFirst(p[:n])
	}
	take, bad := ex.receive(c, p[:n])
	if take < n {
		c.keep(p[take:n])
		err = nil
	}
	switch {
	case bad != nil:
		return 0, bad
	case take == 0:
		return 0, io.EOF
	}
	if bare := ex.bareLines(); len(bare) > 0 {
		return c.mend(p, take, bare), nil
	}
	return take, err
}

// spokeFirst is the error of octets that no request has asked for. Those over a
// new connection are the greeting of a server of another protocol.
func (c *conn) spokeFirst(octets []byte) error {
	c.mu.Lock()
	of, isNew := c.of, !c.used && !c.asked
	c.used = true
	c.mu.Unlock()
	if !isNew || startsAsHTTP(octets) {
		return io.EOF
	}
	return fetch.Fail(of.call.method, of.hop.locator, fetch.ErrProtocol, of.notHTTP(octets))
}

// mend puts a CR before each line end in p[:n] that is an LF alone, as net/http
// wants it. What has no room in p is read next.
func (c *conn) mend(p []byte, n int, bare []int) int {
	mended := make([]byte, 0, n+len(bare))
	at := 0
	for _, end := range bare {
		mended = append(append(mended, p[at:end]...), '\r')
		at = end
	}
	mended = append(mended, p[at:n]...)
	n = copy(p, mended)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mended = mended[n:]
	return n
}

// takeMended reads what mend has left.
func (c *conn) takeMended(p []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(p, c.mended)
	c.mended = c.mended[n:]
	return n
}

// expecting is the exchange that an answer may come for; nil if there is none.
func (c *conn) expecting() *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		return nil
	}
	return c.ex
}

// kept gives what came before it was wanted, to the exchange that it came for.
func (c *conn) kept(p []byte) (int, *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(p, c.early)
	if c.ex == nil || !c.asked {
		return n, nil
	}
	c.early = c.early[n:]
	return n, c.ex
}

func (c *conn) keep(octets []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early = append(bytes.Clone(octets), c.early...)
}
