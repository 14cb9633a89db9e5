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
func BelowTLS(conn net.Conn) net.Conn { return notifyConn{conn} }

type notifyConn struct{ net.Conn }

// NetConn returns the underlying connection, like the method of tls.Conn.
func (c notifyConn) NetConn() net.Conn { return c.Conn }

func (c notifyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = ErrNoNotice
	}
	return n, err
}

// noHandshake says what did not come before the end of StartTLS.
const noHandshake = "no TLS handshake"

// StartTLS begins TLS over conn with the server called host, or what the Config of
// settings calls it, within the shortest of limits. It may change that Config. An
// error closes conn; it is that of settings, or the context's or the limit's if that
// is why.
func StartTLS(ctx context.Context, conn net.Conn, settings func() (*tls.Config, error), host string, limits ...time.Duration) (*tls.Conn, error) {
	config, err := settings()
	if err != nil {
		conn.Close()
		return nil, err
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = strings.Cut(host, "%") // a zone is for this machine only
	}
	ctx, cancel := Within(ctx, noHandshake, limits...)
	defer cancel()
	secure := tls.Client(conn, config)
	err = conn.SetDeadline(time.Time{}) // the deadline of earlier reads and writes
	if err == nil {
		err = secure.HandshakeContext(ctx)
	}
	if err != nil {
		conn.Close()
		if ended := Ended(ctx); ended != nil {
			err = ended
		}
		if late, ok := err.(*TimeoutError); ok { // also of the limit of connecting
			err = &TimeoutError{Limit: late.Limit, Awaited: noHandshake, Err: late.Err}
		}
		return nil, err
	}
	return secure, nil
}

// TLSState returns the state of a connection that [StartTLS] has returned, and nil for any other.
func TLSState(conn net.Conn) *tls.ConnectionState {
	secure, ok := conn.(*tls.Conn)
	if !ok || secure == nil {
		return nil
	}
	state := secure.ConnectionState()
	return &state
}
