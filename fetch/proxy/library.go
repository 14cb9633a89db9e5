package proxy

import (
	"context"
	"net"
	"net/netip"
	"strconv"

	// x/net/proxy is the client side of SOCKS 5, with its logins. It is kept by the authors of Go, and
	// takes a connection that this module has made. The standard library has the same code only inside
	// net/http.
	"golang.org/x/net/proxy"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// socks5 connects to the server through a SOCKS 5 proxy (RFC 1928).
func (p *Proxy) socks5(ctx context.Context, env *driver.Env, t fetch.Target) (net.Conn, error) {
	host, err := p.host(ctx, env, t, func(netip.Addr) bool { return true })
	if err != nil {
		return nil, err
	}
	var auth *proxy.Auth
	if p.Login != nil {
		auth = &proxy.Auth{User: p.Login.User, Password: p.Login.Password}
	}
	toProxy := dialFunc(func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Reach(ctx, env, t) })
	at := p.Address()
	d, err := proxy.SOCKS5("tcp", net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port))), auth, toProxy)
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(t.Port))))
}

// dialFunc is a [proxy.Dialer].
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (f dialFunc) Dial(network, address string) (net.Conn, error) {
	return f(context.Background(), network, address)
}

func (f dialFunc) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f(ctx, network, address)
}
