// Package proxy connects to servers through an HTTP proxy, by CONNECT, or through a SOCKS proxy.
// It works with every Fetcher: use [Proxy.Dial] as the [fetch.Env.Dial].
package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A Proxy is an HTTP or SOCKS proxy. It must not be changed after first use. Its methods are safe
// for concurrent use.
type Proxy struct {
	// Scheme is the protocol of the proxy:
	//  - "http": connections are tunneled by CONNECT (RFC 9110 §9.3.6); package fetch/http sends
	//    it requests for http URLs directly
	//  - "socks4": SOCKS version 4; names are looked up on this host; IPv4 only
	//  - "socks4a": the same, but the proxy looks up names
	//  - "socks5": SOCKS version 5 (RFC 1928); names are looked up on this host
	//  - "socks5h": the same, but the proxy looks up names
	Scheme string
	// Server is the address of the proxy, and the login if it requires one: Basic authentication
	// for HTTP, user and password (RFC 1929) for SOCKS 5, only the user for SOCKS 4. Port 0 means
	// [DefaultPort].
	locator.Server
	// Header holds additional header fields for an HTTP proxy. A Host or Proxy-Authorization replaces
	// that of a CONNECT.
	Header http.Header
	// HTTP10 sends CONNECT requests as HTTP/1.0.
	HTTP10 bool
	// Via, if not nil, is the proxy through which this one is reached. It must not lead back to it.
	Via *Proxy
	// LookUp returns the addresses of a host, for the schemes that look up names on this host. If
	// nil, the system's resolver is used.
	LookUp func(ctx context.Context, host string, port uint16) ([]netip.Addr, error)
}

// DefaultPort is the port of a proxy whose port is not given.
const DefaultPort = 1080

// Schemes returns the valid values of Proxy.Scheme.
func Schemes() []string { return []string{"http", "socks4", "socks4a", "socks5", "socks5h"} }

// Parse parses "[scheme://][user:password@]host[:port]". The default scheme is "http"; "socks"
// means "socks4". A path is ignored.
func Parse(text string) (*Proxy, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "http", text
	}
	p := &Proxy{Scheme: strings.ToLower(scheme)}
	if p.Scheme == "socks" {
		p.Scheme = "socks4"
	}
	if !slices.Contains(Schemes(), p.Scheme) {
		return nil, fmt.Errorf("proxy scheme %q: %w; use one of %s", scheme, errors.ErrUnsupported, strings.Join(Schemes(), ", "))
	}
	tolerant := locator.Parser{Tolerate: locator.HTTPLogin | locator.ModernHosts | locator.UnsafeOctets | locator.ReservedOctets}
	if slash := strings.IndexAny(rest, "/?#"); slash >= 0 && !strings.Contains(rest[slash:], "@") { // else it may be part of a password
		rest = rest[:slash]
	}
	ref, err := tolerant.Parse("http://" + rest)
	if err != nil {
		return nil, fmt.Errorf("bad proxy: %w", err)
	}
	l, ok := ref.Locator.(*locator.HTTP)
	if !ok || l.HasPath {
		return nil, errors.New(`bad proxy: "/", "?", "#" and "@" must be encoded in a login`)
	}
	p.Server = l.Server
	return p, nil
}

// String returns the proxy's URL with any password replaced by "***".
func (p *Proxy) String() string {
	l := locator.HTTP{Server: p.Server}
	return p.Scheme + strings.TrimPrefix(l.Redacted(), "http")
}

// Address returns the proxy's host and port.
func (p *Proxy) Address() locator.HostPort {
	at := p.HostPort
	if at.Port == 0 {
		at.Port = DefaultPort
	}
	return at
}

// Dial returns a function for [fetch.Env.Dial] that connects through p. The connection to p itself
// is made by env, whose Allow is called as described at [Proxy.Connect]. If env is nil, the zero
// Env is used. The remote address of a connection is the address that was dialed, since the
// server's IP address is not known.
func (p *Proxy) Dial(env *fetch.Env) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		t, _ := fetch.ContextTarget(ctx)
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, err
		}
		t.Network, t.Host, t.Port = network, host, uint16(n)
		conn, err := p.Connect(ctx, driver.NewEnv(env), t)
		if err != nil {
			return nil, err
		}
		return Conn{conn, address}, nil
	}
}

