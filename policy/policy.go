// Package policy says where a URL may lead (RFC 1738 §6): which ports, which
// zones of addresses, and how far somebody else's URL is trusted. It plugs into
// [fetch.Env.Allow]:
//
//	env := &fetch.Env{Allow: policy.Public}
//
// [User] trusts the caller as to where a URL leads and nobody else: a link or
// redirect may not lead to an address closer to this machine than the one it
// came from. [Public] reaches public addresses only and is meant for programs
// that fetch URLs other people wrote. A [Rules] value relaxes either.
//
// A refusal is a *[Denied], which Env wraps in a *fetch.Error of kind ErrRefused.
package policy

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// User is the policy of the zero [Rules], for programs whose URLs are their
// own or their user's.
func User(ctx context.Context, t fetch.Target) error { return (&Rules{}).Allow(ctx, t) }

// Public is the policy of Rules{PublicOnly: true}, for programs whose URLs
// come from other people.
func Public(ctx context.Context, t fetch.Target) error {
	return (&Rules{PublicOnly: true}).Allow(ctx, t)
}

// Rules is a policy. The zero value is [User]. It must not be changed once in
// use; its methods are safe for concurrent use.
type Rules struct {
	// PublicOnly refuses file URLs and every address that is not public, whoever
	// wrote the URL.
	PublicOnly bool
	// AllowPorts are permitted besides those of the schemes, in URLs that the
	// user typed or configured. The least port of an FTP data connection stays
	// 1024.
	AllowPorts []uint16
	// AllowZones may be reached from anywhere, by links and redirects too. It has
	// no effect on [ZoneReserved].
	AllowZones []Zone
	// AnyHTTPPort permits http and https on every port in URLs that the user typed
	// or configured.
	AnyHTTPPort bool
	// RedirectToFTP lets an HTTP redirect lead to an ftp or ftps URL.
	RedirectToFTP bool
	// LocalLinks lets links and redirects from elsewhere lead to local files.
	LocalLinks bool
	// NAT64 are this network's own prefixes for IPv4 addresses in IPv6 (RFC 6052,
	// of 32, 40, 48, 56, 64 or 96 bits) besides the well-known 64:ff9b::/96. An
	// address in one has the zone of the IPv4 address inside.
	NAT64 []netip.Prefix
}

// Allow decides about a target; it has the signature of [fetch.Env.Allow]. With
// an invalid t.Addr it decides what can be decided before a name is looked up,
// otherwise about the address too. It does no I/O. The error is a *[Denied].
func (r *Rules) Allow(_ context.Context, t fetch.Target) error {
	for _, rule := range []func(fetch.Target) *Denied{r.locality, r.redirectScheme, stateChange, r.port, host, r.zone} {
		if d := rule(t); d != nil {
			return d
		}
	}
	return nil
}

// written reports whether the user wrote the URL, at the keyboard or in a
// configuration. Whatever is not known to be so is somebody else's.
func written(p fetch.Provenance) bool {
	return p.Kind == fetch.OriginUser || p.Kind == fetch.OriginConfig
}

// connects reports whether t is to be connected to; a file is not.
func connects(t fetch.Target) bool { return t.Network != "" }

// locality keeps local files for those who named them. A local directory may
// list its own files.
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
	return deny(t, "remote-to-local", "a local file", r.relax("", "LocalLinks"))
}

// redirectScheme keeps HTTP redirects within HTTP. A redirect of unknown
// origin counts as one of HTTP.
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
		return deny(t, "cross-scheme-redirect", t.Locator.Redacted(), r.relax("", "RedirectToFTP"))
	}
	return deny(t, "cross-scheme-redirect", t.Locator.Redacted(), "")
}

// stateChange keeps a Gopher+ form (RFC 1738 §3.4.9) from being filled in by
// anybody but the user: sending one may change things on the server.
func stateChange(t fetch.Target) *Denied {
	g, ok := t.Locator.(*locator.Gopher)
	if !ok || t.From.Kind == fetch.OriginUser || !strings.ContainsAny(g.Plus, "\t\r\n") {
		return nil
	}
	return deny(t, "state-changing-link", "a filled Gopher+ form", "")
}

// relax names what permits a refused target: the command's option or the field.
func (r *Rules) relax(option, field string) string {
	if r.PublicOnly || option == "" {
		return "policy.Rules." + field
	}
	return option
}

// host refuses spellings of an address that resolvers read differently
// (CVE-2021-29923), and the empty host, which dials this machine.
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

// ambiguous reports whether a host looks like an address without being one:
// its last label is a number, in any base, or it is an IPv6 address with a
// zone that is not link-local.
func ambiguous(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() != "" && !addr.IsLinkLocalUnicast()
	}
	last := strings.TrimSuffix(host, ".")
	last = strings.ToLower(last[strings.LastIndexByte(last, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// zone keeps addresses apart. A proxy is the user's own choice, so only what
// is never reached is refused for it.
func (r *Rules) zone(t fetch.Target) *Denied {
	addr := t.Addr.Addr()
	known := fetch.KnownAddrs(t.Host)
	if !addr.IsValid() && known != nil {
		addr = known[0]
	}
	if !connects(t) || !addr.IsValid() {
		return nil
	}
	zone := r.zoneOf(addr)
	named := len(known) == 1 && plain(known[0]) == plain(addr)
	switch {
	case zone != ZoneReserved && slices.Contains(r.AllowZones, zone):
		return nil
	case zone == ZoneReserved, zone == ZoneDocumentation:
	case t.Purpose == fetch.PurposeProxy:
		return nil
	case r.PublicOnly:
		if zone == ZonePublic {
			return nil
		}
	case zone == ZoneLinkLocal && !named:
	case written(t.From), zone <= max(ZonePublic, r.zoneOf(t.From.Peer)):
		return nil
	}
	if !t.Addr.Addr().IsValid() {
		t.Addr = netip.AddrPortFrom(addr, t.Port)
	}
	relax := ""
	if zone != ZoneReserved {
		relax = r.relax("--allow-zone "+zone.String(), "AllowZones")
	}
	return deny(t, zone.String()+"-address", t.Addr.String(), relax)
}
