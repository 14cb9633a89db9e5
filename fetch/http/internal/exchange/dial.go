package exchange

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptrace"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// The names of the versions of HTTP in TLS (ALPN).
const (
	http1 = "http/1.1"
	http2 = "h2"
)

// place says what a connection is for: exchanges with equal places can share one.
type place struct {
	secure bool
	at     session.Server
	via    string // the proxy; empty without a proxy
}

// Server implements session.Key.
func (p place) Server() session.Server { return p.at }

// place returns where the request of ex is sent.
func (ex *Exchange) place() place {
	t, secure := ex.target(), ex.Locator.Secure
	p := place{secure: secure, at: session.Server{Host: t.Host, Port: t.Port}, via: ex.via()}
	if ex.Forwarded() { // a proxy receives the requests for all servers
		at := ex.Proxy.Address()
		p.at = session.Server{Host: at.Host, Port: at.Port}
	}
	return p
}

// connect opens a connection for the exchange. TLS offers versions. Limits.Connect applies to all
// steps, until the connection is ready for a request.
func (ex *Exchange) connect(versions []string, o session.Opening) (*conn, error) {
	about := fetch.Connection{Network: "tcp", Host: ex.Locator.Host}
	if ex.Proxy != nil {
		about.Purpose, about.Host = fetch.PurposeProxy, ex.Proxy.Host
	}
	to := ex.target()
	ctx, cancel := wire.Within(o.Context, "no connection to "+net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))), ex.Env.Limits.Connect)
	defer cancel()
	raw, err := ex.dial(ctx)
	if err != nil {
		return nil, err
	}
	about.Local, about.Remote = driver.AddrPort(raw.LocalAddr()), driver.AddrPort(raw.RemoteAddr())
	c := &conn{below: raw, about: about}
	if ex.Proxy == nil {
		c.peer = about.Remote
	}
	if ex.Locator.Secure {
		if raw, err = ex.secure(ctx, versions, raw); err != nil {
			return nil, err
		}
		c.tls = wire.TLSState(raw)
	}
	o.Greeted()
	c.Conn = wire.NewConn(context.Background(), raw, 0)
	c.AckLate()
	c.in = bufio.NewReaderSize(acking{c.Conn}, readSize)
	return c, nil
}

// dial connects to the server, or to the proxy that makes the request.
func (ex *Exchange) dial(ctx context.Context) (net.Conn, error) {
	env, t := ex.Env, ex.target()
	switch {
	case ex.Proxy == nil:
		return env.Connect(ctx, t)
	case !ex.Forwarded():
		return ex.Proxy.Connect(ctx, env, t)
	}
	if err := env.Permit(ctx, t); err != nil {
		return nil, err
	}
	return ex.Proxy.Reach(ctx, env, t)
}

// secure performs the TLS handshake. On failure it closes raw.
func (ex *Exchange) secure(ctx context.Context, versions []string, raw net.Conn) (net.Conn, error) {
	settings := func() (*tls.Config, error) {
		config, err := ex.Env.TLSConfig()
		if err == nil {
			config.NextProtos = versions
		}
		return config, err
	}
	c, err := handshake(ctx, raw, settings, ex.target().Host, ex.Env.Limits.Reply)
	if err != nil {
		kind := fetch.KindOf(err)
		if kind == fetch.ErrOther {
			kind = fetch.ErrUnreachable
		}
		return nil, driver.Fail(fetch.OpTLS, ex.Locator, kind, err)
	}
	state := c.ConnectionState()
	ex.Hooks.Call(func(t *fetch.Trace) {
		t.Note(fmt.Sprintf("%s, %s", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite)))
	})
	return c, nil
}

// handshake calls the httptrace hooks for TLS, as net/http does.
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
