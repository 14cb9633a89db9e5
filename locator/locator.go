// Package locator parses URLs by the grammar of RFC 1738. It turns the text of a URL into a [Locator]
// and back, and does no I/O.
//
// The zero [Parser] accepts exactly the URLs that RFC 1738 §5 allows. One with a [Tolerance] also
// accepts named departures, and reports which of them a URL needed; [TolerateUsual] is for the URLs
// that people write. [Parser.Extract] finds URLs in running text by the Appendix of RFC 1738. Schemes
// for one of its protocols over TLS (https, ftps, gophers, nntps, snews) have the same grammar;
// [Schemes] lists the schemes.
//
// Each scheme has its own struct. Its strings hold decoded octets. A URL is split into components
// first, and each component is decoded afterwards (§2.2, §3.2.2), so that "%2F" does not split a
// component. Sections (§) are those of RFC 1738.
package locator

// Locator is a parsed URL: one of *[FTP], *[HTTP], *[Gopher], *[Mailto], *[News], *[NNTP], *[Telnet],
// *[WAIS], *[File], *[Prospero], or *[Opaque] for every other scheme. No other package can implement
// it, so a type switch can list all cases. [ServerOf], [WithLogin], [WithHostPort], [HasPassword],
// [Equal] and [FindControl] work with every Locator.
//
// Locators are plain data: callers may write them as literals. A Locator must not be changed after it
// has been passed to a function. It may be shared between goroutines.
type Locator interface {
	// Scheme returns the name of the scheme in lower case, without the colon.
	Scheme() string
	// String returns the canonical URL, with the password. The scheme is in lower case and the host
	// as written. An octet is encoded if its component does not allow it, and only then; HTTP and
	// Opaque keep the escapes of the original URL. Parsing it again returns an equal Locator.
	String() string
	// Redacted returns String with the password replaced by "***".
	Redacted() string

	// See ServerOf, WithLogin, WithHostPort, Equal and FindControl. The port is 0 if the URL has none.
	// withLogin returns nil if URLs of the scheme cannot have a login.
	server() (s Server, ok bool)
	withLogin(login *Login) Locator
	withHostPort(at HostPort) Locator
	equal(b Locator) bool
	check(c *octetCheck)
}
