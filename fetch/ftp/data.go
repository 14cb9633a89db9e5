package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

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

// A connector makes the data connections of a session, in active or passive mode.
type connector struct{ *session }

// openData prepares the data connection for the transfer that command starts: it connects to a port of
// the server or, in active mode, opens a port for the server.
func (s connector) openData(command string) (err error) {
	if s.data.isReady() {
		return nil
	}
	s.dropData()
	if s.access.active != nil {
		s.data, err = s.openPort()
	} else {
		s.data, err = s.passiveFor(command)
	}
	return err
}

// dropData closes the data connection or its port.
func (s *session) dropData() {
	if s.data != nil {
		s.data.drop()
	}
	s.data = nil
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
