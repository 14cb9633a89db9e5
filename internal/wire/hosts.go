package wire

import (
	"net"
	"net/netip"
	"strings"
)

// KnownAddrs returns the addresses of a host that must not be looked up. A host that is an address
// has that address. "localhost" and every name that ends in ".localhost" have the loopback addresses
// (RFC 6761 §6.3). For other hosts it returns nil.
func KnownAddrs(host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}
	}
	name := "." + strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.HasSuffix(name, ".localhost") {
		return nil
	}
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
}

// LookupText returns the text of a failed lookup, with the name.
func LookupText(err *net.DNSError) string {
	server := strings.TrimSpace("name server " + err.Server)
	switch {
	case err.IsNotFound:
		return err.Name + ": host not found"
	case err.IsTimeout:
		return err.Name + ": " + server + " does not answer"
	}
	cause := err.Err[strings.LastIndex(err.Err, ": ")+1:] // the last part of the text of a *net.OpError
	return err.Name + ": " + server + ": " + strings.TrimSpace(cause)
}
