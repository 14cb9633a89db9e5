// Package proxy reaches servers by way of a proxy: one for HTTP, by CONNECT, or
// one for SOCKS. It serves all Fetchers: what it makes goes into
// [fetch.Env.Dial].
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
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A Proxy is on the way to a server. It must not be changed once it is in use;
// its methods are safe for concurrent use.
type Proxy struct {
	// Scheme is how it is spoken to:
	//   - "http": connections go through it by CONNECT (RFC 9110 §9.3.6), and
	//     package fetch/http hands it http URLs as they are
	//   - "socks4": SOCKS version 4, with names looked up here; IPv4 only
	//   - "socks4a": the same, with names looked up by the proxy
	//   - "socks5": SOCKS version 5 (RFC 1928), with names looked up here
	//   - "socks5h": the same, with names looked up by the proxy
	Scheme string
	// Server is where it is, and the login there if it wants one: Basic for HTTP,
	// user and password (RFC 1929) for SOCKS 5, the user alone for SOCKS 4. Port 0
	// is 1080.
	locator.Server
	// Header is sent to an HTTP proxy besides what is needed.
	Header http.Header
	// HTTP10 asks by HTTP/1.0 for a connection.
	HTTP10 bool
	// LookUp finds the addresses of a host where they are looked up here; nil asks
	// the system.
	LookUp func(ctx context.Context, host string, port uint16) ([]netip.Addr, error)
}

// DefaultPort is the port of a proxy that is not told.
const DefaultPort = 1080

// Schemes are those that a Proxy may have.
func Schemes() []string { return []string{"http", "socks4", "socks4a", "socks5", "socks5h"} }

// Parse reads "[scheme://][user:password@]host[:port]"; the scheme is "http" if
// none is given. "socks" is "socks4". A path behind it is ignored.
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
		return nil, fmt.Errorf("a proxy of type %q: %w: there are %s", scheme, errors.ErrUnsupported, strings.Join(Schemes(), ", "))
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

// String is the proxy's URL with any password replaced by "***".
func (p *Proxy) String() string {
	l := locator.HTTP{Server: p.Server}
	return p.Scheme + strings.TrimPrefix(l.Redacted(), "http")
}

// Address is the proxy's host and port.
func (p *Proxy) Address() locator.HostPort {
	at := p.HostPort
	if at.Port == 0 {
		at.Port = DefaultPort
	}
	return at
}

// Dial makes an [fetch.Env.Dial] that connects through p. It reaches p itself by
// env, whose Allow is asked what [Proxy.Connect] asks; nil is the zero Env. The
// connections are named after what was dialled: nothing is known of the address
// at their end.
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
		conn, err := p.Connect(ctx, env, t)
		if err != nil {
			return nil, err
		}
		return Conn{conn, address}, nil
	}
}

// Connect connects to t.Host and t.Port through p, as far as env.Allow does. It
// is asked about what is known here of the server's address: all of it where
// names are looked up here, else its being an address at all. Errors are
// *[fetch.Error]s. The connection is the one to the proxy, as env.Dial made it.
func (p *Proxy) Connect(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	c, err := p.connect(ctx, env, t)
	if err == nil {
		return c, nil
	}
	kind := fetch.ErrUnreachable
	switch k := fetch.KindOf(err); k {
	case fetch.ErrTimeout, fetch.ErrCanceled, fetch.ErrUnresolved, fetch.ErrBadURL:
		kind = k
	}
	return nil, fetch.Fail(fetch.OpProxyConnect, t.Locator, kind, err)
}

func (p *Proxy) connect(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	if t.Network == "" {
		t.Network = "tcp"
	}
	if t.Network != "tcp" {
		return nil, fmt.Errorf("a proxy carries no %s", t.Network)
	}
	if err := p.check(t); err != nil {
		return nil, err
	}
	if err := env.Permit(ctx, t); err != nil {
		return nil, err
	}
	t.Host, _, _ = strings.Cut(t.Host, "%") // the zone of an address means nothing elsewhere
	limits := env.WithDefaults().Limits
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

// Reach connects to the proxy itself, on the way to t. It is where the user put
// it, wherever t comes from.
func (p *Proxy) Reach(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	at := p.Address()
	return env.Connect(ctx, fetch.Target{
		Locator: t.Locator, From: fetch.Provenance{Kind: fetch.OriginConfig}, Purpose: fetch.PurposeProxy, Host: at.Host, Port: at.Port,
	})
}

// host is what a SOCKS proxy is told: the name, or an address of it that the
// policy permits.
func (p *Proxy) host(ctx context.Context, env *fetch.Env, t fetch.Target, fits func(netip.Addr) bool) (string, error) {
	if p.Scheme == "socks4a" || p.Scheme == "socks5h" {
		return t.Host, nil
	}
	lookUp := p.LookUp
	if lookUp == nil {
		lookUp = func(ctx context.Context, host string, _ uint16) ([]netip.Addr, error) {
			if addrs := fetch.KnownAddrs(host); addrs != nil {
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
		refused = fmt.Errorf("%s has no IPv4 address, and %s reaches no other; socks5 does", t.Host, p.Scheme)
	}
	return "", refused
}

// A Conn is a connection through a proxy. Who is at its end is known by name
// only: that is its remote address, of network "proxied".
type Conn struct {
	net.Conn
	name string
}

// RemoteAddr implements net.Conn.
func (c Conn) RemoteAddr() net.Addr { return namedAddr(c.name) }

type namedAddr string

func (namedAddr) Network() string  { return "proxied" }
func (a namedAddr) String() string { return string(a) }

// handshaken takes off what a handshake put on a connection.
func handshaken(c net.Conn) {
	_ = c.SetDeadline(time.Time{}) // fails on a broken connection, which the next read tells
}
