package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A dataConn is a data connection, from the request for its port to its end. Reads and writes are subject
// to the idle limit. It can be used after the server's first reply to the command of the transfer.
type dataConn struct {
	*wire.Conn               // nil before the state used
	state      dataState     // changed by the session only
	origin     dataOrigin    // why it was there before its transfer
	port       uint16        // of the server, while it has not been connected to (passive mode)
	listener   net.Listener  // for the server, until it has connected (active mode)
	raw        net.Conn      // below TLS; nil until connected
	setup      *dataSetup    // nil if raw is used as it is
	secured    bool          // under TLS
	over       bool          // the server has said that the transfer has ended, and has left it open
	whole      func() bool   // reports whether all bytes that were announced have come; or nil
	sent       bool          // completely
	idle       time.Duration // the limit
	once       sync.Once

	// Of the transfer:
	ctx context.Context
	ctl *control
}

// A dataState is how far a data connection is.
type dataState uint8

const (
	dataAsked dataState = iota // a port is known to both sides
	dataOpen                   // it is connected
	dataUsed                   // the server has accepted a transfer
	dataEnded                  // it is closed
)

// A dataOrigin is what a data connection was made for.
type dataOrigin uint8

const (
	forTransfer dataOrigin = iota // its transfer
	leftOver                      // an earlier transfer, which was refused
	requested                     // the next transfer, during the one before
)

// isReady reports whether a transfer can be started with the connection.
func (d *dataConn) isReady() bool { return d != nil && d.state <= dataOpen }

// begun reports whether the server has accepted the transfer.
func (d *dataConn) begun() bool { return d != nil && d.Conn != nil }

// connected makes conn the connection to the port.
func (d *dataConn) connected(conn net.Conn) { d.raw, d.port, d.state = conn, 0, dataOpen }

// use starts the use of conn, which is raw or TLS over it.
func (d *dataConn) use(conn net.Conn) {
	d.Conn, d.state = wire.NewConn(d.ctx, conn, d.idle), dataUsed
}

// A server may say that a transfer has failed and leave its data connection open, or never use it.
// While nothing comes or goes there, the control connection is looked at each lookInterval. After a
// negative reply, the data connection gets one more interval, for what is still on its way; also after
// a positive one if all bytes that were announced have come, because a FIN can get lost.
const lookInterval = 500 * time.Millisecond

var errFailing = errors.New("the server has said that the transfer has failed")

// limit sets the time limit of a read before which nothing has come for a time: up to the next look
// at the control connection or, if that would be close to it, to the idle limit.
func (d *dataConn) limit(silent time.Duration) {
	next := lookInterval
	if left := d.idle - silent; d.idle > 0 && left < 2*lookInterval {
		next = max(1, left)
	}
	d.SetTimeout(next)
}

// Read implements io.Reader. If the server has said that the transfer has ended, the data end.
func (d *dataConn) Read(p []byte) (int, error) {
	for since := time.Now(); ; {
		d.limit(time.Since(since))
		n, err := d.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := d.look(since); err != nil {
			return 0, err
		}
	}
}

// look looks at the control connection when nothing has come for an interval, and since a time. If
// it returns nil, the wait continues. It returns io.EOF if the server has said before that interval
// that the transfer has ended: then its reply is the next one.
func (d *dataConn) look(since time.Time) error {
	if err := wire.Ended(d.ctx); err != nil {
		return err
	}
	if d.over {
		return io.EOF
	}
	if d.idle > 0 && time.Since(since) >= d.idle {
		d.SetTimeout(d.idle) // the limit that the error states
		return d.Cause(os.ErrDeadlineExceeded)
	}
	digits := negative
	if d.whole != nil && d.whole() {
		digits = anyFinal
	}
	d.over = d.ctl.isOver(digits)
	return nil
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

// watch resets the connection of an upload when the server says that it has failed: it may have
// stopped to read. The upload then ends, also in the kernel. stop ends the watch.
func (d *dataConn) watch() (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		if d.await(ended, "") == errFailing {
			d.over = true
			d.reset()
		}
	})
	return func() {
		close(ended)
		watching.Wait()
	}
}

// Close ends the use of the connection. Before its first use it does nothing.
func (d *dataConn) Close() error {
	if d.Conn != nil {
		d.once.Do(func() { // errors do not matter: the final reply decides
			d.finishTLS()
			_ = d.Conn.Close()
		})
	}
	return nil
}

// drop closes the connection or its port, which may not have been used.
func (d *dataConn) drop() {
	_ = d.Close()
	d.closePort()
	switch {
	case d.Conn != nil || d.raw == nil && d.setup == nil:
	case d.setup != nil:
		d.setup.stop()
	default:
		_ = d.raw.Close()
	}
	d.state = dataEnded
}

// closePort closes the port for the server.
func (d *dataConn) closePort() {
	if d.listener != nil {
		_ = d.listener.Close()
		d.listener = nil
	}
}

// closeTime is the time limit for a server to close its side of the connection.
const closeTime = 2 * time.Second

// finishTLS sends close_notify after an upload under TLS and reads what the server has
// sent, such as session tickets. To close the connection before they are read would reset
// it, and the server would lose the end of the file.
func (d *dataConn) finishTLS() {
	secure, ok := d.Conn.Conn.(*tls.Conn)
	if !ok || !d.sent || secure.CloseWrite() != nil {
		return
	}
	if half, ok := d.raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	d.idle = closeTime
	_, _ = io.CopyN(io.Discard, d, copySize)
}

// abort resets the connection, so that the server does not take it for the end of the file.
func (d *dataConn) abort() {
	d.reset()
	_ = d.Close()
}

// reset resets the connection, before TLS can send close_notify.
func (d *dataConn) reset() {
	if l, ok := d.raw.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = d.raw.Close()
}

// ReadFrom sends a file. If src fails, it aborts the
// connection, so that the server does not take the part for the whole file.
func (d *dataConn) ReadFrom(src io.Reader) (sent int64, err error) {
	d.SetTimeout(d.idle) // of a write
	defer d.watch()()
	if s, ok := src.(*source); ok && s.file != nil && !d.secured && d.CanSendFile() {
		return d.sendFile(s)
	}
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

// sendFile sends the rest of a file in the kernel.
func (d *dataConn) sendFile(src *source) (sent int64, err error) {
	for n := int64(sendSize); n == sendSize; {
		n, err = d.SendFile(src.file, sendSize)
		src.count(n)
		sent += n
		if _, ofFile := err.(*fs.PathError); ofFile {
			src.err = err
			d.abort()
		}
		if err != nil {
			return sent, err
		}
	}
	d.sent = true
	return sent, nil
}

// sendSize is how many bytes of a file are sent before progress is reported.
const sendSize = 1 << 20

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

// stop ends the setup. The caller has closed the port, if any.
func (c *dataSetup) stop() {
	<-c.admitted
	if c.raw != nil {
		_ = c.raw.Close() // not c.cancel(), which would hide the cause of a failed handshake
	}
	<-c.done
	c.cancel()
}

// explains reports whether a negative reply says why the data connection has broken. It may come a
// little later.
func explains(c *control) bool {
	return c.phase == transferring && c.Await(lookInterval) && c.isOver(negative)
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

// withCause adds ErrNotResumed to err, with which a transfer ended before its first byte, if that is
// the likely cause. ProFTPD replies 425 then, vsftpd 522.
func (d *dataConn) withCause(err error) error {
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
