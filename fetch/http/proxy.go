package http

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Proxy is a proxy on the way to a server.
type Proxy struct {
	// Scheme is "http": http URLs are handed to the proxy, https ones go through
	// it by CONNECT; "socks5": SOCKS version 5 with addresses looked up here; or
	// "socks5h": with host names looked up by the proxy.
	Scheme string
	// Server is where it is. Port 0 is 1080.
	locator.Server
}

// ParseProxy reads "[scheme://][user:password@]host[:port]"; the scheme is
// "http" if none is given.
func ParseProxy(text string) (*Proxy, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "http", text
	}
	p := &Proxy{Scheme: strings.ToLower(scheme)}
	switch p.Scheme {
	case "http", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("a proxy of type %q: there are http, socks5 and socks5h", scheme)
	}
	tolerant := locator.Parser{Tolerate: locator.HTTPLogin | locator.ModernHosts | locator.UnsafeOctets | locator.ReservedOctets}
	ref, err := tolerant.Parse("http://" + strings.TrimSuffix(rest, "/"))
	if err != nil {
		return nil, fmt.Errorf("bad proxy: %w", err)
	}
	l, ok := ref.Locator.(*locator.HTTP)
	if !ok || l.HasPath {
		return nil, errors.New("bad proxy: host and port, and nothing behind them")
	}
	p.Server = l.Server
	return p, nil
}

// String is the proxy's URL with any password replaced by "***".
func (p *Proxy) String() string {
	l := locator.HTTP{Server: p.Server}
	return p.Scheme + strings.TrimPrefix(l.Redacted(), "http")
}

func (p *Proxy) http() bool { return p.Scheme == "http" }

func (p *Proxy) port() uint16 {
	if p.Port == 0 {
		return 1080
	}
	return p.Port
}

func (f *Fetcher) proxyFor(l locator.Locator) *Proxy {
	if f.Proxy == nil {
		return nil
	}
	return f.Proxy(l)
}

// Connect connects to t.Host and t.Port through p, as far as the policy allows;
// it is for the Fetchers of other schemes, too. What is known here of the
// server's address is asked about: all of it with "socks5", else its being an
// address at all. Errors are *[fetch.Error]s.
func (p *Proxy) Connect(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	c, err := p.connect(ctx, env, t)
	if err == nil {
		return c, nil
	}
	kind := fetch.Unreachable
	switch k := fetch.KindOf(err); k {
	case fetch.Timeout, fetch.Canceled, fetch.Unresolved:
		kind = k
	}
	return nil, fetch.Fail("connect by proxy", t.Locator, kind, err)
}

func (p *Proxy) connect(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	if t.Network == "" {
		t.Network = "tcp"
	}
	if err := env.Permit(ctx, t); err != nil {
		return nil, err
	}
	limits := env.WithDefaults().Limits
	ctx, cancel := within(ctx, limits.Reply)
	defer cancel()
	if !p.http() {
		return p.socks(ctx, env, t)
	}
	c, err := p.dial(ctx, env, t)
	if err != nil {
		return nil, err
	}
	if err := p.tunnel(ctx, c, &limits, address(t.Host, t.Port)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// dial connects to the proxy itself, on the way to t. It is where the user put
// it, wherever t comes from.
func (p *Proxy) dial(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	return env.Connect(ctx, fetch.Target{
		Locator: t.Locator, From: fetch.Provenance{Kind: fetch.Config}, Purpose: fetch.Proxy, Host: p.Host, Port: p.port(),
	})
}

// tunnel asks an HTTP proxy for a connection to the server (RFC 9110 §9.3.6).
func (p *Proxy) tunnel(ctx context.Context, raw net.Conn, limits *fetch.Limits, to string) error {
	c := wire.NewConn(ctx, raw, limits.Reply)
	defer func() {
		c.SetContext(context.Background())
		_ = raw.SetDeadline(time.Time{}) // fails on a broken connection, which the next read tells
	}()
	head := "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n"
	if p.Login != nil {
		head += "Proxy-Authorization: " + basic(p.Login) + "\r\n"
	}
	head += "\r\n"
	if _, err := io.WriteString(c, head); err != nil {
		return err
	}
	trace := fetch.ContextTrace(ctx)
	trace.Sent(masked([]byte(head)))
	answer, err := readHead(c, limits)
	if err != nil {
		return err
	}
	trace.Received(answer)
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return &fetch.Error{Kind: fetch.Unauthenticated, Code: resp.StatusCode, Reply: "the proxy wants a login, or another one"}
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the proxy says %s", fetch.Printable(resp.Status))
	}
	return nil
}

// readHead reads an answer's head, octet by octet: what is behind it belongs to
// the server, which may be one that speaks first.
func readHead(r io.Reader, limits *fetch.Limits) ([]byte, error) {
	var f framing
	var head []byte
	for octet := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, octet); err != nil {
			return nil, err
		}
		head = append(head, octet[0])
		if _, ended, err := f.head(head[len(head)-1:], limits); ended || err != nil {
			return head, err
		}
	}
}

// socks asks a SOCKS proxy for a connection to the server (RFC 1928).
func (p *Proxy) socks(ctx context.Context, env *fetch.Env, t fetch.Target) (net.Conn, error) {
	var auth *proxy.Auth
	if p.Login != nil {
		auth = &proxy.Auth{User: p.Login.User, Password: p.Login.Password}
	}
	toProxy := dialFunc(func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx, env, t) })
	d, err := proxy.SOCKS5("tcp", address(p.Host, p.port()), auth, toProxy)
	if err != nil {
		return nil, err
	}
	host := t.Host
	if p.Scheme == "socks5" {
		addr, err := lookUp(ctx, env, t)
		if err != nil {
			return nil, err
		}
		host = addr.String()
	}
	return d.(proxy.ContextDialer).DialContext(ctx, "tcp", address(host, t.Port))
}

// lookUp finds an address of the server that the policy permits.
func lookUp(ctx context.Context, env *fetch.Env, t fetch.Target) (netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.Host)
	if err != nil {
		return netip.Addr{}, err
	}
	var refused error
	for _, addr := range addrs {
		t.Addr = netip.AddrPortFrom(addr.Unmap(), t.Port)
		err := env.Permit(ctx, t)
		if err == nil {
			return t.Addr.Addr(), nil
		}
		if refused == nil {
			refused = err
		}
	}
	if refused == nil {
		refused = &net.DNSError{Err: "no address", Name: t.Host, IsNotFound: true}
	}
	return netip.Addr{}, refused
}

// dialFunc is a [proxy.Dialer].
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (f dialFunc) Dial(network, address string) (net.Conn, error) {
	return f(context.Background(), network, address)
}

func (f dialFunc) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f(ctx, network, address)
}
