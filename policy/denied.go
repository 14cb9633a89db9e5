package policy

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// Denied is the error of a policy that refuses a URL.
type Denied struct {
	// Rule is the name of the rule: "reserved-port", "bad-port", "data-port",
	// "private-address" and so on for each [Zone], "ambiguous-address",
	// "unlisted-host", "zone-id", "empty-host", "network", "local-file", "remote-to-local",
	// "cross-scheme-redirect" or "state-changing-link".
	Rule string
	// URL is the refused URL, redacted.
	URL string
	// Peer is the refused address; invalid for rules that are not about addresses.
	Peer netip.AddrPort
	// From says who wrote the URL.
	From fetch.Provenance
	// Relax is the field of [Rules] that permits the URL, with what to add to it: "policy.Rules.LocalLinks",
	// or "policy.Rules.AllowPorts with 25". It is empty if nothing does.
	Relax string

	what string // for the message: what was refused
}

// deny returns the refusal of t. what is the refused address or action, for the message.
func deny(t fetch.Target, rule, what, relax string) *Denied {
	d := &Denied{Rule: rule, Peer: t.Addr, From: t.From, Relax: relax, what: what}
	if t.Locator != nil {
		d.URL = t.Locator.Redacted()
	}
	return d
}

// Error returns Reason and what permits the URL:
//
//	denied (rule private-address): redirect from http://example.com/ to 10.0.0.5:80; use policy.Rules.AllowZones with private to permit
func (d *Denied) Error() string {
	if d.Relax == "" {
		return d.Reason()
	}
	return d.Reason() + "; use " + d.Relax + " to permit"
}

// Reason returns one line of printable ASCII with the rule and what was refused, for a reader who
// cannot change the Rules:
//
//	denied (rule reserved-port): gopher on port 25 (smtp)
func (d *Denied) Reason() string {
	var b strings.Builder
	b.WriteString("denied (rule " + d.Rule + "): ")
	switch {
	case !written(d.From):
		b.WriteString(brief(d.From.String()) + " to ")
	case d.Peer.IsValid():
		b.WriteString(brief(d.URL) + " at ")
	}
	b.WriteString(brief(d.what))
	return b.String()
}

// brief limits the length of a part of the message, so that the end of the message is not cut off.
func brief(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fetch.Printable(s)
}

// place returns the host and port of t.
func place(t fetch.Target) string {
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
}
