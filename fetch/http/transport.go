package http

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/internal/wire"
)

const (
	idleTime     = 90 * time.Second
	continueTime = time.Second
	readSize     = 16 << 10 // a small document arrives together with its head
)

// init creates the transport. The function connect opens all connections; net/http keeps them and
// speaks HTTP/1.1 over them.
func (f *Fetcher) init() {
	f.once.Do(func() {
		limits := f.Env.WithDefaults().Limits
		f.transport = &http.Transport{
			DialContext:            connect,
			DialTLSContext:         connect,
			Proxy:                  forwarder,
			Protocols:              new(http.Protocols),
			DisableCompression:     true,
			MaxResponseHeaderBytes: math.MaxInt64, // see framing
			ReadBufferSize:         readSize,
			ResponseHeaderTimeout:  limits.Reply,
			ExpectContinueTimeout:  max(0, cmp.Or(f.ContinueTimeout, continueTime)),
			IdleConnTimeout:        idleTime,
			MaxIdleConns:           max(100, f.MaxIdle),
			MaxIdleConnsPerHost:    cmp.Or(f.MaxIdle, 8),
		}
		f.transport.Protocols.SetHTTP1(true)
		f.client = newClient(f.transport)
	})
}

// forwarder returns the proxy that receives requests in absolute form. connect handles all other
// proxies.
func forwarder(r *http.Request) (*url.URL, error) {
	ex := exchangeOf(r.Context())
	if !ex.forwarded() {
		return nil, nil
	}
	return &url.URL{Scheme: "http", Host: proxyAddress(ex.proxy)}, nil
}

func proxyAddress(p *proxy.Proxy) string {
	at := p.Address()
	return address(at.Host, at.Port)
}

// connect opens a connection for the transport. The exchange determines the destination. The
// transport's own context outlives that of the exchange and is not used. Limits.Connect applies to
// all steps, until the connection is ready for a request.
func connect(transport context.Context, _, _ string) (net.Conn, error) {
	ex := exchangeOf(transport)
	c := &conn{of: ex, via: ex.via(), stall: ex.call.env.Limits.Idle, about: fetch.Connection{Network: "tcp", Host: ex.hop.locator.Host}}
	if ex.proxy != nil {
		c.about.Purpose, c.about.Host = fetch.PurposeProxy, ex.proxy.Host
	}
	ctx, cancel := wire.Within(ex.call.hooks.traceContext(ex.call.ctx), "no connection to "+address(ex.target().Host, ex.target().Port), ex.call.env.Limits.Connect)
	defer cancel()
	var err error
	if c.Conn, err = ex.dial(ctx); err != nil {
		return nil, err
	}
	c.about.Local, c.about.Remote = fetch.AddrPort(c.LocalAddr()), fetch.AddrPort(c.RemoteAddr())
	if ex.proxy == nil {
		c.peer = c.about.Remote
	}
	if ex.hop.locator.Secure {
		if c.Conn, err = ex.secure(ctx, c.Conn); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// dial connects to the server, or to the proxy that makes the request.
func (ex *exchange) dial(ctx context.Context) (net.Conn, error) {
	env, t := &ex.call.env, ex.target()
	switch {
	case ex.proxy == nil:
		return env.Connect(ctx, t)
	case !ex.forwarded():
		return ex.proxy.Connect(ctx, env, t)
	}
	if err := env.Permit(ctx, t); err != nil {
		return nil, err
	}
	return ex.proxy.Reach(ctx, env, t)
}

// secure performs the TLS handshake. On failure it closes raw.
func (ex *exchange) secure(ctx context.Context, raw net.Conn) (net.Conn, error) {
	settings := func() (*tls.Config, error) {
		config, err := ex.call.env.TLSConfig()
		if err == nil {
			config.NextProtos = []string{"http/1.1"}
		}
		return config, err
	}
	c, err := handshake(ctx, raw, settings, ex.target().Host, ex.call.env.Limits.Reply)
	if err != nil {
		kind := fetch.KindOf(err)
		if kind == fetch.ErrOther {
			kind = fetch.ErrUnreachable
		}
		return nil, fetch.Fail(fetch.OpTLS, ex.hop.locator, kind, err)
	}
	state := c.ConnectionState()
	ex.call.hooks.call(func(t *fetch.Trace) {
		t.Note(fmt.Sprintf("%s, %s", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite)))
	})
	return c, nil
}

// handshake calls the httptrace hooks for TLS, which net/http does not call for these connections.
func handshake(ctx context.Context, raw net.Conn, settings func() (*tls.Config, error), host string, limit time.Duration) (*tls.Conn, error) {
	hooks := httptrace.ContextClientTrace(ctx)
	if hooks != nil && hooks.TLSHandshakeStart != nil {
		hooks.TLSHandshakeStart()
	}
	c, err := wire.StartTLS(ctx, wire.BelowTLS(raw), settings, host, limit)
	if hooks != nil && hooks.TLSHandshakeDone != nil {
		var state tls.ConnectionState
		if err == nil {
			state = c.ConnectionState()
		}
		hooks.TLSHandshakeDone(state, err)
	}
	return c, err
}
