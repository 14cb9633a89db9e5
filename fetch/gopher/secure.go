package gopher

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Secure is the scheme of gopher over TLS. RFC 1738 does not know it; its
// locators are *[locator.Opaque], whose Rest is that of a gopher URL.
const Secure = "gophers"

// itemOf is the request's Locator as a gopher one without an octet that cannot
// be sent.
func itemOf(req *fetch.Request) (*locator.Gopher, error) {
	l, ok := req.Locator.(*locator.Gopher)
	if o, is := req.Locator.(*locator.Opaque); is && o != nil && o.Name == Secure {
		parsed, err := locator.Parse("gopher:" + o.Rest)
		if err != nil {
			return nil, fetch.Fail(fetch.OpFetch, o, fetch.BadURL, err)
		}
		l, ok = parsed.(*locator.Gopher)
	}
	if !ok || l == nil {
		return nil, fetch.Fail(fetch.OpFetch, req.Locator, fetch.Unsupported, errNotGopher)
	}
	if err := fetch.CheckOctets(l); err != nil {
		return nil, err
	}
	return l, nil
}

// secured is a gopher locator under the scheme "gophers".
func secured(l *locator.Gopher) *locator.Opaque {
	return &locator.Opaque{Name: Secure, Rest: l.String()[len("gopher:"):]}
}

// isSecure reports whether the item is to be had by TLS.
func (a *access) isSecure() bool { return a.loc != locator.Locator(a.item) }

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
