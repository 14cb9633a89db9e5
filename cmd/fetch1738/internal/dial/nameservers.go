package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// NameServers resolve host names, each one if those before it do not answer. nil means
// the system's resolver.
type NameServers []netip.AddrPort

const portDNS = 53

// ParseNameServers parses "ADDRESS[:PORT],...".
func ParseNameServers(list string) (NameServers, error) {
	var servers NameServers
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		server, err := netip.ParseAddrPort(text)
		if err != nil {
			var addr netip.Addr
			if addr, err = netip.ParseAddr(strings.Trim(text, "[]")); err != nil {
				return nil, fmt.Errorf("%q is not an address; expected ADDRESS[:PORT],... of name servers", text)
			}
			server = netip.AddrPortFrom(addr, portDNS)
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// lookUp returns the addresses of a host; network is "ip", "ip4" or "ip6".
func (n NameServers) lookUp(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if n == nil {
		return net.DefaultResolver.LookupNetIP(ctx, network, host)
	}
	var err error
	for i, server := range n {
		var addrs []netip.Addr
		tryCtx, cancel := withShare(ctx, len(n)-i)
		addrs, err = askNameServer(tryCtx, server, network, host)
		cancel()
		if err == nil || isNoSuchHost(err) {
			return addrs, err
		}
	}
	return nil, err
}

// askNameServer queries one server, over UDP and, if necessary, TCP.
func askNameServer(ctx context.Context, server netip.AddrPort, network, host string) ([]netip.Addr, error) {
	resolver := &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.String())
		},
	}
	addrs, err := resolver.LookupNetIP(ctx, network, host)
	if failed, ok := errors.AsType[*net.DNSError](err); ok {
		failed.Server = server.String() // not the system's
	}
	return addrs, err
}

func isNoSuchHost(err error) bool {
	failed, ok := errors.AsType[*net.DNSError](err)
	return ok && failed.IsNotFound
}
