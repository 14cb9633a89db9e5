package locator

import "strings"

// Tolerance is a set of departures from RFC 1738 that a [Parser] accepts.
//
// A tolerated octet stands for the same octet encoded, and String encodes it: a
// URL that a Parser read is written strictly again. Only hosts by ModernHosts,
// logins by HTTPLogin, the search of an http URL by ReservedOctets and fields by
// MailHeaders have no strict form; the same Parser reads them again.
type Tolerance uint16

// The departures a Parser can tolerate.
const (
	UnsafeOctets   Tolerance = 1 << iota // space { } | \ ^ ~ [ ] ` and octets 80-FF unencoded (§2.2)
	StrayPercent                         // "%" that no two hexadecimal digits follow (§2.2)
	Fragments                            // "#fragment" behind the URL (Appendix)
	WrappedText                          // "<URL:…>" with white space inside, "URL:", and white space around (Appendix)
	MissingSlashes                       // "http:host/path" and "http:/host" for "http://host/path", "http://host?search" (§3.1)
	ModernHosts                          // IPv6 literals, link-local ones also with a zone; "_", non-ASCII letters, a final dot and a last label that starts with a digit in hosts (§3.1)
	EmptyPort                            // "host:/" (§3.1)
	HTTPLogin                            // "user:password@" in an http URL (§3.3)
	ReservedOctets                       // reserved characters unencoded where the grammar has no place for them: "/" and "?" in a search, ";" in a file's name, ":" in a password, any in a wais document-id (§2.2)
	MailHeaders                          // "?subject=…&cc=…" behind the address of a mailto URL (RFC 6068), to §3.5 a part of the address
)

// TolerateAll accepts every named departure.
const TolerateAll = UnsafeOctets | StrayPercent | Fragments | WrappedText | MissingSlashes | ModernHosts | EmptyPort | HTTPLogin | ReservedOctets | MailHeaders

// TolerateUsual is how the URLs that people write are read: by a Resolver and by
// the command, unless they are asked to be strict. WrappedText is not in it: it
// is for running text, and makes white space at the end of a URL ambiguous.
const TolerateUsual = TolerateAll &^ WrappedText

// String names the departures, such as "UnsafeOctets|EmptyPort"; it is empty for
// none.
func (t Tolerance) String() string {
	var names []string
	for i, name := range []string{
		"UnsafeOctets", "StrayPercent", "Fragments", "WrappedText", "MissingSlashes",
		"ModernHosts", "EmptyPort", "HTTPLogin", "ReservedOctets", "MailHeaders",
	} {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}
