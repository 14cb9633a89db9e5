package gopher

import (
	"context"
	"net"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// itemOf returns at as a gopher Locator, and checks that it can be sent.
func itemOf(at locator.Locator) (*locator.Gopher, error) {
	l, ok := at.(*locator.Gopher)
	if !ok || l == nil {
		return nil, driver.Fail(fetch.OpFetch, at, fetch.ErrUnsupported, errNotGopher)
	}
	return l, driver.CheckOctets(l)
}

// handshake starts TLS on a connection.
func (f *Fetcher) handshake(ctx context.Context, conn net.Conn, a *access, limit time.Duration) (net.Conn, error) {
	secure, err := wire.StartTLS(ctx, wire.BelowTLS(conn), driver.NewEnv(f.Env).TLSConfig, a.host, limit)
	if err != nil {
		return nil, driver.Fail(fetch.OpTLS, a.loc, fetch.ErrOther, err)
	}
	return secure, nil
}
