// Package policy decides where a URL may lead (RFC 1738 §6): which ports, which zones of addresses,
// and where links and redirects may go. A policy is the Allow function of a [fetch.Env]:
//
//	env := fetch.Env{Allow: policy.Public}
//
// [User] is for programs whose URLs come from their user. Those URLs may lead anywhere, but a link or
// redirect may not lead to an address closer to this computer than the server it came from. [Public]
// is for programs that fetch URLs that other people wrote: it permits public addresses only. A
// [Rules] value relaxes either.
//
// A refusal is a *[Denied]. A Fetcher returns it inside a *fetch.Error of kind ErrRefused.
package policy

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// User is the policy of the zero [Rules], for programs whose URLs are their own or come from their
// user.
func User(ctx context.Context, t fetch.Target) error { return (&Rules{}).Allow(ctx, t) }

// Public is the policy of Rules{PublicOnly: true}, for programs whose URLs come from other people.
func Public(ctx context.Context, t fetch.Target) error {
	return (&Rules{PublicOnly: true}).Allow(ctx, t)
}

// Rules is a policy with settings. The zero value is [User]. It must not be changed once it is in use.
// Its methods are safe for concurrent use.
type Rules struct {
	// PublicOnly refuses file URLs and every address that is not public, also in URLs that the user
	// wrote.
	PublicOnly bool
	// AllowPorts are permitted besides the default ports, in URLs that the user typed or configured.
	// FTP data connections to ports below 1024 are refused anyway.
	AllowPorts []uint16
	// AllowZones are permitted for every URL, including links and redirects. [ZoneReserved] has no
	// effect here.
	AllowZones []Zone
	// AllowPrefixes are addresses that are permitted in the same way, such as 10.1.0.0/16, unless
	// their zone is reserved. An IPv4 address inside an IPv6 one, except an IPv4-mapped one, is in
	// no prefix of IPv4.
	AllowPrefixes []netip.Prefix
	// OnlyHosts, if not empty, are the only hosts that any URL may lead to: names as in the URL, in
	// ASCII and without regard to case, addresses, and "*.example.org" for every name below
	// example.org. A name here permits no address: those that it has must be permitted by the other
	// fields, so that the DNS of a name cannot lead to others. Proxies and file URLs have no such
	// host.
	OnlyHosts []string
	// AnyHTTPPort permits every port for http and https, in URLs that the user typed or configured.
	AnyHTTPPort bool
	// RedirectToFTP permits HTTP redirects to ftp and ftps URLs.
	RedirectToFTP bool
	// LocalLinks permits file URLs in links and redirects from servers.
	LocalLinks bool
	// NAT64 are the prefixes for IPv4 addresses in IPv6 that this network uses, besides the well-known
	// 64:ff9b::/96. They have 32, 40, 48, 56, 64 or 96 bits (RFC 6052). An address with such a prefix
	// has the zone of the IPv4 address inside it.
	NAT64 []netip.Prefix
}

// Allow returns nil if the policy permits t, else a *[Denied]. It is a [fetch.Env.Allow]. If t.Addr is
// invalid, because the name has not been looked up, it applies the rules that need no address. It does
// no I/O.
func (r *Rules) Allow(_ context.Context, t fetch.Target) error {
	for _, rule := range []func(fetch.Target) *Denied{r.locality, r.redirectScheme, stateChange, r.port, host, r.listed, r.zone} {
		if d := rule(t); d != nil {
			return d
		}
	}
	return nil
}

// written reports whether the user wrote the URL, by typing it or in a configuration. Every other URL
// counts as written by someone else.
func written(p fetch.Provenance) bool {
	return p.Kind == fetch.OriginUser || p.Kind == fetch.OriginConfig
}

// connects reports whether accessing t opens a connection. A file URL does not.
func connects(t fetch.Target) bool { return t.Network != "" }

// locality refuses file URLs that the user did not write. The entries of a local directory are
// permitted.
func (r *Rules) locality(t fetch.Target) *Denied {
	if _, isFile := t.Locator.(*locator.File); !isFile {
		return nil
	}
	_, fromFile := t.From.By.(*locator.File)
	switch {
	case r.PublicOnly:
		return deny(t, "local-file", "a local file", "")
	case written(t.From), fromFile, r.LocalLinks:
		return nil
	}
	return deny(t, "remote-to-local", "a local file", "policy.Rules.LocalLinks")
}

// redirectScheme refuses HTTP redirects to other schemes. A redirect of unknown origin counts as an
// HTTP redirect.
func (r *Rules) redirectScheme(t fetch.Target) *Denied {
	if t.From.Kind != fetch.OriginRedirect || t.Locator == nil {
		return nil
	}
	if _, fromHTTP := t.From.By.(*locator.HTTP); !fromHTTP && t.From.By != nil {
		return nil
	}
	_, isFTP := t.Locator.(*locator.FTP)
	_, isHTTP := t.Locator.(*locator.HTTP)
	switch {
	case isHTTP:
		return nil
	case isFTP:
		if r.RedirectToFTP {
			return nil
		}
		return deny(t, "cross-scheme-redirect", t.Locator.Redacted(), "policy.Rules.RedirectToFTP")
	}
	return deny(t, "cross-scheme-redirect", t.Locator.Redacted(), "")
}

