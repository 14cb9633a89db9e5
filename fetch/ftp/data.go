package ftp

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// dataConn is a data connection. A wait for octets, or for room for them, is
// bounded by the idle limit.
type dataConn struct {
	*wire.Conn
	raw  net.Conn
	idle time.Duration
	once sync.Once
}

func newDataConn(ctx context.Context, raw net.Conn, idle time.Duration) *dataConn {
	return &dataConn{Conn: wire.NewConn(ctx, raw, idle), raw: raw, idle: idle}
}

// Close closes the connection. The library closes it too, and would take it ill
// to come second.
func (d *dataConn) Close() error {
	d.once.Do(func() { _ = d.Conn.Close() }) // what matters is the last reply
	return nil
}

// abort closes the connection so that the server cannot take it for the end of
// the file.
func (d *dataConn) abort() {
	if l, ok := d.raw.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
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
			return sent, nil
		}
		if err != nil {
			d.abort()
			return sent, err
		}
	}
}
