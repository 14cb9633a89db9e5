package locator

// Scheme has the facts about a scheme that are not part of its grammar.
type Scheme struct {
	// Name is in lower case, without the colon.
	Name string
	// Port is the default port; 0 if URLs of the scheme have no port.
	Port uint16
	// Secure is set if the connection uses TLS from the first byte on.
	Secure bool
	// Twin is the scheme with the same grammar and the opposite of Secure; empty if there is no such
	// scheme.
	Twin string
}

// schemes are the schemes that have a bundled Fetcher, grouped by protocol. One without a grammar here
// is parsed as an [Opaque]. All code that needs a fact about a scheme reads this table.
var schemes = []Scheme{
	{Name: "file"},
	{Name: "ftp", Port: 21, Twin: "ftps"},
	{Name: "ftps", Port: 990, Secure: true, Twin: "ftp"},
	{Name: "gopher", Port: 70, Twin: "gophers"},
	{Name: "gophers", Port: 70, Secure: true, Twin: "gopher"},
	{Name: "http", Port: 80, Twin: "https"},
	{Name: "https", Port: 443, Secure: true, Twin: "http"},
	{Name: "mailto"},
	{Name: "nntp", Port: 119, Twin: "nntps"},
	{Name: "nntps", Port: 563, Secure: true, Twin: "nntp"},
	{Name: "news", Port: 119, Twin: "snews"},
	{Name: "snews", Port: 563, Secure: true, Twin: "news"},
	{Name: "prospero", Port: 1525},
	{Name: "telnet", Port: 23},
	{Name: "wais", Port: 210},
}

// Schemes returns the table of the supported schemes.
func Schemes() []Scheme { return append([]Scheme(nil), schemes...) }

// SchemeOf returns the row of a scheme in the table of [Schemes]. name must be in lower case. If there
// is no such row, ok is false and only the Name is set.
func SchemeOf(name string) (s Scheme, ok bool) {
	for _, s := range schemes {
		if s.Name == name {
			return s, true
		}
	}
	return Scheme{Name: name}, false
}

// schemeName returns the name of a scheme, or of its twin with TLS.
func schemeName(secure bool, plain, twin string) string {
	if secure {
		return twin
	}
	return plain
}

// DefaultPort returns the default port of a scheme. It is 0 for schemes without a port and for schemes
// that are not in the table of [Schemes].
func DefaultPort(scheme string) uint16 {
	s, _ := SchemeOf(scheme)
	return s.Port
}
