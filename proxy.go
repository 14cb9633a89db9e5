package fetch1738

import (
	"context"
	"errors"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// dialProxied is the Dial of the Fetchers if Proxy is set. It connects through the proxy of the
// server; to the proxies, and to servers that need none, as Env.Dial does.
func (r *Resolver) dialProxied(ctx context.Context, network, address string) (net.Conn, error) {
	dial := r.Env.Dial
	if dial == nil {
		dial = driver.Dial
	}
	t, ok := fetch.ContextTarget(ctx)
	if !ok || t.Locator == nil || t.Purpose == fetch.PurposeProxy || network != "tcp" {
		return dial(ctx, network, address)
	}
	host := t.Host
	if server, ok := locator.ServerOf(t.Locator); ok && t.Purpose == fetch.PurposeData {
		host = server.Host // data takes the same way as the control connection
	}
	p, err := r.Proxy(t.Locator.Scheme(), host)
	switch {
	case err != nil:
		return nil, err
	case p == nil, r.fetchesBy(t):
		return dial(ctx, network, address)
	}
	return p.Dial(r.shared)(ctx, network, address)
}

// fetchesBy reports whether t is the HTTP proxy that fetches an ftp URL (throughProxy).
func (r *Resolver) fetchesBy(t fetch.Target) bool {
	l, ok := t.From.By.(*locator.FTP)
	if !ok || t.From.Kind != fetch.OriginConfig {
		return false
	}
	p, err := r.Proxy(l.Scheme(), l.Host)
	return err == nil && p != nil && p.Address() == locator.HostPort{Host: t.Host, Port: t.Port}
}

// webProxy returns the proxy for an http URL. If Proxy fails, it returns nil, and the Dial of the
// connection reports the error.
func (r *Resolver) webProxy(l locator.Locator) *proxy.Proxy {
	server, _ := locator.ServerOf(l)
	p, err := r.Proxy(l.Scheme(), server.Host)
	if err != nil {
		return nil
	}
	return p
}

// throughProxy returns the request that makes an HTTP proxy fetch an ftp URL, or nil if req is not
// for such a proxy.
func (r *Resolver) throughProxy(ctx context.Context, req *fetch.Request, op fetch.Op) (*fetch.Request, error) {
	l, ok := req.Locator.(*locator.FTP)
	if !ok || l.Secure || r.Proxy == nil {
		return nil, nil
	}
	if f, ok := r.fetcher(l.Scheme()).(*ftp.Fetcher); !ok || f.Security != 0 {
		return nil, nil // the proxy would connect without TLS
	}
	p, err := r.Proxy(l.Scheme(), l.Host)
	switch {
	case err != nil:
		return nil, driver.Fail(fetch.OpProxyConnect, l, fetch.ErrUnreachable, err)
	case p == nil || p.Scheme != "http":
		return nil, nil
	case op != fetch.OpAccess && op != fetch.OpAttributes && op != fetch.OpExplain:
		return nil, driver.Fail(op, l, fetch.ErrUnsupported, errors.New("an HTTP proxy can only retrieve documents"))
	case hasLogin(l) && !r.GatewayLogins:
		return nil, driver.Fail(fetch.OpProxyConnect, l, fetch.ErrRefused, errors.New("a URL with a login is not sent to an HTTP proxy; set GatewayLogins to send it"))
	}
	server, _ := locator.ServerOf(l)
	t := fetch.Target{Locator: l, From: req.From, Network: "tcp", Host: server.Host, Port: server.Port}
	if err := r.env().Permit(ctx, t); err != nil {
		return nil, err
	}
	next := *req
	next.Locator = &locator.HTTP{Server: locator.Server{HostPort: p.Address()}, HasPath: true}
	next.From = fetch.Provenance{Kind: fetch.OriginConfig, By: l}
	options := &http.Options{Proxied: l, ProxiedPassword: r.GatewayLogins, Header: p.Header.Clone()}
	if login := p.Authorization(); login != "" {
		if options.Header == nil {
			options.Header = make(map[string][]string, 1)
		}
		options.Header.Set("Proxy-Authorization", login)
	}
	next.Options = options
	return &next, nil
}
