package client

import (
	"net/netip"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// bypasses reports whether a host is reached without a proxy, as --noproxy or
// else the environment lists such hosts.
func bypasses(o *plan.Proxy, host string) bool {
	list := os.Getenv("no_proxy")
	if list == "" {
		list = os.Getenv("NO_PROXY")
	}
	if o.None != nil {
		list = *o.None
	}
	if list == "*" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	for entry := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if err == nil && holdsAddr(entry, addr) || err != nil && holdsHost(entry, host) {
			return true
		}
	}
	return false
}

// holdsAddr reports whether an entry is an address or, with the bits behind a
// slash, the network that it is in.
func holdsAddr(entry string, addr netip.Addr) bool {
	if network, err := netip.ParsePrefix(entry); err == nil && network.Bits() > 0 {
		return network.Contains(addr)
	}
	entry, _, _ = strings.Cut(entry, "/")
	same, err := netip.ParseAddr(strings.Trim(entry, "[]"))
	return err == nil && same == addr
}

// holdsHost reports whether an entry is a host's name or that of a domain it is
// in. A dot at its start, or at the end of either, means nothing.
func holdsHost(entry, host string) bool {
	entry = strings.ToLower(strings.TrimPrefix(strings.TrimSuffix(entry, "."), "."))
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return entry != "" && (entry == host || strings.HasSuffix(host, "."+entry))
}
