package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// proxyOptions are what the options say of proxies.
type proxyOptions struct {
	url     *string // of -x; nil for what the environment says, empty for none
	http10  bool    // of --proxy1.0
	user    string
	headers []string
	tunnel  bool
	none    *string // of --noproxy
}

// setProxy is -x, and with a scheme the likes of --socks5, whose value may have
// one all the same.
func setProxy(scheme string, http10 bool) setter {
	return func(c *commandLine, value string) error {
		if scheme != "" && !strings.Contains(value, "://") {
			value = scheme + "://" + value
		}
		c.op.proxy.url, c.op.proxy.http10 = &value, http10
		return nil
	}
}

// text is the proxy for a scheme as -x or else the environment names it; "" is
// none. named reports whether that is for this scheme, not for all. A program run
// for a web server gets the header fields of its caller in variables, "Proxy" as
// HTTP_PROXY; so that one does not count.
func (o *proxyOptions) text(scheme string) (text string, named bool) {
	if o.url != nil {
		return *o.url, true
	}
	if scheme == "file" {
		return "", false
	}
	names := []string{scheme + "_proxy"}
	if scheme != "http" {
		names = append(names, strings.ToUpper(scheme)+"_PROXY")
	}
	for i, name := range append(names, "all_proxy", "ALL_PROXY") {
		if text := os.Getenv(name); text != "" {
			return text, i < len(names)
		}
	}
	return "", false
}

// A schemeProxy is the proxy for a scheme, or why it cannot be used.
type schemeProxy struct {
	*proxy.Proxy
	err error
}

// proxyOf is the proxy for a scheme, whose requests have a header; nil is none.
func (o *operation) proxyOf(scheme string, header http.Header) *schemeProxy {
	text, _ := o.proxy.text(scheme)
	if text == "" {
		return nil
	}
	p, err := proxy.Parse(text)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return &schemeProxy{err: &codedError{exitUnreachable, err}}
	case err != nil:
		return &schemeProxy{err: &codedError{exitNoSuchProxy, err}}
	}
	if p.Login == nil && o.proxy.user != "" {
		p.Login = o.proxy.login()
	}
	p.HTTP10, p.LookUp, p.Header = o.proxy.http10, o.dialer.LookUp, header
	return &schemeProxy{Proxy: p}
}

// login is that of -U, which is encoded as in a URL.
func (o *proxyOptions) login() *locator.Login {
	plain := func(text string) string {
		if decoded, err := url.PathUnescape(text); err == nil {
			return decoded
		}
		return text
	}
	user, password, has := strings.Cut(o.user, ":")
	return &locator.Login{User: plain(user), Password: plain(password), HasPassword: has}
}

// proxyHeader is what an HTTP proxy is told when it is asked for a connection.
func (o *operation) proxyHeader() (http.Header, error) {
	h := http.Header{"User-Agent": {"fetch1738/" + version()}, "Proxy-Connection": {"Keep-Alive"}} // as curl
	if o.userAgent != nil {
		h["User-Agent"] = nonEmpty(*o.userAgent)
	}
	for _, line := range o.headers {
		if name, values, err := headerLine(line); err == nil && strings.EqualFold(name, "Proxy-Connection") {
			h["Proxy-Connection"] = values
		}
	}
	given := make(map[string]bool)
	for _, line := range o.proxy.headers {
		name, values, err := headerLine(line)
		if err != nil {
			return nil, err
		}
		if !given[name] {
			delete(h, name)
			given[name] = true
		}
		h[name] = append(h[name], values...)
	}
	return h, nil
}

// proxyFor is the proxy to be used for l; nil is none.
func (e *environment) proxyFor(l locator.Locator) *proxy.Proxy {
	at, ok := locator.ServerOf(l)
	if !ok {
		return nil
	}
	return e.proxyTo(l.Scheme(), at.HostPort)
}

