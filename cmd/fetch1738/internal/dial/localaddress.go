package dial

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// A LocalAddress is the value of --interface: an interface, or a host name or address of
// this host. The zero value means any.
type LocalAddress struct {
	name string
	kind byte // 'i' for an interface only, 'h' for a host only, 0 for either
}

func (l LocalAddress) String() string { return "--interface " + l.name }

// ParseLocalAddress parses "NAME", "if!NAME" or "host!NAME".
func ParseLocalAddress(text string) LocalAddress {
	if name, ok := strings.CutPrefix(text, "if!"); ok {
		return LocalAddress{name, 'i'}
	}
	if name, ok := strings.CutPrefix(text, "host!"); ok {
		return LocalAddress{name, 'h'}
	}
	return LocalAddress{name: text}
}

// addrs returns the current addresses of l, or none if it is the zero value.
func (l LocalAddress) addrs(ctx context.Context) ([]netip.Addr, error) {
	if l.name == "" {
		return nil, nil
	}
	if l.kind != 'h' {
		addrs, err := interfaceAddrs(l.name)
		if err == nil && len(addrs) > 0 || l.kind == 'i' {
			return addrs, l.localError(err)
		}
	}
	if addr, err := netip.ParseAddr(strings.Trim(l.name, "[]")); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", l.name)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, l.localError(err)
}

// localError returns a LocalError about l, or nil if err is nil.
func (l LocalAddress) localError(err error) error {
	if err == nil {
		return nil
	}
	return &LocalError{fmt.Errorf("%s: %w", l, err)}
}

// interfaceAddrs returns the addresses of a network interface, those without a zone
// first.
func interfaceAddrs(name string) ([]netip.Addr, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	all, err := i.Addrs()
	if err != nil {
		return nil, err
	}
	var addrs, linkLocal []netip.Addr
	for _, a := range all {
		ipNet, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		addr, ok := netip.AddrFromSlice(ipNet.IP)
		addr = addr.Unmap()
		switch {
		case !ok:
		case addr.Is6() && addr.IsLinkLocalUnicast():
			linkLocal = append(linkLocal, addr.WithZone(name))
		default:
			addrs = append(addrs, addr)
		}
	}
	return append(addrs, linkLocal...), nil
}
