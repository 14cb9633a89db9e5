package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// proxyText is the proxy for a scheme as -x or else the environment names it; ""
// is none. A program run for a web server gets the header fields of its caller
// in variables, "Proxy" as HTTP_PROXY; so that one does not count.
func (o *operation) proxyText(scheme string) string {
	if o.proxy != nil {
		return *o.proxy
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
func (o *operation) proxyOf(scheme string) (*fetchhttp.Proxy, error) {
	text := o.proxyText(scheme)
	if text == "" {
		return nil, nil
	}
	p, err := fetchhttp.ParseProxy(text)
	if err != nil {
		return nil, &codedError{exitNoSuchProxy, err}
	}
	if o.proxyUser != "" {
		login := new(locator.Login)
		login.User, login.Password, login.HasPassword = strings.Cut(o.proxyUser, ":")
		p.Login = login
	}
	return p, nil
}

// bypasses reports whether a host is reached without a proxy: it, its address
// or a domain that it is in stands in --noproxy, or else in the environment.
func (o *operation) bypasses(host string) bool {
	list := os.Getenv("no_proxy")
	if list == "" {
		list = os.Getenv("NO_PROXY")
	}
	if o.noProxy != nil {
		list = *o.noProxy
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	for entry := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		entry = strings.ToLower(strings.Trim(entry, "."))
		prefix, err := netip.ParsePrefix(entry)
		switch {
		case entry == "*", entry == host, strings.Trim(entry, "[]") == host:
			return true
		case isAddr:
			if err == nil && prefix.Contains(addr.Unmap()) {
				return true
			}
		case strings.HasSuffix(host, "."+entry):
			return true
		}
	}
	return false
}

// proxyFor is the proxy to be used for l; nil is none. A proxy itself is reached
// without one.
func (e *environment) proxyFor(l locator.Locator) *fetchhttp.Proxy {
	server, ok := locator.ServerOf(l)
	if !ok || e.op.bypasses(server.Host) {
		return nil
	}
	for _, p := range e.proxies {
		if addressOf(p) == server.HostPort {
			return nil
		}
	}
	return e.proxies[l.Scheme()]
}

// addressOf is where p is, with curl's port where none is given.
func addressOf(p *fetchhttp.Proxy) locator.HostPort {
	at := p.HostPort
	if at.Port == 0 {
		at.Port = 1080
	}
	return at
}

// askedProxy is the HTTP proxy that is asked for an ftp URL instead of being
// connected through; nil is none. It is told no password and takes none so.
func (e *environment) askedProxy(l locator.Locator) *fetchhttp.Proxy {
	p := e.proxyFor(l)
	if _, isFTP := l.(*locator.FTP); !isFTP || p == nil || p.Scheme != "http" || p.Login != nil || e.op.proxyTunnel {
		return nil
	}
	return p
}

// requestTo asks a proxy for l.
func (o *operation) requestTo(p *fetchhttp.Proxy, l locator.Locator) (*fetch.Request, error) {
	at := addressOf(p)
	req, err := o.request(&locator.HTTP{Server: locator.Server{HostPort: at}, HasPath: true})
	if err != nil {
		return nil, err
	}
	req.From = fetch.Provenance{Kind: fetch.Config, By: l}
	req.Options.(*fetchhttp.Options).Proxied = l
	return req, nil
}

// through is env for the Fetchers that know nothing of proxies: its Dial
// connects by p.
func (e *environment) through(env fetch.Env, p *fetchhttp.Proxy) *fetch.Env {
	direct := env
	if p == nil {
		return &direct
	}
	env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		at, err := hostPort(address)
		if err != nil {
			return nil, err
		}
		if e.op.bypasses(at.Host) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		// The policy has been asked already, with all there is to know.
		conn, err := p.Connect(ctx, &direct, fetch.Target{Network: network, Host: at.Host, Port: at.Port})
		if err != nil {
			return nil, err
		}
		return proxied{conn, address}, nil
	}
	return &env
}

func hostPort(address string) (locator.HostPort, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return locator.HostPort{}, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return locator.HostPort{Host: host, Port: uint16(n)}, err
}

// proxied is a connection by a proxy: who is at its end is known by name only.
type proxied struct {
	net.Conn
	to string
}

func (p proxied) RemoteAddr() net.Addr { return namedAddr(p.to) }

type namedAddr string

func (namedAddr) Network() string  { return "proxied" }
func (a namedAddr) String() string { return string(a) }
