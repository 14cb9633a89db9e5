package gopher

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// itemOf is at as a gopher Locator without an octet that cannot
// be sent.
func itemOf(at locator.Locator) (*locator.Gopher, error) {
	l, ok := at.(*locator.Gopher)
	if !ok || l == nil {
		return nil, fetch.Fail(fetch.OpFetch, at, fetch.Unsupported, errNotGopher)
	}
	return l, fetch.CheckOctets(l)
}

// handshake puts TLS over a connection.
func (f *Fetcher) handshake(ctx context.Context, conn net.Conn, a *access) (net.Conn, error) {
	config := f.TLS.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	if config.ServerName == "" {
		config.ServerName = a.host
	}
	secure := tls.Client(wire.BelowTLS(conn), config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fetch.Fail(fetch.OpTLS, a.loc, fetch.Other, err)
	}
	return secure, nil
}