// stateChange refuses a filled Gopher+ form (RFC 1738 §3.4.9) that the user did not type, because
// sending it may change data on the server.
func stateChange(t fetch.Target) *Denied {
	g, ok := t.Locator.(*locator.Gopher)
	if !ok || t.From.Kind == fetch.OriginUser || !strings.ContainsAny(g.Plus, "\t\r\n") {
		return nil
	}
	return deny(t, "state-changing-link", "a filled Gopher+ form", "")
}

// host refuses spellings of an address that resolvers read differently (CVE-2021-29923), and the empty
// host, which would connect to this computer.
func host(t fetch.Target) *Denied {
	switch {
	case !connects(t):
		return nil
	case t.Network != "tcp" && t.Network != "udp":
		return deny(t, "network", t.Network+" "+t.Host, "")
	case t.Host == "":
		return deny(t, "empty-host", place(t), "")
	case ambiguous(t.Host):
		return deny(t, "ambiguous-address", t.Host, "")
	case strings.Contains(t.Host, "%") && !written(t.From) && t.Purpose != fetch.PurposeData && !onServer(t.From.By, t.Host):
		return deny(t, "zone-id", t.Host+": only a typed URL may name a network interface", "")
	}
	return nil
}

// onServer reports whether l is on host.
func onServer(l locator.Locator, host string) bool {
	server, ok := locator.ServerOf(l)
	return ok && server.Host == host
}

// ambiguous reports whether a host looks like an address but is not one: all its labels are numbers, in
// any base, or it is an IPv6 address with a zone that is not link-local.
func ambiguous(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() != "" && !addr.IsLinkLocalUnicast()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	for label := range strings.SplitSeq(name, ".") {
		digits := "0123456789"
		if strings.HasPrefix(label, "0x") {
			label, digits = label[2:], "0123456789abcdef"
		}
		if strings.Trim(label, digits) != "" {
			return false
		}
	}
	return name != ""
}

// listed refuses the hosts that are not in OnlyHosts. The data connection of FTP leads to the server
// of the control connection.
func (r *Rules) listed(t fetch.Target) *Denied {
	if len(r.OnlyHosts) == 0 || !connects(t) || t.Purpose != fetch.PurposeControl {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(t.Host, "."))
	addr, _ := netip.ParseAddr(t.Host)
	for _, only := range r.OnlyHosts {
		only = strings.ToLower(strings.TrimSuffix(only, "."))
		below, isPattern := strings.CutPrefix(only, "*")
		listed, _ := netip.ParseAddr(only)
		switch {
		case addr.IsValid():
			if plain(addr) == plain(listed) {
				return nil
			}
		case name == only, isPattern && strings.HasPrefix(below, ".") && len(name) > len(below) && strings.HasSuffix(name, below):
			return nil
		}
	}
	return deny(t, "unlisted-host", t.Host, "policy.Rules.OnlyHosts")
}

// inPrefix reports whether addr is in AllowPrefixes.
func (r *Rules) inPrefix(addr netip.Addr) bool {
	addr = plain(addr)
	return slices.ContainsFunc(r.AllowPrefixes, func(p netip.Prefix) bool {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		return p.Contains(addr)
	})
}

// names reports whether a host is written as the address addr.
func names(host string, addr netip.Addr) bool {
	known := wire.KnownAddrs(host)
	return len(known) == 1 && plain(known[0]) == plain(addr)
}

// zone refuses addresses by their zone. The user chooses the proxy, so a proxy may be in any zone
// except the reserved and documentation zones.
func (r *Rules) zone(t fetch.Target) *Denied {
	if !connects(t) {
		return nil
	}
	addr := t.Addr.Addr()
	if !addr.IsValid() {
		known := wire.KnownAddrs(t.Host)
		if known == nil {
			return nil
		}
		addr = known[0]
	}
	zone := r.zoneOf(addr)
	switch {
	case zone != ZoneReserved && (slices.Contains(r.AllowZones, zone) || r.inPrefix(addr)):
		return nil
	case zone == ZoneReserved, zone == ZoneDocumentation:
	case t.Purpose == fetch.PurposeProxy:
		return nil
	case r.PublicOnly:
		if zone == ZonePublic {
			return nil
		}
	case zone == ZoneLinkLocal && !names(t.Host, addr):
	case written(t.From), zone <= max(ZonePublic, r.zoneOf(t.From.Peer)):
		return nil
	}
	if !t.Addr.Addr().IsValid() {
		t.Addr = netip.AddrPortFrom(addr, t.Port)
	}
	relax := ""
	if zone != ZoneReserved {
		relax = "policy.Rules.AllowZones with " + zone.String()
	}
	return deny(t, zone.String()+"-address", t.Addr.String(), relax)
}
