package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// ErrNoNotice is the error of a connection below TLS that ends without a close_notify. The peer
// sends one to confirm the end; without it an attacker could have truncated the data.
var ErrNoNotice = fmt.Errorf("connection ended without a TLS close_notify; the data may be truncated: %w", io.ErrUnexpectedEOF)

// BelowTLS wraps conn for tls.Client where the end of the connection is the end of the data. If
// conn ends without a close_notify, the error is [ErrNoNotice]. crypto/tls ignores such an end
// between two records.
func BelowTLS(conn net.Conn) net.Conn { return vouched{conn} }

type vouched struct{ net.Conn }

// NetConn returns the underlying connection, like the method of tls.Conn.
func (c vouched) NetConn() net.Conn { return c.Conn }

func (c vouched) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = ErrNoNotice
	}
	return n, err
}

// StartTLS starts TLS over conn with the server named host, or with the name in the Config of
// settings. The handshake must finish within the shortest of limits. StartTLS may change the
// Config. In case of an error it closes conn. The error is that of settings, or that of the context
// or the limit if it is the cause.
func StartTLS(ctx context.Context, conn net.Conn, settings func() (*tls.Config, error), host string, limits ...time.Duration) (*tls.Conn, error) {
	config, err := settings()
	if err != nil {
		conn.Close()
		return nil, err
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = strings.Cut(host, "%") // a zone is valid on this host only
	}
	ctx, cancel := Within(ctx, limits...)
	defer cancel()
	secure := tls.Client(conn, config)
	err = conn.SetDeadline(time.Time{}) // the deadline of earlier reads and writes
	if err == nil {
		err = secure.HandshakeContext(ctx)
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return secure, nil
}
