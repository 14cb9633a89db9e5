package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// dataConn is a data connection. A wait for octets, or for room for them, is
// bounded by the idle limit. It can be used once the server has said that the
// transfer begins.
type dataConn struct {
	*wire.Conn          // nil until then
	raw        net.Conn // below TLS; nil as long as the server is to connect
	coming     *coming  // nil if raw is all there is to it
	secured    bool
	sent       bool // to its end
	idle       time.Duration
	once       sync.Once
}

// openData makes the data connection of the transfer that command begins, or asks
// the server to make it.
func (s *session) openData(command string) error {
	if s.ready {
		return nil
	}
	s.dropData()
	if s.access.active != nil {
		if err := s.invite(); err != nil {
			return err
		}
		s.data = &dataConn{idle: s.access.limits.Idle}
	} else {
		if err := s.announce(command); err != nil {
			return err
		}
		conn, err := s.passive()
		if err != nil {
			return err
		}
		s.data = &dataConn{raw: conn, idle: s.access.limits.Idle}
	}
	s.ready = true
	return nil
}

// announce tells the server which transfer is to come, if it wants to know.
func (s *session) announce(command string) error {
	if !s.access.opt.PRET {
		return nil
	}
	r, err := s.ctl.exchange("PRET " + command)
	if err == nil && r.Class() != 2 {
		return s.refused(r)
	}
	return s.failure(err)
}

// dropData closes the data connection, or the port for it.
func (s *session) dropData() {
	if s.data != nil {
		s.data.Close()
	}
	s.closePort()
	s.data, s.ready = nil, false
}

// coming is a data connection that is still to be made: the server connects to
// us, TLS is begun, or both. That happens beside the command of the transfer, as
// some servers do their part before their first reply and others after it.
type coming struct {
	private  bool // TLS is to be begun
	cancel   context.CancelFunc
	admitted chan struct{} // closed when the server has connected, or failed to
	done     chan struct{} // closed when all is over
	raw      net.Conn      // once admitted
	conn     net.Conn      // once done: raw, or TLS over it
	err      error
}