// Connect connects to t.Host and t.Port through p, if env.Allow permits it. Allow is called with
// the host, and, for schemes that look up names on this host, with the addresses found. If t.Host
// is an address, Allow is called with it for every scheme. Errors are of type *[fetch.Error]. The
// returned connection is the one to the proxy, as env.Dial returned it.
func (p *Proxy) Connect(ctx context.Context, env *driver.Env, t fetch.Target) (net.Conn, error) {
	c, err := p.connect(ctx, env, t)
	if err == nil {
		return c, nil
	}
	kind := fetch.ErrUnreachable
	switch k := fetch.KindOf(err); k {
	case fetch.ErrTimeout, fetch.ErrCanceled, fetch.ErrUnresolved, fetch.ErrBadURL:
		kind = k
	}
	return nil, driver.Fail(fetch.OpProxyConnect, t.Locator, kind, err)
}

// connect is Connect without the type of its errors.
func (p *Proxy) connect(ctx context.Context, env *driver.Env, t fetch.Target) (net.Conn, error) {
	if t.Network == "" {
		t.Network = "tcp"
	}
	if t.Network != "tcp" {
		return nil, fmt.Errorf("proxies do not support %s", t.Network)
	}
	if err := p.check(t); err != nil {
		return nil, err
	}
	if err := env.Permit(ctx, t); err != nil {
		return nil, err
	}
	t.Host, _, _ = strings.Cut(t.Host, "%") // the zone of an address is only valid on this host
	limits := env.Limits
	ctx, cancel := wire.Within(ctx, "no connection through the proxy", limits.Reply)
	defer cancel()
	if p.Scheme == "socks5" || p.Scheme == "socks5h" {
		return p.socks5(ctx, env, t)
	}
	ask := func(c net.Conn) error { return p.tunnel(ctx, c, &limits, t) }
	if p.Scheme != "http" {
		request, err := p.socks4Request(ctx, env, t)
		if err != nil {
			return nil, err
		}
		ask = func(c net.Conn) error { return socks4(ctx, c, &limits, request) }
	}
	c, err := p.Reach(ctx, env, t)
	if err != nil {
		return nil, err
	}
	if err := ask(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Reach connects to the proxy itself, in order to reach t. The provenance of the connection is the
// configuration, regardless of that of t.
func (p *Proxy) Reach(ctx context.Context, env *driver.Env, t fetch.Target) (net.Conn, error) {
	at := p.Address()
	to := fetch.Target{
		Locator: t.Locator, From: fetch.Provenance{Kind: fetch.OriginConfig}, Purpose: fetch.PurposeProxy, Host: at.Host, Port: at.Port,
	}
	if p.Via != nil {
		return p.Via.Connect(ctx, env, to)
	}
	return env.Connect(ctx, to)
}

// host returns the host to send to a SOCKS proxy: the name, or an address of it that the policy
// permits and fits accepts.
func (p *Proxy) host(ctx context.Context, env *driver.Env, t fetch.Target, fits func(netip.Addr) bool) (string, error) {
	if p.Scheme == "socks4a" || p.Scheme == "socks5h" {
		return t.Host, nil
	}
	lookUp := p.LookUp
	if lookUp == nil {
		lookUp = func(ctx context.Context, host string, _ uint16) ([]netip.Addr, error) {
			if addrs := driver.KnownAddrs(host); addrs != nil {
				return addrs, nil
			}
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := lookUp(ctx, t.Host, t.Port)
	if err != nil {
		return "", err
	}
	var refused error
	for _, addr := range addrs {
		if addr = addr.Unmap(); !fits(addr) {
			continue
		}
		t.Addr = netip.AddrPortFrom(addr, t.Port)
		err := env.Permit(ctx, t)
		if err == nil {
			return addr.String(), nil
		}
		if refused == nil {
			refused = err
		}
	}
	if refused == nil {
		refused = fmt.Errorf("%s has no IPv4 address, and %s supports only IPv4; use socks5", t.Host, p.Scheme)
	}
	return "", refused
}

// A Conn is a connection through a proxy. Its remote address is the name of the server; the network
// is "proxied".
type Conn struct {
	net.Conn
	name string
}

// RemoteAddr implements net.Conn.
func (c Conn) RemoteAddr() net.Addr { return namedAddr(c.name) }

type namedAddr string

func (namedAddr) Network() string  { return "proxied" }
func (a namedAddr) String() string { return string(a) }

// clearDeadline removes the deadline of the handshake.
func clearDeadline(c net.Conn) {
	_ = c.SetDeadline(time.Time{}) // fails on a broken connection; the next read reports that
}
