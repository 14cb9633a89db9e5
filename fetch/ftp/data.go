package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A dataConn is a data connection. Reads and writes are subject to the idle limit. It
// can be used after the server's first reply to the command of the transfer.
type dataConn struct {
	*wire.Conn              // nil until then
	raw        net.Conn     // below TLS; nil until the server has connected (active mode)
	pending    *pendingConn // nil if raw is used as it is
	secured    bool         // under TLS
	over       bool         // the server has said that the transfer has ended, and has left it open
	whole      func() bool  // reports whether all bytes that were announced have come; or nil
	s          *session     // whose transfer it is; nil until Conn is set
	sent       bool         // completely
	end        func()       // called then, once the connection has been closed; or nil
	idle       time.Duration
	once       sync.Once
}

// begun reports whether the server has accepted the transfer.
func (d *dataConn) begun() bool { return d != nil && d.Conn != nil }

// openData prepares the data connection for the transfer that command starts: it connects
// to a port of the server or, in active mode, opens a port for the server.
func (s *session) openData(command string) error {
	if s.ready {
		return nil
	}
	s.dropData()
	if s.access.active != nil {
		if err := s.openPort(); err != nil {
			return err
		}
		s.data = &dataConn{idle: s.access.limits.Idle}
	} else if s.connectsLater(verbOf(command)) {
		port, err := s.requestPort()
		if err != nil {
			return err
		}
		s.later, s.data = port, &dataConn{idle: s.access.limits.Idle}
	} else {
		conn, err := s.passiveFor(command)
		if err != nil {
			return err
		}
		s.data = &dataConn{raw: conn, idle: s.access.limits.Idle}
		s.connects = true
	}
	s.ready = true
	return nil
}

// connectsLater reports whether the session connects to a port only when the command of the
// transfer has been sent: on servers that have been measured, for uploads. Others (goftp, ftp-srv)
// never close a port that the client has not connected to, as after a refusal.
func (s *session) connectsLater(verb fetch.Op) bool {
	return s.connects && s.program.name != "" && isUpload(verb)
}

// passiveFor connects to a port for the transfer that command starts. Before, it sends PRET, which names
// that transfer, if Options.PRET is set, or once a refusal has said that the server requires it.
func (s *session) passiveFor(command string) (net.Conn, error) {
	known := s.pret || s.access.opt.PRET
	if known {
		r, err := s.ctl.exchange("PRET " + command)
		switch {
		case err != nil:
			return nil, s.failure(err)
		case r.Class() != 2:
			return nil, s.refusedBy(r)
		}
	}
	conn, err := s.passive()
	e, _ := errors.AsType[*fetch.Error](err)
	if known || s.access.exact || !refusal(err) || !names(e.Reply, "PRET") {
		return conn, err
	}
	s.pret = true
	return s.passiveFor(command)
}

// names reports whether a text has a command as a word.
func names(text, verb string) bool {
	words := strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r < 'A' || 'Z' < r })
	return slices.Contains(words, verb)
}

// dropData closes the data connection or its port.
func (s *session) dropData() {
	if s.data != nil {
		s.data.drop()
	}
	s.closePort()
	s.data, s.ready, s.early, s.later = nil, false, false, 0
}

// A pendingConn is a data connection that is being set up: the server connects, the TLS handshake
// runs, or both. This happens once the command of the transfer has been sent: some servers do it
// before their first reply and others after it, and pyftpdlib closes a connection on which data
// arrives before the command.
type pendingConn struct {
	private  bool // TLS is required
	cancel   context.CancelFunc
	admitted chan struct{} // closed when the server has connected, or failed to
	done     chan struct{} // closed when the setup has ended
	raw      net.Conn      // set when admitted is closed
	conn     net.Conn      // set when done is closed: raw, or TLS over it
	err      error
}