// proxyTo is the proxy to be used for a scheme's connections to a place; nil is
// none, and one that cannot be used.
func (e *environment) proxyTo(scheme string, at locator.HostPort) *proxy.Proxy {
	p, _ := e.usableProxyTo(scheme, at)
	return p
}

// usableProxyTo is proxyTo, with an error for a proxy that cannot be used.
func (e *environment) usableProxyTo(scheme string, at locator.HostPort) (*proxy.Proxy, error) {
	p := e.proxies[scheme]
	if p == nil || e.op.proxy.bypasses(at.Host) {
		return nil, nil
	}
	return p.Proxy, p.err
}

// forwarder is the HTTP proxy that is asked for a URL instead of being connected
// through; nil is none. What is under TLS is connected to, and what is led elsewhere.
func (e *environment) forwarder(l locator.Locator) *proxy.Proxy {
	at, _ := locator.ServerOf(l)
	p := e.proxyFor(l)
	if p == nil || p.Scheme != "http" || e.op.proxy.tunnel || e.op.secures(l) || e.op.dialer.Route(at.HostPort) != at.HostPort {
		return nil
	}
	return p
}

// askedProxy is the HTTP proxy that is asked for an ftp URL; nil is none.
func (e *environment) askedProxy(l locator.Locator) *proxy.Proxy {
	if _, isFTP := l.(*locator.FTP); !isFTP {
		return nil
	}
	return e.forwarder(l)
}

// requestTo asks a proxy for l.
func (o *operation) requestTo(p *proxy.Proxy, l locator.Locator) (*fetch.Request, error) {
	req, err := o.request(&locator.HTTP{Server: locator.Server{HostPort: p.Address()}, HasPath: true})
	if err != nil {
		return nil, err
	}
	req.From = fetch.Provenance{Kind: fetch.OriginConfig, By: l}
	options := req.Options.(*fetchhttp.Options)
	options.Proxied = l
	_, options.ProxiedPassword = o.proxy.text(l.Scheme())
	if login := p.Authorization(); login != "" {
		options.Header.Set("Proxy-Authorization", login)
	}
	if at, ok := locator.ServerOf(l); ok && options.Header["Host"] == nil {
		options.Header.Set("Host", hostOf(at)) // with the port, as curl
	}
	for name, values := range p.Header {
		if name != "User-Agent" {
			options.Header[name] = values
		}
	}
	return req, nil
}

// dial is the Dial of all Fetchers: it leads where --connect-to says, by a proxy
// where there is one. A proxy itself is reached without one. Datagrams have no
// proxies.
func (e *environment) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t, ok := fetch.ContextTarget(ctx)
	if !ok || t.Locator == nil || t.Purpose == fetch.PurposeProxy && isHTTP(t.Locator) || e.asks(t) {
		return e.op.dialer.Dial(ctx, network, address)
	}
	at := e.op.routed(t)
	to := net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))
	meant := locator.HostPort{Host: t.Host, Port: t.Port}
	if named, ok := locator.ServerOf(t.Locator); ok && t.Purpose == fetch.PurposeData {
		meant = named.HostPort // it goes the way of its control connection
	}
	p, err := e.usableProxyTo(t.Locator.Scheme(), meant)
	switch {
	case network != "tcp", p == nil && err == nil:
		return e.op.dialer.Dial(ctx, network, to)
	case err != nil:
		return nil, err
	}
	return p.Dial(&e.direct)(ctx, network, to)
}

// asks reports whether t is a proxy that is asked for another scheme's URL.
func (e *environment) asks(t fetch.Target) bool {
	if t.From.Kind != fetch.OriginConfig || t.From.By == nil {
		return false
	}
	p := e.askedProxy(t.From.By)
	return p != nil && p.Address() == locator.HostPort{Host: t.Host, Port: t.Port}
}

func addProxyHeader(c *commandLine, line string) {
	c.op.proxy.headers = append(c.op.proxy.headers, line)
}
