package locator

// Scheme is what is known of a scheme besides its grammar.
type Scheme struct {
	// Name is in lower case, without the colon.
	Name string
	// Port is the one that URLs mean when they give none; 0 for schemes whose URLs
	// name no port.
	Port uint16
	// Secure says that the conversation is under TLS from its first octet on.
	Secure bool
	// Twin is the scheme with the same grammar and the opposite of Secure; empty if
	// there is none.
	Twin string
}

// schemes are those that have a grammar here, those of a protocol together.
// Whatever is to be known of a scheme outside its grammar is looked up here.
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

// Schemes returns the schemes that have a grammar in this package. Any other is
// read as an [Opaque].
func Schemes() []Scheme { return append([]Scheme(nil), schemes...) }

// SchemeOf returns what is known of the scheme of that name, which is in lower
// case. It is false for one without a grammar here; then only the Name is set.
func SchemeOf(name string) (Scheme, bool) {
	for _, s := range schemes {
		if s.Name == name {
			return s, true
		}
	}
	return Scheme{Name: name}, false
}

// schemeName is the name of a scheme, or of its twin under TLS.
func schemeName(secure bool, plain, twin string) string {
	if secure {
		return twin
	}
	return plain
}

// DefaultPort is the port a scheme's URLs mean when they give none, or 0 for
// schemes that name no server and those without a grammar here.
func DefaultPort(scheme string) uint16 {
	s, _ := SchemeOf(scheme)
	return s.Port
}