// startPending starts to set up the data connection, if necessary.
func (s *session) startPending() {
	if s.port == nil && !s.private {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	c := &pendingConn{private: s.private, cancel: cancel, admitted: make(chan struct{}), done: make(chan struct{}), raw: s.data.raw}
	s.data.pending = c
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

// begin waits until the data connection is set up, after the first reply to the transfer.
func (s *session) begin() error {
	d := s.data
	if s.later != 0 {
		if err := s.connectLater(); err != nil {
			return s.ctl.Fail(err)
		}
	}
	if c := d.pending; c != nil {
		if err := s.await(c); err != nil {
			return err
		}
		if s.port != nil {
			s.closePort()
			s.ctl.Trace.Connected(fetch.Connection{
				Network: "tcp", Purpose: fetch.PurposeData, Host: s.access.loc.Host,
				Local: driver.AddrPort(c.raw.LocalAddr()), Remote: driver.AddrPort(c.raw.RemoteAddr()),
			})
		}
		c.cancel()
		d.raw, d.secured = c.raw, c.conn != c.raw
		d.open(s, c.conn)
		return nil
	}
	d.open(s, d.raw)
	return nil
}

// A server may say that a transfer has failed and leave its data connection open, or never use it.
// While nothing comes or goes there, the control connection is looked at each lookInterval. After a
// negative reply, the data connection gets one more interval, for what is still on its way; also after
// a positive one if all bytes that were announced have come, because a FIN can get lost.
const lookInterval = 500 * time.Millisecond

var errFailing = errors.New("the server has said that the transfer has failed")

// await waits for a data connection; its time limits start now. It reads the reply of a server that
// says meanwhile that the transfer has failed, such as that it cannot connect.
func (s *session) await(c *pendingConn) error {
	op, err := fetch.OpTLS, error(nil)
	if s.port != nil {
		err = s.wait(c.admitted, "the server has not connected", s.access.limits.Connect)
		if err == nil && c.raw == nil {
			err = c.err
		}
		if err != nil {
			op = fetch.OpAccept
		}
	}
	if err == nil {
		err = s.wait(c.done, "no TLS handshake", s.access.limits.Connect, s.access.limits.Reply)
	}
	broken := err == nil
	switch {
	case broken && (c.err == nil || s.data.localError() != nil || !explains(s.ctl)):
		return c.err
	case !broken && err != errFailing:
		return driver.Fail(op, nil, fetch.ErrOther, err)
	}
	r, err := s.ctl.receiveFinal()
	s.ctl.phase = commanding
	err = s.check(r, false, err)
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

// wait waits until c is closed, within limits. It returns errFailing if the transfer has failed.
func (s *session) wait(c <-chan struct{}, awaited string, limits ...time.Duration) error {
	ctx, cancel := wire.Within(s.ctx, awaited, limits...)
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
				failing = s.ctl.isOver(negative)
			}
		}
	}
}

// stop ends the setup of the data connection. The caller has closed the port, if any.
func (d *dataConn) stop() {
	c := d.pending
	if c == nil || d.Conn != nil {
		return
	}
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
	switch c := d.pending; {
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
	c := d.pending
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

// open starts using conn, which is raw or TLS over it.
func (d *dataConn) open(s *session, conn net.Conn) {
	d.s, d.Conn = s, wire.NewConn(s.ctx, conn, d.idle)
}

// wait sets the time limit of a read before which nothing has come for a time: up to the next look
// at the control connection or, if that would be close to it, to the idle limit.
func (d *dataConn) wait(silent time.Duration) {
	limit := lookInterval
	if left := d.idle - silent; d.idle > 0 && left < 2*lookInterval {
		limit = max(1, left)
	}
	d.SetTimeout(limit)
}

// Read implements io.Reader. If the server has said that the transfer has ended, the data end.
func (d *dataConn) Read(p []byte) (int, error) {
	for since := time.Now(); ; {
		d.wait(time.Since(since))
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
	if err := wire.Ended(d.s.ctx); err != nil {
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
	d.over = d.s.ctl.isOver(digits)
	return nil
}

// watch resets the connection of an upload when the server says that it has failed: it may have
// stopped to read. The upload then ends, also in the kernel. stop ends the watch.
func (d *dataConn) watch() (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		if d.s.wait(ended, "") == errFailing {
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
			if _ = d.Conn.Close(); d.sent && d.end != nil {
				d.end()
			}
		})
	}
	return nil
}

// drop closes the connection, which may not have been used. It does not end a setup, which is left
// to stop.
func (d *dataConn) drop() {
	_ = d.Close()
	if d.Conn == nil && d.pending == nil && d.raw != nil {
		_ = d.raw.Close()
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

// copySize is the size of the buffer for data that is not spliced.
const copySize = 128 << 10

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
