package locator

import "iter"

// Tolerance is a set of departures from RFC 1738 that a [Parser] accepts.
type Tolerance uint16

// The departures a Parser can tolerate.
const (
	UnsafeOctets   Tolerance = 1 << iota // space { } | \ ^ ~ [ ] ` and octets 80-FF unencoded (§2.2)
	StrayPercent                         // "%" that no two hexadecimal digits follow (§2.2)
	Fragments                            // "#fragment" behind the URL (Appendix)
	WrappedText                          // "<URL:…>", "URL:" and white space around or inside (Appendix)
	MissingSlashes                       // "http:host/path" and "http:/host" for "http://host/path" (§3.1)
	ModernHosts                          // IPv6 literals, "_" and non-ASCII host names (§3.1)
	EmptyPort                            // "host:/" (§3.1)
	HTTPLogin                            // "user:password@" in an http URL (§3.3)
)

// TolerateAll accepts every named departure.
const TolerateAll = UnsafeOctets | StrayPercent | Fragments | WrappedText | MissingSlashes | ModernHosts | EmptyPort | HTTPLogin

// Parser parses URLs with a chosen tolerance. The zero value is strict, as
// [Parse]. A Parser is a value and safe for concurrent use.
type Parser struct {
	Tolerate Tolerance
}

// Reference is a URL as it stood in some text.
type Reference struct {
	Locator     Locator
	Fragment    string    // what followed "#", still encoded, without the "#"
	HasFragment bool      // whether there was a "#"
	Used        Tolerance // the departures the text needed
	Text        string    // the text it was read from, as found
}

// Parse parses a URL by RFC 1738 §5 to the letter. The error is a *[SyntaxError].
func Parse(s string) (Locator, error) { panic("to be written") }

// Parse parses a URL, accepting the departures of p.Tolerate. The error is a
// *[SyntaxError].
func (p Parser) Parse(s string) (Reference, error) { panic("to be written") }

// Equal reports whether two Locators are the same in every field.
func Equal(a, b Locator) bool { panic("to be written") }

// Extract yields the URLs in running text, in order, by the Appendix.
func Extract(text string) iter.Seq[Reference] { panic("to be written") }

func (l *FTP) String() string        { panic("to be written") }
func (l *FTP) Redacted() string      { panic("to be written") }
func (l *HTTP) String() string       { panic("to be written") }
func (l *HTTP) Redacted() string     { panic("to be written") }
func (l *Gopher) String() string     { panic("to be written") }
func (l *Gopher) Redacted() string   { panic("to be written") }
func (l *Mailto) String() string     { panic("to be written") }
func (l *Mailto) Redacted() string   { panic("to be written") }
func (l *News) String() string       { panic("to be written") }
func (l *News) Redacted() string     { panic("to be written") }
func (l *NNTP) String() string       { panic("to be written") }
func (l *NNTP) Redacted() string     { panic("to be written") }
func (l *Telnet) String() string     { panic("to be written") }
func (l *Telnet) Redacted() string   { panic("to be written") }
func (l *WAIS) String() string       { panic("to be written") }
func (l *WAIS) Redacted() string     { panic("to be written") }
func (l *File) String() string       { panic("to be written") }
func (l *File) Redacted() string     { panic("to be written") }
func (l *Prospero) String() string   { panic("to be written") }
func (l *Prospero) Redacted() string { panic("to be written") }
func (l *Opaque) String() string     { panic("to be written") }
func (l *Opaque) Redacted() string   { panic("to be written") }
