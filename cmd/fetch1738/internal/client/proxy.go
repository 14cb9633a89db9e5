package client

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// proxyText returns the proxy for a scheme, from -x or else from the environment, or "".
// named reports whether it is for this scheme and not for all.
func proxyText(o *plan.Proxy, scheme string) (text string, named bool) {
	if o.URL != nil {
		return *o.URL, true
	}
	return proxy.Variable(scheme)
}

// A schemeProxy is the proxy for a scheme, or the reason why it cannot be used.
type schemeProxy struct {
	*proxy.Proxy
	err error
}

// proxyOf returns the proxy for a scheme, or nil. header is sent with its requests.
func proxyOf(o *plan.Connections, scheme string, header http.Header) *schemeProxy {
	text, _ := proxyText(&o.Proxy, scheme)
	pre := o.Proxy.Pre
	if text == "" {
		text, pre = pre, "" // as in curl
	}
	if text == "" {
		return nil
	}
	p, err := proxy.Parse(text)
	if err == nil && pre != "" {
		p.Via, err = proxy.Parse(pre)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		scheme, _, _ := strings.Cut(text, ":")
		return &schemeProxy{err: localerr.Errorf(localerr.Unreachable, "%w%s", err, plan.Meant(scheme, proxy.Schemes()))}
	case err != nil:
		return &schemeProxy{err: localerr.New(localerr.NoSuchProxy, err)}
	}
	if p.Login == nil && o.Proxy.User != "" {
		p.Login = proxyLogin(&o.Proxy)
	}
	p.HTTP10, p.LookUp, p.Header = o.Proxy.HTTP10, o.Connect.Dialer.LookUp, header
	return &schemeProxy{Proxy: p}
}

// proxyLogin returns the login of -U, which is percent-encoded.
func proxyLogin(o *plan.Proxy) *locator.Login {
	user, password, has := strings.Cut(o.User, ":")
	return &locator.Login{User: plan.Decoded(user), Password: plan.Decoded(password), HasPassword: has}
}

// proxyHeader returns the header of a CONNECT request.
func proxyHeader(o *plan.Connections) (http.Header, error) {
	h := http.Header{"User-Agent": {"fetch1738/" + version.String()}, "Proxy-Connection": {"Keep-Alive"}} // as curl
	if o.HTTPSession.UserAgent != nil {
		h["User-Agent"] = plan.NonEmpty(*o.HTTPSession.UserAgent)
	}
	if o.Proxy.Persist != nil {
		h["Proxy-Connection"] = o.Proxy.Persist
	}
	given := make(map[string]bool)
	for _, line := range o.Proxy.Headers {
		name, values, err := plan.HeaderLine(line)
		if err != nil {
			return nil, err
		}
		if key := strings.ToLower(name); !given[key] {
			maps.DeleteFunc(h, func(old string, _ []string) bool { return strings.EqualFold(old, name) })
			given[key] = true
		}
		h[name] = append(h[name], values...)
	}
	return h, nil
}

// ProxyFor returns the proxy for l, or nil.
func (c *connections) ProxyFor(l locator.Locator) *proxy.Proxy {
	at, ok := locator.ServerOf(l)
	if !ok {
		return nil
	}
	return c.ProxyTo(l.Scheme(), at.HostPort)
}

// ProxyTo returns the proxy for a scheme's connections to a server. It returns nil
// without a proxy, or if it cannot be used.
func (c *connections) ProxyTo(scheme string, at locator.HostPort) *proxy.Proxy {
	p, _ := c.UsableProxyTo(scheme, at)
	return p
}

// UsableProxyTo is ProxyTo, with an error for a proxy that cannot be used.
func (c *connections) UsableProxyTo(scheme string, at locator.HostPort) (*proxy.Proxy, error) {
	if c == nil {
		return nil, nil
	}
	p := c.proxies[scheme]
	if p == nil || bypasses(&c.options.Proxy, at.Host) {
		return nil, nil
	}
	return p.Proxy, p.err
}

