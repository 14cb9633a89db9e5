package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// A dialer says how connections are made; the zero value makes them as the
// system does. What it looks up and where it leads are options of curl's.
type dialer struct {
	names  nameServers  // of --dns-servers
	family string       // "4" or "6" of -4 and -6; "" is either
	hosts  hostTable    // of --resolve
	routes []route      // of --connect-to
	local  localAddress // of --interface
	ports  portRange    // of --local-port
	alive  keepAlive    // of --keepalive-time and --no-keepalive
}

// plain reports whether d does nothing of its own but for its routes.
func (d *dialer) plain() bool {
	return d.names == nil && d.family == "" && len(d.hosts) == 0 && d.local == (localAddress{}) && d.ports == (portRange{})
}

// dial connects to an address as it is, in a context of [fetch.Env.Dial].
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.plain() {
		system := net.Dialer{ControlContext: fetch.DialControl}
		d.alive.control(&system)
		return system.DialContext(ctx, network, address)
	}
	at, err := hostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.lookUp(ctx, at.Host, at.Port)
	if err != nil {
		return nil, err
	}
	locals, err := d.local.addrs(ctx)
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		var conn net.Conn
		tryCtx, cancel := share(ctx, len(addrs)-i)
		conn, err = d.dialAddr(tryCtx, network, netip.AddrPortFrom(addr, at.Port), locals)
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

// share is ctx with an equal part of the time it has left for each of n tries.
func share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/time.Duration(n))
}

// dialAddr connects to one address, from the first local one that fits it and
// the first local port that is free.
func (d *dialer) dialAddr(ctx context.Context, network string, to netip.AddrPort, locals []netip.Addr) (net.Conn, error) {
	from := netip.AddrPortFrom(unspecified(to.Addr()), 0)
	if len(locals) > 0 {
		fits := slices.IndexFunc(locals, func(a netip.Addr) bool { return a.Is4() == to.Addr().Is4() })
		if fits < 0 {
			return nil, &codedError{exitInterface, fmt.Errorf("%s has no address to reach %s from", d.local, to.Addr())}
		}
		from = netip.AddrPortFrom(locals[fits], 0)
	}
	for port := int(d.ports.first); ; port++ {
		from = netip.AddrPortFrom(from.Addr(), uint16(port))
		system := net.Dialer{ControlContext: fetch.DialControl, LocalAddr: endpoint(network, from)}
		d.alive.control(&system)
		conn, err := system.DialContext(ctx, network, to.String())
		switch {
		case err == nil, ctx.Err() != nil, !isBind(err):
			return conn, err
		case port >= int(d.ports.last):
			return nil, &codedError{exitInterface, fmt.Errorf("cannot bind to %s: %w", from, err)}
		}
	}
}

// isBind reports whether an error is that of a local end that is not to be had.
func isBind(err error) bool {
	call, ok := errors.AsType[*os.SyscallError](err)
	return ok && (call.Syscall == "bind" || errors.Is(err, syscall.EADDRNOTAVAIL))
}

func unspecified(of netip.Addr) netip.Addr {
	if of.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

func endpoint(network string, at netip.AddrPort) net.Addr {
	if network == "udp" {
		return net.UDPAddrFromAddrPort(at)
	}
	return net.TCPAddrFromAddrPort(at)
}

// lookUp finds the addresses of a host that are of the right family, by the
// table or else as the name servers or the system say.
func (d *dialer) lookUp(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	addrs, known := d.hosts.find(host, port)
	literal, err := netip.ParseAddr(host)
	switch {
	case known:
	case err == nil:
		addrs = []netip.Addr{literal}
	default:
		found, err := d.names.lookUp(ctx, "ip"+d.family, host)
		if err != nil {
			return nil, err
		}
		addrs = found
	}
	var fit []netip.Addr
	for _, addr := range addrs {
		if addr = addr.Unmap(); d.family == "" || addr.Is4() == (d.family == "4") {
			fit = append(fit, addr)
		}
	}
	switch {
	case len(fit) > 0:
		return fit, nil
	case err == nil && !known:
		return nil, &net.OpError{Op: "dial", Net: "tcp" + d.family, Err: &net.AddrError{Err: "no IPv" + d.family + " address", Addr: host}}
	}
	return nil, &net.DNSError{Err: "no IPv" + d.family + " address", Name: host, IsNotFound: true}
}

// A portRange is the local ports to connect from; the zero value is any.
type portRange struct{ first, last uint16 }

// setLocalPort reads "N" or "N-M".
func setLocalPort(c *commandLine, value string) error {
	first, last, isRange := strings.Cut(strings.ReplaceAll(value, " ", ""), "-")
	from, err1 := strconv.ParseUint(first, 10, 16)
	to, err2 := from, error(nil)
	if isRange {
		to, err2 = strconv.ParseUint(last, 10, 16)
	}
	if err1 != nil || err2 != nil || to < from {
		return errors.New("expected a port or a range of them, such as 20000-20100")
	}
	c.op.dialer.ports = portRange{uint16(from), uint16(to)}
	return nil
}

// setFamily is -4 or -6.
func setFamily(family string) setter {
	return func(c *commandLine, value string) error {
		on, err := strconv.ParseBool(value)
		switch {
		case err != nil:
			return err
		case on:
			c.op.dialer.family = family
		case c.op.dialer.family == family:
			c.op.dialer.family = ""
		}
		return nil
	}
}
