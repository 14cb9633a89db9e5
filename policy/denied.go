package policy

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// Denied is a refusal.
type Denied struct {
	// Rule is the name of the rule: "reserved-port", "bad-port", "data-port",
	// "private-address" and so on for each [Zone], "ambiguous-address",
	// "zone-id", "empty-host", "network", "local-file", "remote-to-local",
	// "cross-scheme-redirect" or "state-changing-link".
	Rule string
	// URL is what was to be fetched, redacted.
	URL string
	// Peer is the address that was refused; invalid for rules that need none.
	Peer netip.AddrPort
	// From is who wrote the URL.
	From fetch.Provenance
	// Relax names what permits it; empty when nothing does.
	Relax string

	what string
}

// deny makes the refusal of t; what is the place or deed refused.
func deny(t fetch.Target, rule, what, relax string) *Denied {
	d := &Denied{Rule: rule, Peer: t.Addr, From: t.From, Relax: relax, what: what}
	if t.Locator != nil {
		d.URL = t.Locator.Redacted()
	}
	return d
}

// Error is one line of printable ASCII that names the rule, what was refused
// and what permits it:
//
//	denied (rule private-address): redirect from http://example.com/ to 10.0.0.5:80; use --allow-zone private to permit
//	denied (rule reserved-port): gopher on port 25 (smtp); use --allow-port 25 to permit
func (d *Denied) Error() string {
	var b strings.Builder
	b.WriteString("denied (rule " + d.Rule + "): ")
	switch {
	case !written(d.From):
		b.WriteString(brief(d.From.String()) + " to ")
	case d.Peer.IsValid():
		b.WriteString(brief(d.URL) + " at ")
	}
	b.WriteString(brief(d.what))
	if d.Relax != "" {
		b.WriteString("; use " + d.Relax + " to permit")
	}
	return b.String()
}

// brief bounds a part of the message, so that what follows it is not cut off
// when the whole is shown.
func brief(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fetch.Printable(s)
}

// place is where t leads, as named.
func place(t fetch.Target) string {
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
}
