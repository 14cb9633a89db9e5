package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A hostTable says where hosts are, for --resolve. The latest entry counts.
type hostTable []hostEntry

// A hostEntry is the addresses of a host on a port; "*" is every host that has
// no entry of its own. Without addresses it is the end of an earlier entry.
type hostEntry struct {
	locator.HostPort
	addrs []netip.Addr
}

// find gives the addresses of a host; ok is whether the table knows it.
func (t hostTable) find(host string, port uint16) (addrs []netip.Addr, ok bool) {
	for _, name := range []string{host, "*"} {
		for i := len(t) - 1; i >= 0; i-- {
			if t[i].Port == port && strings.EqualFold(t[i].Host, name) {
				if len(t[i].addrs) > 0 {
					return t[i].addrs, true
				}
				break
			}
		}
	}
	return nil, false
}

// addResolve reads "[+]HOST:PORT:ADDRESS[,ADDRESS]..." or "-HOST:PORT".
func addResolve(c *commandLine, value string) error {
	entry, err := parseHostEntry(value)
	if err != nil {
		return &codedError{exitOptionSyntax, fmt.Errorf("--resolve %s: %w", value, err)}
	}
	c.op.dialer.hosts = append(c.op.dialer.hosts, entry)
	return nil
}

func parseHostEntry(text string) (hostEntry, error) {
	rest, removes := strings.CutPrefix(text, "-")
	if !removes {
		rest = strings.TrimPrefix(rest, "+") // which lets curl forget the entry after a minute
	}
	host, rest, ok := cutHost(rest)
	portText, addrText, hasAddrs := strings.Cut(rest, ":")
	port, err := strconv.ParseUint(portText, 10, 16)
	switch {
	case !ok, host == "", err != nil, hasAddrs == removes:
		return hostEntry{}, errors.New("expected HOST:PORT:ADDRESS[,ADDRESS] or -HOST:PORT")
	}
	e := hostEntry{HostPort: locator.HostPort{Host: host, Port: uint16(port)}}
	if removes {
		return e, nil
	}
	for text := range strings.SplitSeq(addrText, ",") {
		addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
		if err != nil {
			return hostEntry{}, fmt.Errorf("%q is no address", text)
		}
		e.addrs = append(e.addrs, addr.Unmap())
	}
	return e, nil
}

// A route leads connections meant for one place to another, for --connect-to.
// What is empty, or port 0, fits any place and changes nothing.
type route struct{ from, to locator.HostPort }

// addRoute reads "HOST1:PORT1:HOST2:PORT2".
func addRoute(c *commandLine, value string) error {
	r, err := parseRoute(value)
	if err != nil {
		return &codedError{exitOptionSyntax, fmt.Errorf("--connect-to %s: %w", value, err)}
	}
	c.op.dialer.routes = append(c.op.dialer.routes, r)
	return nil
}

func parseRoute(text string) (r route, err error) {
	host, rest, ok1 := cutHost(text)
	fromPort, rest, ok2 := strings.Cut(rest, ":")
	r.from.Host = host
	var toPort string
	r.to.Host, toPort, _ = cutHost(rest)
	if !ok1 || !ok2 || strings.Contains(toPort, ":") || strings.ContainsAny(r.to.Host, "\r\n\t\x00 ") {
		return route{}, errors.New("expected HOST1:PORT1:HOST2:PORT2, any of them empty")
	}
	if r.from.Port, err = portOrAny(fromPort); err == nil {
		r.to.Port, err = portOrAny(toPort)
	}
	return r, err
}

func portOrAny(text string) (uint16, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no port", text)
	}
	return uint16(n), nil
}

// cutHost cuts "HOST:rest" behind the host, which may be an IPv6 address in
// brackets and is given without them.
func cutHost(text string) (host, rest string, ok bool) {
	if inside, bracketed := strings.CutPrefix(text, "["); bracketed {
		host, rest, ok = strings.Cut(inside, "]")
		if !ok {
			return text, "", false
		}
		rest, ok = strings.CutPrefix(rest, ":")
		return host, rest, ok
	}
	return strings.Cut(text, ":")
}

// routed is where a connection for t is to lead. An FTP data connection goes
// where the control connection of its URL went, to a port of its own.
func (d *dialer) routed(t fetch.Target) locator.HostPort {
	at := locator.HostPort{Host: t.Host, Port: t.Port}
	if t.Purpose != fetch.Data {
		return d.route(at)
	}
	if server, ok := placeOf(t.Locator); ok && strings.EqualFold(server.Host, t.Host) {
		at.Host = d.route(server).Host
	}
	return at
}

// placeOf is the host and port that a URL names, also under a scheme that is
// another's over TLS; ok is false where it names none.
func placeOf(l locator.Locator) (at locator.HostPort, ok bool) {
	if opaque, is := l.(*locator.Opaque); is {
		plain, err := locator.Parse(strings.TrimSuffix(opaque.Name, "s") + ":" + opaque.Rest)
		at, ok := hostPortOf(plain)
		if at.Port == 0 {
			at.Port = locator.DefaultPort(opaque.Name)
		}
		return at, err == nil && ok
	}
	server, ok := locator.ServerOf(l)
	return server.HostPort, ok
}

// route takes the first route that fits a place.
func (d *dialer) route(at locator.HostPort) locator.HostPort {
	for _, r := range d.routes {
		if r.from.Host != "" && !strings.EqualFold(r.from.Host, at.Host) || r.from.Port != 0 && r.from.Port != at.Port {
			continue
		}
		if r.to.Host != "" {
			at.Host = r.to.Host
		}
		if r.to.Port != 0 {
			at.Port = r.to.Port
		}
		break
	}
	return at
}
