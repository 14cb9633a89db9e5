package ftp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// dataConn is a data connection. A wait for octets, or for room for them, is
// bounded by the idle limit. It can be used once the server has said that the
// transfer begins; only then does a server connect to us, or speak TLS.
type dataConn struct {
	*wire.Conn          // nil until then
	raw        net.Conn // below TLS; nil as long as the server is to connect
	secured    bool
	sent       bool // to its end
	idle       time.Duration
	once       sync.Once
}

// open makes conn, which is raw or TLS over it, what is read and written.
func (d *dataConn) open(ctx context.Context, conn net.Conn) {
	d.Conn = wire.NewConn(ctx, conn, d.idle)
}

// Close closes the connection. The library closes it too, and would take it ill
// to come second.
func (d *dataConn) Close() error {
	d.once.Do(func() { // what matters is the last reply
		switch {
		case d.Conn != nil:
			d.settle()
			_ = d.Conn.Close()
		case d.raw != nil:
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