// expect begins to make the data connection.
func (s *session) expect() {
	if s.port == nil && !s.private {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	c := &coming{private: s.private, cancel: cancel, admitted: make(chan struct{}), done: make(chan struct{}), raw: s.data.raw}
	s.data.coming = c
	go func(l net.Listener) {
		defer close(c.done)
		if l != nil {
			c.raw, c.err = admit(l, s.peer.Addr())
		}
		close(c.admitted)
		c.conn = c.raw
		if c.err == nil && c.private {
			c.conn, c.err = s.handshake(ctx, c.raw)
		}
	}(s.port)
}

// begin makes the data connection ready when the server is.
func (s *session) begin() error {
	d := s.data
	if c := d.coming; c != nil {
		if err := s.await(c); err != nil {
			return err
		}
		if s.port != nil {
			s.closePort()
			s.ctl.Trace.Connected(fetch.Connection{
				Network: "tcp", Purpose: fetch.PurposeData, Host: s.access.loc.Host,
				Local: fetch.AddrPort(c.raw.LocalAddr()), Remote: fetch.AddrPort(c.raw.RemoteAddr()),
			})
		}
		c.cancel()
		d.raw, d.secured = c.raw, c.conn != c.raw
		d.open(s.ctx, c.conn)
		return nil
	}
	d.open(s.ctx, d.raw)
	return nil
}

// lookTime is how often the control connection is looked at while the server is
// to connect.
const lookTime = 50 * time.Millisecond

// await waits for a data connection, for which the limits begin now. A server that
// is to connect may also say that it will not.
func (s *session) await(c *coming) error {
	if s.port != nil {
		look := time.NewTicker(lookTime)
		defer look.Stop()
		err := s.wait(c.admitted, look.C, "the server has not connected", s.access.limits.Connect)
		if err == nil && c.raw == nil {
			err = c.err
		}
		if err != nil {
			return fetch.Fail(fetch.OpAccept, nil, fetch.ErrOther, err)
		}
	}
	if err := s.wait(c.done, nil, "no TLS handshake", s.access.limits.Connect, s.access.limits.Reply); err != nil {
		return fetch.Fail(fetch.OpTLS, nil, fetch.ErrOther, err)
	}
	return c.err
}

// wait waits for c to be closed, within limits.
func (s *session) wait(c <-chan struct{}, look <-chan time.Time, awaited string, limits ...time.Duration) error {
	ctx, cancel := wire.Within(s.ctx, awaited, limits...)
	defer cancel()
	for {
		select {
		case <-c:
			return nil
		case <-ctx.Done():
			return wire.Ended(ctx)
		case <-look:
			if err := s.ctl.meanwhile(); err != nil {
				return err
			}
		}
	}
}

// stop gives up what is still to come. The port, if there is one, is closed.
func (d *dataConn) stop() {
	c := d.coming
	if c == nil || d.Conn != nil {
		return
	}
	<-c.admitted
	if c.raw != nil {
		_ = c.raw.Close() // and not c.cancel(), which would hide why a handshake failed
	}
	<-c.done
	c.cancel()
}

// complaint is what our side found wrong with the server under TLS, such as its
// certificate; nil where it was the server that broke off. The server's reply
// then tells less.
func (d *dataConn) complaint() error {
	var broken *net.OpError
	switch c := d.coming; {
	case c == nil, errors.Is(c.err, context.Canceled), errors.Is(c.err, net.ErrClosed), errors.Is(c.err, io.ErrUnexpectedEOF), errors.As(c.err, &broken):
		return nil
	default:
		return c.err
	}
}

// refused is err, with which a transfer ended before its first octet, with what may
// be why.
func (d *dataConn) refused(err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	if ok && (e.Code == 425 || e.Code == 522 || e.Code == 0 && e.Kind == fetch.ErrTruncated) && d.fresh() {
		e.Err = ErrNotResumed
	}
	return err
}

// fresh reports whether the connection is under TLS in a session of its own. The
// reply may be here before the end of our side's handshake: it gets a moment.
func (d *dataConn) fresh() bool {
	c := d.coming
	if c == nil || !c.private {
		return false
	}
	select {
	case <-c.admitted:
	default:
		return false // the server has not even connected
	}
	select {
	case <-c.done:
		secure, ok := c.conn.(*tls.Conn)
		return ok && !secure.ConnectionState().DidResume
	case <-time.After(settleTime):
		return false
	}
}

// open makes conn, which is raw or TLS over it, what is read and written.
func (d *dataConn) open(ctx context.Context, conn net.Conn) {
	d.Conn = wire.NewConn(ctx, conn, d.idle)
}

// Close closes the connection. The library closes it too, and would take it ill
// to come second. What is still to come is left to stop: the library closes when
// the command is refused, and the handshake may tell why.
func (d *dataConn) Close() error {
	d.once.Do(func() { // what matters is the last reply
		switch {
		case d.Conn != nil:
			d.settle()
			_ = d.Conn.Close()
		case d.coming == nil && d.raw != nil:
			_ = d.raw.Close()
		}
	})
	return nil
}

// settleTime bounds the wait for a server to close its side.
const settleTime = 2 * time.Second

// settle ends what was sent under TLS and takes in what the server has sent, such
// as session tickets: to close over them would reset the connection, and the
// server lose the end of the file.
func (d *dataConn) settle() {
	secure, ok := d.Conn.Conn.(*tls.Conn)
	if !ok || !d.sent || secure.CloseWrite() != nil {
		return
	}
	if half, ok := d.raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	d.SetTimeout(settleTime)
	_, _ = io.CopyN(io.Discard, d.Conn, copySize)
}

// abort closes the connection so that the server cannot take it for the end of
// the file.
func (d *dataConn) abort() {
	if l, ok := d.raw.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = d.raw.Close() // before TLS can take its leave
	_ = d.Close()
}

// copySize is the buffer between a connection and whatever is not spliced.
const copySize = 128 << 10

// ReadFrom sends a file; the library's io.Copy calls it. When src fails the
// server is not to believe that it has the whole.
func (d *dataConn) ReadFrom(src io.Reader) (sent int64, err error) {
	buf := make([]byte, copySize)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			m, werr := d.Write(buf[:n])
			sent += int64(m)
			if werr != nil {
				return sent, werr
			}
		}
		if err == io.EOF {
			d.sent = true
			return sent, nil
		}
		if err != nil {
			d.abort()
			return sent, err
		}
	}
}
