// Package dial opens connections with curl's options for addresses, routes and local
// ends.
package dial

import (
	"cmp"
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
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// A Dialer opens connections. The zero value uses the defaults of the system. It is safe
// for concurrent use.
type Dialer struct {
	Names     NameServers  // of --dns-servers
	Family    string       // "4" or "6" of -4 and -6; "" means either
	Hosts     HostTable    // of --resolve
	Routes    []Route      // of --connect-to
	Local     LocalAddress // of --interface
	Ports     PortRange    // of --local-port
	KeepAlive KeepAlive    // of --keepalive-time and --no-keepalive

	// Through connects in place of the system, without local ends, as in a simulated network. If nil, the
	// system connects.
	Through func(ctx context.Context, network, address string) (net.Conn, error)
}

// plain reports whether no option except the routes applies.
func (d *Dialer) plain() bool {
	return d.Names == nil && d.Family == "" && len(d.Hosts) == 0 && d.Local == (LocalAddress{}) && d.Ports == (PortRange{})
}

// Dial connects to an address, without the routes, in a context of [fetch.Env.Dial].
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	at, err := HostPort(address)
	if err != nil {
		return nil, err
	}
	if d.plain() && len(driver.KnownAddrs(at.Host)) < 2 {
		return d.connect(ctx, net.Dialer{}, network, address)
	}
	addrs, err := d.LookUp(ctx, at.Host, at.Port)
	if err != nil {
		return nil, err
	}
	locals, err := d.Local.addrs(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	for i, addr := range addrs {
		tryCtx, cancel := withShare(ctx, len(addrs)-i)
		conn, err := d.dialAddr(tryCtx, network, netip.AddrPortFrom(addr, at.Port), locals)
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		failed = cmp.Or(failed, err)
	}
	return nil, failed
}

// withShare returns ctx with 1/n of the time that it has left.
func withShare(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/time.Duration(n))
}

// dialAddr connects to one address, from the first local address of its family and the
// first free local port.
func (d *Dialer) dialAddr(ctx context.Context, network string, to netip.AddrPort, locals []netip.Addr) (net.Conn, error) {
	from := netip.AddrPortFrom(unspecified(to.Addr()), 0)
	if len(locals) > 0 {
		fits := slices.IndexFunc(locals, func(a netip.Addr) bool { return a.Is4() == to.Addr().Is4() })
		if fits < 0 {
			return nil, &LocalError{fmt.Errorf("%s has no address to reach %s from", d.Local, to.Addr())}
		}
		from = netip.AddrPortFrom(locals[fits], 0)
	}
	for port := int(d.Ports.First); ; port++ {
		from = netip.AddrPortFrom(from.Addr(), uint16(port))
		conn, err := d.connect(ctx, net.Dialer{LocalAddr: endpoint(network, from)}, network, to.String())
		switch {
		case err == nil, ctx.Err() != nil, !isBind(err):
			return conn, err
		case port >= int(d.Ports.Last):
			return nil, &LocalError{fmt.Errorf("cannot bind to %s: %w", from, err)}
		}
	}
}

// connect connects to an address by Through, or else by system.
func (d *Dialer) connect(ctx context.Context, system net.Dialer, network, address string) (net.Conn, error) {
	if d.Through != nil {
		if err := fetch.DialControl(ctx, network, address, nil); err != nil {
			return nil, err
		}
		return d.Through(ctx, network, address)
	}
	system.ControlContext = fetch.DialControl
	d.KeepAlive.control(&system)
	return system.DialContext(ctx, network, address)
}

// isBind reports whether err says that the local end is not available.
func isBind(err error) bool {
	call, ok := errors.AsType[*os.SyscallError](err)
	return ok && (call.Syscall == "bind" || errors.Is(err, syscall.EADDRNOTAVAIL))
}

// unspecified returns the unspecified address of the family of another one.
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

// LookUp returns the addresses of a host in the selected family, from the table or else
// from the name servers or the system.
func (d *Dialer) LookUp(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	addrs, listed := d.Hosts.find(host, port)
	if !listed {
		addrs = driver.KnownAddrs(host)
	}
	known := !listed && addrs != nil
	if !listed && !known {
		found, err := d.Names.lookUp(ctx, "ip"+d.Family, host)
		if err != nil {
			return nil, err
		}
		addrs = found
	}
	var fit []netip.Addr
	for _, addr := range addrs {
		if addr = addr.Unmap(); d.Family == "" || addr.Is4() == (d.Family == "4") {
			fit = append(fit, addr)
		}
	}
	switch {
	case len(fit) > 0:
		return fit, nil
	case known:
		return nil, &net.OpError{Op: "dial", Net: "tcp" + d.Family, Err: &net.AddrError{Err: "no IPv" + d.Family + " address", Addr: host}}
	}
	return nil, &net.DNSError{Err: "no IPv" + d.Family + " address", Name: host, IsNotFound: true}
}

// A LocalError means that the local end of the options is not available.
type LocalError struct{ Err error }

func (e *LocalError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LocalError) Unwrap() error { return e.Err }

// A PortRange has the local ports to connect from. The zero value means any port.
type PortRange struct{ First, Last uint16 }

// ParsePorts parses "N" or "N-M".
func ParsePorts(text string) (PortRange, error) {
	first, last, isRange := strings.Cut(strings.ReplaceAll(text, " ", ""), "-")
	from, err1 := strconv.ParseUint(first, 10, 16)
	to, err2 := from, error(nil)
	if isRange {
		to, err2 = strconv.ParseUint(last, 10, 16)
	}
	if err1 != nil || err2 != nil || to < from {
		return PortRange{}, errors.New("expected a port or a range of ports, such as 20000-20100")
	}
	return PortRange{uint16(from), uint16(to)}, nil
}

// HostPort parses an address of package net.
func HostPort(address string) (locator.HostPort, error) {
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
