package locator

import "strings"

// Tolerance is a set of departures from RFC 1738 that a [Parser] accepts.
//
// A tolerated octet means the same as its encoding, and String encodes it, so that the result is a
// strict URL. The exceptions are hosts by ModernHosts, logins by HTTPLogin, the search of an http URL
// by ReservedOctets, fields by MailHeaders, and nntp URLs by AllGroups: they have no strict form, and
// only a Parser with the same tolerance accepts them again.
type Tolerance uint16

// The departures a Parser can tolerate.
const (
	UnsafeOctets   Tolerance = 1 << iota // space { } | \ ^ ~ [ ] ` and octets 80-FF unencoded, and "#" in a fragment (§2.2)
	StrayPercent                         // "%" without two hexadecimal digits after it (§2.2)
	Fragments                            // "#fragment" after the URL (Appendix)
	WrappedText                          // "<URL:…>" with white space inside, "URL:", and white space around (Appendix)
	MissingSlashes                       // "http:host/path" and "http:/host" for "http://host/path", "http://host?search" (§3.1)
	ModernHosts                          // IPv6 literals, link-local ones also with a zone; "_", non-ASCII letters, a final dot and a last label that starts with a digit in hosts (§3.1)
	EmptyPort                            // "host:/" (§3.1)
	HTTPLogin                            // "user:password@" in an http URL (§3.3)
	ReservedOctets                       // reserved characters unencoded where the grammar does not allow them: "/" and "?" in a search, ";" in a file's name, ":" in a password, any in a wais document-id (§2.2)
	MailHeaders                          // "?subject=…&cc=…" after the address of a mailto URL (RFC 6068); by §3.5 it is part of the address
	AllGroups                            // "nntp://host/", "nntp://host" and "nntp://host/*" for the list of all groups of a server (§3.7), "snews://host" for "snews://host/*"
)

// TolerateAll accepts every named departure.
const TolerateAll = UnsafeOctets | StrayPercent | Fragments | WrappedText | MissingSlashes | ModernHosts | EmptyPort | HTTPLogin | ReservedOctets | MailHeaders | AllGroups

// TolerateUsual is for the URLs that people write. A Resolver and the command use it by default.
// WrappedText is not included: it is for running text, and makes white space at the end of a URL
// ambiguous.
const TolerateUsual = TolerateAll &^ WrappedText

// String returns the names of the departures, such as "UnsafeOctets|EmptyPort". It is empty for 0.
func (t Tolerance) String() string {
	var names []string
	for i, name := range []string{
		"UnsafeOctets", "StrayPercent", "Fragments", "WrappedText", "MissingSlashes",
		"ModernHosts", "EmptyPort", "HTTPLogin", "ReservedOctets", "MailHeaders", "AllGroups",
	} {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}