// forwarder returns the HTTP proxy that is sent the URL in a request, or nil if a tunnel or
// no proxy is used. URLs over TLS and URLs that --connect-to redirects use a tunnel.
func (c *connections) forwarder(l locator.Locator) *proxy.Proxy {
	at, _ := locator.ServerOf(l)
	p := c.ProxyFor(l)
	if p == nil || p.Scheme != "http" || c.options.Proxy.Tunnel || Secures(&c.options.TLS, l) || c.options.Connect.Dialer.Route(at.HostPort) != at.HostPort {
		return nil
	}
	return p
}

// AskedProxy returns the HTTP proxy that is sent an ftp URL, or nil.
func (c *connections) AskedProxy(l locator.Locator) *proxy.Proxy {
	if _, isFTP := l.(*locator.FTP); !isFTP {
		return nil
	}
	return c.forwarder(l)
}

// RequestTo asks a proxy for l.
func RequestTo(o *plan.Operation, p *proxy.Proxy, l locator.Locator) (*fetch.Request, error) {
	req, err := Request(o, &locator.HTTP{Server: locator.Server{HostPort: p.Address()}, HasPath: true})
	if err != nil {
		return nil, err
	}
	req.From = fetch.Provenance{Kind: fetch.OriginConfig, By: l}
	options := req.Options.(*fetchhttp.Options)
	options.Proxied = l
	_, options.ProxiedPassword = proxyText(&o.Proxy, l.Scheme()) // as curl; all_proxy is not named for ftp
	if login := p.Authorization(); login != "" {
		options.Header.Set("Proxy-Authorization", login)
	}
	if at, ok := locator.ServerOf(l); ok && options.Header["Host"] == nil {
		options.Header.Set("Host", HostOf(at)) // with the port, as curl
	}
	for name, values := range p.Header {
		if name != "User-Agent" {
			options.Header[name] = values
		}
	}
	return req, nil
}

// bypasses reports whether a host is reached without a proxy, as --noproxy or
// else the environment lists such hosts.
func bypasses(o *plan.Proxy, host string) bool {
	if o.None != nil {
		return proxy.Listed(*o.None, host)
	}
	return proxy.Listed(cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY")), host)
}

// dial is the Dial of all Fetchers. It applies --connect-to and the proxies. A proxy
// itself is reached directly, and so are servers over UDP.
func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t, ok := fetch.ContextTarget(ctx)
	if !ok || t.Locator == nil || t.Purpose == fetch.PurposeProxy && IsHTTP(t.Locator) || c.asks(t) {
		return c.connect(ctx, network, address)
	}
	at := routed(&c.options.Connect.Dialer, t)
	to := net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))
	meant := locator.HostPort{Host: t.Host, Port: t.Port}
	if named, ok := locator.ServerOf(t.Locator); ok && t.Purpose == fetch.PurposeData {
		meant = named.HostPort // it uses the proxy of its control connection
	}
	p, err := c.UsableProxyTo(t.Locator.Scheme(), meant)
	switch {
	case network != "tcp", p == nil && err == nil:
		return c.connect(ctx, network, to)
	case err != nil:
		return nil, err
	}
	return p.Dial(&c.direct)(ctx, network, to)
}

// connect connects to an address by the options, without --connect-to and the proxies.
func (c *connections) connect(ctx context.Context, network, address string) (net.Conn, error) {
	d := c.options.Connect.Dialer
	d.Through = c.through
	return d.Dial(ctx, network, address)
}

// asks reports whether t is a proxy that is sent the URL of another scheme.
func (c *connections) asks(t fetch.Target) bool {
	if t.From.Kind != fetch.OriginConfig || t.From.By == nil {
		return false
	}
	p := c.AskedProxy(t.From.By)
	return p != nil && p.Address() == locator.HostPort{Host: t.Host, Port: t.Port}
}

// Via returns the proxy through which the server of l is reached, without its login, or "". An invalid
// one is returned as it is.
func Via(o *plan.Operation, l locator.Locator) string {
	scheme := l.Scheme()
	if entry.IsNews(l) {
		scheme = "nntp"
	}
	text, _ := proxyText(&o.Proxy, scheme)
	if at, ok := locator.ServerOf(l); text == "" || ok && bypasses(&o.Proxy, at.Host) {
		return ""
	}
	p, err := proxy.Parse(text)
	if err != nil {
		return text
	}
	return p.Scheme + "://" + HostOf(locator.Server{HostPort: p.Address()})
}
