// Package locator is the grammar of RFC 1738: it turns the text of a URL into a
// [Locator] and back, and does no I/O.
//
// [Parse] accepts exactly what section 5 of the document derives. A [Parser]
// with a [Tolerance] also accepts named departures and reports which of them a
// text needed. [Extract] finds URLs in running text by the document's Appendix.
// Schemes that are one of the document's over TLS (https, ftps, gophers, nntps,
// snews) have the grammar of that one; [Schemes] lists all that have one.
//
// A Locator is one struct per scheme; strings in it hold decoded octets. A URL
// is split first and decoded after, component by component (§2.2, §3.2.2), so
// that "%2F" inside a component stays inside that component.
package locator

// Locator is a parsed URL: one of *[FTP], *[HTTP], *[Gopher], *[Mailto],
// *[News], *[NNTP], *[Telnet], *[WAIS], *[File], *[Prospero], or *[Opaque] for
// every other scheme. The family is sealed; a type switch is the dispatch. What
// can be asked of each is a function: [ServerOf], [WithLogin], [HasPassword],
// [Equal], [CheckOctets].
//
// Locators are plain data: callers may build them as literals. Once handed to
// somebody else a Locator is read-only and may be shared between goroutines.
type Locator interface {
	// Scheme is the scheme's name in lower case, without the colon.
	Scheme() string
	// String is the canonical URL: the scheme in lower case, the host as written,
	// every octet encoded that its component does not allow, and no other (http
	// and Opaque keep the escapes that they were written with). It never fails; for a Locator that came from Parse, Parse(String()) gives an
	// equal Locator. It shows the password.
	String() string
	// Redacted is String with any password replaced by "***".
	Redacted() string

	// What is asked of every Locator; see ServerOf, WithLogin, Equal and
	// CheckOctets. A port that the URL does not give is 0, a place for a login that
	// there is none of is nil.
	server() (s Server, ok bool)
	withLogin(login *Login) Locator
	equal(b Locator) bool
	check(c *octetCheck)
}
