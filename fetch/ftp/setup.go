package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A dataSetup is what happens before a data connection can be used: the server connects, the TLS
// handshake runs, or both. This happens once the command of the transfer has been sent: some servers do it
// before their first reply and others after it, and pyftpdlib closes a connection on which data
// arrives before the command.
type dataSetup struct {
	private  bool // TLS is required
	cancel   context.CancelFunc
	admitted chan struct{} // closed when the server has connected, or failed to
	done     chan struct{} // closed when the setup has ended
	raw      net.Conn      // set when admitted is closed
	conn     net.Conn      // set when done is closed: raw, or TLS over it
	err      error
}

// startSetup starts to set up the data connection, if necessary.
func (t transfer) startSetup() {
	if t.data.listener == nil && !t.private {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	c := &dataSetup{private: t.private, cancel: cancel, admitted: make(chan struct{}), done: make(chan struct{}), raw: t.data.raw}
	t.data.setup = c
	go func(l net.Listener) {
		defer close(c.done)
		if l != nil {
			c.raw, c.err = admit(l, t.peer.Addr())
		}
		close(c.admitted)
		c.conn = c.raw
		if c.err == nil && c.private {
			c.conn, c.err = t.handshake(ctx, c.raw)
		}
	}(t.data.listener)
}

// begin waits until the data connection is set up, after the first reply to the transfer.
func (t transfer) begin() error {
	d := t.data
	if d.port != 0 {
		if err := t.connectLater(); err != nil {
			return t.ctl.Fail(err)
		}
	}
	if c := d.setup; c != nil {
		if err := t.await(c); err != nil {
			return err
		}
		if d.listener != nil {
			d.closePort()
			t.ctl.Trace.Connected(fetch.Connection{
				Network: "tcp", Purpose: fetch.PurposeData, Host: t.access.loc.Host,
				Local: driver.AddrPort(c.raw.LocalAddr()), Remote: driver.AddrPort(c.raw.RemoteAddr()),
			})
		}
		c.cancel()
		d.raw, d.secured = c.raw, c.conn != c.raw
		d.use(c.conn)
		return nil
	}
	d.use(d.raw)
	return nil
}

// await waits for a data connection; its time limits start now. It reads the reply of a server that
// says meanwhile that the transfer has failed, such as that it cannot connect.
func (t transfer) await(c *dataSetup) error {
	op, err := fetch.OpTLS, error(nil)
	if t.data.listener != nil {
		err = t.data.await(c.admitted, "the server has not connected", t.access.limits.Connect)
		if err == nil && c.raw == nil {
			err = c.err
		}
		if err != nil {
			op = fetch.OpAccept
		}
	}
	if err == nil {
		err = t.data.await(c.done, "no TLS handshake", t.access.limits.Connect, t.access.limits.Reply)
	}
	broken := err == nil
	switch {
	case broken && (c.err == nil || t.data.localError() != nil || !explains(t.ctl)):
		return c.err
	case !broken && err != errFailing:
		return driver.Fail(op, nil, fetch.ErrOther, err)
	}
	r, err := t.ctl.receiveFinal()
	t.ctl.phase = commanding
	err = t.check(r, false, err)
	switch e, _ := errors.AsType[*fetch.Error](err); {
	case broken && e != nil:
		e.Kind = fetch.ErrConnectionFailed
	case op == fetch.OpAccept && e != nil && e.Code == 425:
		e.Op = op
	}
	return err
}

// explains reports whether a negative reply says why the data connection has broken. It may come a
// little later.
func explains(c *control) bool {
	return c.phase == transferring && c.Await(lookInterval) && c.isOver(negative)
}

// await waits until c is closed, within limits. It returns errFailing if the transfer has failed.
func (d *dataConn) await(c <-chan struct{}, awaited string, limits ...time.Duration) error {
	ctx, cancel := wire.Within(d.ctx, awaited, limits...)
	defer cancel()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for failing := false; ; {
		select {
		case <-c:
			return nil
		case <-ctx.Done():
			return wire.Ended(ctx)
		case <-ticker.C:
			if failing {
				return errFailing
			}
			if end, ok := ctx.Deadline(); !ok || time.Until(end) >= lookInterval {
				failing = d.ctl.isOver(negative)
			}
		}
	}
}

// stop ends the setup. The caller has closed the port, if any.
func (c *dataSetup) stop() {
	<-c.admitted
	if c.raw != nil {
		_ = c.raw.Close() // not c.cancel(), which would hide the cause of a failed handshake
	}
	<-c.done
	c.cancel()
}

// localError returns the error that the client found during the setup, such as a bad
// certificate, which is more specific than the server's reply. It returns nil if the
// server closed the connection.
func (d *dataConn) localError() error {
	var broken *net.OpError
	switch c := d.setup; {
	case c == nil, errors.Is(c.err, context.Canceled), errors.Is(c.err, net.ErrClosed), errors.Is(c.err, io.ErrUnexpectedEOF), errors.As(c.err, &broken):
		return nil
	default:
		return c.err
	}
}

// explain adds ErrNotResumed to err, with which a transfer ended before its first byte, if that is
// the likely cause. ProFTPD replies 425 then, vsftpd 522.
func (d *dataConn) explain(err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	if ok && (e.Code == 425 || e.Code == 522 || e.Code == 0 && e.Kind == fetch.ErrTruncated) && d.newTLSSession() {
		e.Err = ErrNotResumed
	}
	return err
}

// newTLSSession reports whether the connection has a TLS session that was not resumed. The
// reply may arrive before the client's handshake has ended, so it waits for that.
func (d *dataConn) newTLSSession() bool {
	c := d.setup
	if c == nil || !c.private {
		return false
	}
	select {
	case <-c.admitted:
	default:
		return false // the server has not connected
	}
	select {
	case <-c.done:
		secure, ok := c.conn.(*tls.Conn)
		return ok && !secure.ConnectionState().DidResume
	case <-time.After(closeTime):
		return false
	}
}
