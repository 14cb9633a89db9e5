package main

import (
	"context"
	"errors"
	"fmt"
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

// proxyText is the proxy for a scheme as -x or else the environment names it; ""
// is none. A program run for a web server gets the header fields of its caller
// in variables, "Proxy" as HTTP_PROXY; so that one does not count.
func (o *proxyOptions) text(scheme string) string {
	if o.url != nil {
		return *o.url
	}
	if scheme == "file" {
		return ""
	}
	names := []string{scheme + "_proxy"}
	if scheme != "http" {
		names = append(names, strings.ToUpper(scheme)+"_PROXY")
	}
	for _, name := range append(names, "all_proxy", "ALL_PROXY") {
		if text := os.Getenv(name); text != "" {
			return text
		}
	}
	return ""
}

// proxyOf is the proxy for a scheme; nil is none.
func (o *operation) proxyOf(scheme string) (*proxy.Proxy, error) {
	text := o.proxy.text(scheme)
	if text == "" {
		return nil, nil
	}
	p, err := proxy.Parse(text)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, &codedError{exitUnreachable, err}
	case err != nil:
		return nil, &codedError{exitNoSuchProxy, err}
	}
	if p.Login == nil && o.proxy.user != "" {
		p.Login = o.proxy.login()
	}
	p.HTTP10, p.LookUp = o.proxy.http10, o.dialer.lookUp
	p.Header, err = o.proxyHeader()
	return p, err
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
	h := http.Header{"User-Agent": {"fetch1738/" + version()}}
	if o.userAgent != nil {
		h["User-Agent"] = nonEmpty(*o.userAgent)
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
	at, ok := placeOf(l)
	if !ok {
		return nil
	}
	return e.proxyTo(l.Scheme(), at)
}

// proxyTo is the proxy to be used for a scheme's connections to a place. A proxy
// itself is reached without one.
func (e *environment) proxyTo(scheme string, at locator.HostPort) *proxy.Proxy {
	if e.op.proxy.bypasses(at.Host) {
		return nil
	}
	for _, p := range e.proxies {
		if p.Address() == at {
			return nil
		}
	}
	return e.proxies[scheme]
}

// forwarder is the HTTP proxy that is asked for a URL instead of being connected
// through; nil is none. What is under TLS is connected to, and what is led elsewhere.
func (e *environment) forwarder(l locator.Locator) *proxy.Proxy {
	at, _ := placeOf(l)
	p := e.proxyFor(l)
	if p == nil || p.Scheme != "http" || e.op.proxy.tunnel || e.op.secures(l) || e.op.dialer.route(at) != at {
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
	req.From = fetch.Provenance{Kind: fetch.Config, By: l}
	options := req.Options.(*fetchhttp.Options)
	options.Proxied = l
	if login := p.Authorization(); login != "" {
		options.Header.Set("Proxy-Authorization", login)
	}
	for name, values := range p.Header {
		if name != "User-Agent" {
			options.Header[name] = values
		}
	}
	return req, nil
}

// dial is the Dial of all Fetchers: it leads where --connect-to says, by a proxy
// where there is one. Datagrams have no proxies.
func (e *environment) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t, ok := fetch.ContextTarget(ctx)
	if !ok || t.Locator == nil || t.Purpose == fetch.Proxy && isHTTP(t.Locator) { // that of an http URL
		return e.op.dialer.dial(ctx, network, address)
	}
	at := e.op.dialer.routed(t)
	to := net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))
	meant := locator.HostPort{Host: t.Host, Port: t.Port}
	if named, ok := placeOf(t.Locator); ok && t.Purpose == fetch.Data {
		meant = named // it goes the way of its control connection
	}
	p := e.proxyTo(t.Locator.Scheme(), meant)
	if p == nil || network != "tcp" {
		return e.op.dialer.dial(ctx, network, to)
	}
	return p.Dial(&e.direct)(ctx, network, to)
}

func hostPort(address string) (locator.HostPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return locator.HostPort{}, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return locator.HostPort{}, fmt.Errorf("port %q: %w", port, err)
	}
	return locator.HostPort{Host: host, Port: uint16(n)}, nil
}
