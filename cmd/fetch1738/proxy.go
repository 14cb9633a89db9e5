package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/net/proxy"

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

// proxyFor is the proxy to be used for l.
func (e *environment) proxyFor(l locator.Locator) *fetchhttp.Proxy {
	if server, ok := locator.ServerOf(l); ok && e.op.bypasses(server.Host) {
		return nil
	}
	return e.proxies[l.Scheme()]
}

// through is env for the Fetchers that know nothing of proxies: its Dial
// connects by p.
func (e *environment) through(env fetch.Env, p *fetchhttp.Proxy) *fetch.Env {
	direct := env
	if p == nil {
		return &direct
	}
	env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if e.op.bypasses(host) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		conn, err := connectBy(ctx, &direct, p, address)
		if err != nil {
			return nil, err
		}
		return proxied{conn, address}, nil
	}
	return &env
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

// connectBy connects to address by p.
func connectBy(ctx context.Context, env *fetch.Env, p *fetchhttp.Proxy, address string) (net.Conn, error) {
	toProxy := dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		port := p.Port
		if port == 0 {
			port = 1080
		}
		return env.Connect(ctx, fetch.Target{
			Locator: &locator.HTTP{Server: locator.Server{HostPort: p.HostPort}}, From: fetch.Provenance{Kind: fetch.Config},
			Purpose: fetch.Proxy, Host: p.Host, Port: port,
		})
	})
	if p.Scheme == "http" {
		conn, err := toProxy(ctx, "", "")
		if err != nil {
			return nil, err
		}
		if err := connectRequest(ctx, conn, p, address); err != nil {
			conn.Close()
			return nil, fmt.Errorf("the proxy %s: %w", p, err)
		}
		return conn, nil
	}
	if p.Scheme == "socks5" {
		looked, err := lookUp(ctx, address)
		if err != nil {
			return nil, err
		}
		address = looked
	}
	var auth *proxy.Auth
	if p.Login != nil {
		auth = &proxy.Auth{User: p.Login.User, Password: p.Login.Password}
	}
	socks, err := proxy.SOCKS5("tcp", "", auth, toProxy)
	if err != nil {
		return nil, err
	}
	conn, err := socks.(proxy.ContextDialer).DialContext(ctx, "tcp", address)
	if known, ok := errors.AsType[*fetch.Error](err); ok {
		return nil, known // the proxy was not reached
	}
	if err != nil && ctx.Err() == nil {
		return nil, &codedError{exitProxy, err}
	}
	return conn, err
}

// dialer is a proxy.ContextDialer.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d(context.Background(), network, address)
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d(ctx, network, address)
}

// lookUp is address with an IP address for the name in it.
func lookUp(ctx context.Context, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", err
	}
	if len(addrs) == 0 {
		return "", errors.New("no address")
	}
	return net.JoinHostPort(addrs[0].Unmap().String(), port), nil
}
