package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Zone says how close an address is to this computer; a greater Zone is closer. A link or redirect may
// only lead to a zone that is not greater than the zone of the server it came from.
type Zone uint8

// The zones. ZoneReserved is always refused.
const (
	ZoneReserved      Zone = iota // unspecified, multicast, reserved, tunnels with a hidden end
	ZoneDocumentation             // addresses for documentation; permitted for tests only
	ZonePublic                    // the Internet
	ZonePrivate                   // the private network of a site
	ZoneLinkLocal                 // the local link, and metadata services of clouds
	ZoneLoopback                  // this computer
)

var zoneNames = [...]string{"reserved", "documentation", "public", "private", "link-local", "loopback"}

// String returns the name of the zone, such as "link-local".
func (z Zone) String() string {
	if int(z) < len(zoneNames) {
		return zoneNames[z]
	}
	return fmt.Sprintf("zone %d", uint8(z))
}

// AddZone permits a zone by its name, a prefix of addresses such as 10.1.0.0/16, or an address: it is
// added to AllowZones or AllowPrefixes.
func (r *Rules) AddZone(text string) error {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		r.AllowPrefixes = append(r.AllowPrefixes, prefix)
		return nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		r.AllowPrefixes = append(r.AllowPrefixes, netip.PrefixFrom(addr.WithZone(""), addr.BitLen()))
		return nil
	}
	zone := slices.Index(zoneNames[:], text)
	if zone < 0 {
		return fmt.Errorf("unknown zone %q: the zones are %s; or a prefix of addresses, such as 10.1.0.0/16", text, strings.Join(zoneNames[ZoneDocumentation:], ", "))
	}
	r.AllowZones = append(r.AllowZones, Zone(zone))
	return nil
}

// ZoneOf returns the zone of an address. An IPv6 address that contains an IPv4 address has the zone of
// the IPv4 address. The zone of an invalid Addr is ZoneReserved.
func ZoneOf(addr netip.Addr) Zone { return (&Rules{}).zoneOf(addr) }

func (r *Rules) zoneOf(addr netip.Addr) Zone {
	addr = plain(addr)
	for _, prefix := range r.NAT64 {
		if prefix.Contains(addr) {
			return zoneIn(zones4, embedded(addr, prefix.Bits()))
		}
	}
	switch {
	case addr.Is4():
		return zoneIn(zones4, addr)
	case addr.Is6():
		return zoneIn(zones6, addr)
	}
	return ZoneReserved
}

// plain returns addr without its zone id, which netip.Prefix never matches, and as an IPv4 address if
// it is an IPv4-mapped one.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// A span is the zone of a prefix. If inner is set, it is the bit position of an IPv4 address, and that
// address decides the zone.
type span struct {
	prefix netip.Prefix
	zone   Zone
	inner  int
}

// zoneIn returns the zone of the first span that contains addr.
func zoneIn(table []span, addr netip.Addr) Zone {
	for _, s := range table {
		switch {
		case !s.prefix.Contains(addr):
		case s.inner > 0:
			return zoneIn(zones4, embedded(addr, s.inner))
		default:
			return s.zone
		}
	}
	return ZoneReserved
}

// embedded returns the IPv4 address after a prefix of the given bits, or the invalid Addr. RFC 6052
// §2.2 skips octet 8; 6to4 has 16 bits (RFC 3056 §2).
func embedded(addr netip.Addr, bits int) netip.Addr {
	if !addr.Is6() {
		return netip.Addr{}
	}
	octets := addr.As16()
	switch bits {
	case 16, 32, 40, 48, 56, 64:
		copy(octets[8:], octets[9:])
	case 96:
	default:
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte(octets[bits/8:]))
}

// The tables follow the IANA IPv4 and IPv6 Special-Purpose Address Registries
// and add the metadata services of clouds that live outside link-local space.
// More specific spans come first.
var zones4 = []span{
	in("169.254.0.0/16", ZoneLinkLocal),
	in("100.100.100.200/32", ZoneLinkLocal), // metadata of Alibaba Cloud
	in("168.63.129.16/32", ZoneLinkLocal),   // metadata of Azure
	in("192.0.0.192/32", ZoneLinkLocal),     // metadata of Oracle Cloud
	in("127.0.0.0/8", ZoneLoopback),
	in("10.0.0.0/8", ZonePrivate),
	in("172.16.0.0/12", ZonePrivate),
	in("192.168.0.0/16", ZonePrivate),
	in("100.64.0.0/10", ZonePrivate), // shared by carriers, RFC 6598
	in("192.0.0.0/24", ZonePrivate),  // IETF protocol assignments
	in("198.18.0.0/15", ZonePrivate), // benchmarks, RFC 2544
	in("192.0.2.0/24", ZoneDocumentation),
	in("198.51.100.0/24", ZoneDocumentation),
	in("203.0.113.0/24", ZoneDocumentation),
	in("0.0.0.0/8", ZoneReserved),
	in("192.88.99.0/24", ZoneReserved), // relays of 6to4, RFC 7526
	in("224.0.0.0/3", ZoneReserved),    // multicast, and 240/4 with the broadcast address
	in("0.0.0.0/0", ZonePublic),
}

var zones6 = []span{
	in("::1/128", ZoneLoopback),
	{prefix: netip.MustParsePrefix("::/96"), inner: 96}, // IPv4-compatible, RFC 4291 §2.5.5.1; "::" itself
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), inner: 96},
	in("64:ff9b:1::/48", ZonePrivate), // RFC 8215
	{prefix: netip.MustParsePrefix("2002::/16"), inner: 16},
	in("fd00:ec2::254/128", ZoneLinkLocal), // metadata of AWS
	in("fe80::/10", ZoneLinkLocal),
	in("fc00::/7", ZonePrivate),
	in("fec0::/10", ZonePrivate), // site-local, RFC 3879
	in("2001:db8::/32", ZoneDocumentation),
	in("3fff::/20", ZoneDocumentation),
	in("2001::/23", ZoneReserved), // IETF protocol assignments, with Teredo's hidden IPv4
	in("2000::/3", ZonePublic),
}

func in(prefix string, zone Zone) span {
	return span{prefix: netip.MustParsePrefix(prefix), zone: zone}
}
