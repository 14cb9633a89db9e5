// Package locator is the grammar of RFC 1738: it turns the text of a URL into a
// [Locator] and back, and does no I/O.
//
// [Parse] accepts exactly what section 5 of the document derives. A [Parser]
// with a [Tolerance] also accepts named departures and reports which of them a
// text needed. [Extract] finds URLs in running text by the document's Appendix.
//
// A Locator is one struct per scheme; strings in it hold decoded octets. A URL
// is split first and decoded after, component by component (§2.2, §3.2.2), so
// that "%2F" inside a component stays inside that component.
package locator

import "strings"

// Locator is a parsed URL: one of *[FTP], *[HTTP], *[Gopher], *[Mailto],
// *[News], *[NNTP], *[Telnet], *[WAIS], *[File], *[Prospero], or *[Opaque] for
// every other scheme. The family is sealed; a type switch is the dispatch.
//
// Locators are plain data: callers may build them as literals. Once handed to
// somebody else a Locator is read-only and may be shared between goroutines.
type Locator interface {
	// Scheme is the scheme's name in lower case, without the colon.
	Scheme() string
	// String is the canonical URL. It never fails; for a Locator that came from
	// Parse, Parse(String()) gives an equal Locator. It shows the password.
	String() string
	// Redacted is String with any password replaced by "***".
	Redacted() string

	locator()
}

// HostPort is a host and an optional port (§3.1).
type HostPort struct {
	// Host is a domain name or address as written; IPv6 literals (tolerated
	// only) are without their brackets.
	Host string
	// Port is 0 when the URL gives none; see [DefaultPort].
	Port uint16
}

// Server is the "//user:password@host:port" of the common Internet scheme
// syntax (§3.1).
type Server struct {
	// Login is nil when the URL has no "@". Only ftp and telnet define one; http
	// has one when [HTTPLogin] was tolerated.
	Login *Login
	HostPort
}

// Login is what stands before the "@" (§3.1). An empty user or password differs
// from an absent one: "ftp://@h/" has an empty user and no password,
// "ftp://foo:@h/" the user foo and an empty password.
type Login struct {
	User, Password string
	HasPassword    bool
}

// FTP is an ftp URL (§3.2).
type FTP struct {
	Server
	// CWD are the arguments of the CWD commands, in order. An empty string is a
	// CWD with a null argument.
	CWD []string
	// Name is the last component: the argument of RETR or NLST. It is empty when
	// the URL ends in a slash.
	Name string
	// Type is the typecode 'a', 'i' or 'd' in lower case, or 0 when omitted.
	Type byte
	// HasPath tells "ftp://h/" (true) from "ftp://h" (false).
	HasPath bool
}

// HTTP is an http URL (§3.3), or https with Secure.
type HTTP struct {
	// Server.Login is always nil in a strict parse: "No user name or password is
	// allowed."
	Server
	// Path and Search are kept as they are written, still encoded: HTTP sends
	// them so. The "/" between host and path and the "?" belong to neither.
	Path, Search string
	// HasPath and HasSearch tell an empty component from an absent one.
	HasPath, HasSearch bool
	// Secure is set for https.
	Secure bool
}

// Gopher is a gopher URL (§3.4).
type Gopher struct {
	HostPort
	// Type is the gophertype; '1' when the URL has no gopher-path.
	Type byte
	// Selector, Search and Plus are the parts between the encoded tabs.
	Selector, Search, Plus string
	// Fields is how many "%09" the path holds, 0 to 2: it tells an empty search
	// or Gopher+ string from an absent one.
	Fields uint8
	// HasPath tells "gopher://h/" (true) from "gopher://h" (false).
	HasPath bool
}

// Mailto is a mailto URL (§3.5); Address is the decoded RFC 822 addr-spec.
type Mailto struct{ Address string }

// News is a news URL (§3.6): exactly one of its fields is set.
type News struct {
	// All is "news:*", all available groups.
	All bool
	// Group is a newsgroup name.
	Group string
	// MessageID is a message-id without its angle brackets; it holds an "@".
	MessageID string
}

// NNTP is an nntp URL (§3.7).
type NNTP struct {
	HostPort
	Group string
	// Article is the article number in decimal digits, as written; empty when
	// the URL names the group.
	Article string
}

// Telnet is a telnet URL (§3.8): a service, not a document.
type Telnet struct {
	Server
	// Slash is whether the URL ends in "/".
	Slash bool
}

// WAISForm tells the three forms of a wais URL apart (§3.9).
type WAISForm uint8

// The forms of a wais URL.
const (
	WAISDatabase WAISForm = iota // wais://host/database
	WAISSearch                   // wais://host/database?search
	WAISDocument                 // wais://host/database/wtype/wpath
)

// WAIS is a wais URL (§3.9). Search is used by the second form, WType and WPath
// by the third; WPath is the decoded, opaque document-id.
type WAIS struct {
	HostPort
	Form                           WAISForm
	Database, Search, WType, WPath string
}

// File is a file URL (§3.10).
type File struct {
	// Host is "" or "localhost" for this machine; the two are kept apart. Any
	// other host designates a file of that machine.
	Host string
	// Segments are the components of the path; the last is empty when the URL
	// ends in a slash.
	Segments []string
}

// Prospero is a prospero URL (§3.11).
type Prospero struct {
	HostPort
	// HSOName is the host-specific object name; "//pros/name" after the host
	// gives "/pros/name".
	HSOName string
	// Fields are the ";field=value" pairs in order.
	Fields []Field
}

// Field is one name and value of a Prospero link.
type Field struct{ Name, Value string }

// Opaque is a URL of any scheme this package has no grammar for (§2.1, §4):
// experimental "x-…", afs, mid, cid, nfs, tn3270 and whatever comes later. Rest
// is the scheme-specific part, still encoded.
type Opaque struct{ Name, Rest string }

func (*FTP) locator()      {}
func (*HTTP) locator()     {}
func (*Gopher) locator()   {}
func (*Mailto) locator()   {}
func (*News) locator()     {}
func (*NNTP) locator()     {}
func (*Telnet) locator()   {}
func (*WAIS) locator()     {}
func (*File) locator()     {}
func (*Prospero) locator() {}
func (*Opaque) locator()   {}

// Scheme implements [Locator].
func (*FTP) Scheme() string { return "ftp" }

// Scheme implements [Locator]: "http", or "https" for a Secure one.
func (l *HTTP) Scheme() string {
	if l.Secure {
		return "https"
	}
	return "http"
}

// Scheme implements [Locator].
func (*Gopher) Scheme() string { return "gopher" }

// Scheme implements [Locator].
func (*Mailto) Scheme() string { return "mailto" }

// Scheme implements [Locator].
func (*News) Scheme() string { return "news" }

// Scheme implements [Locator].
func (*NNTP) Scheme() string { return "nntp" }

// Scheme implements [Locator].
func (*Telnet) Scheme() string { return "telnet" }

// Scheme implements [Locator].
func (*WAIS) Scheme() string { return "wais" }

// Scheme implements [Locator].
func (*File) Scheme() string { return "file" }

// Scheme implements [Locator].
func (*Prospero) Scheme() string { return "prospero" }

// Scheme implements [Locator]: the Name in lower case.
func (l *Opaque) Scheme() string { return strings.ToLower(l.Name) }

// DefaultPort is the port a scheme's URLs mean when they give none, or 0 for
// schemes that name no server.
func DefaultPort(scheme string) uint16 {
	switch scheme {
	case "ftp":
		return 21
	case "telnet":
		return 23
	case "gopher":
		return 70
	case "http":
		return 80
	case "news", "nntp":
		return 119
	case "wais":
		return 210
	case "https":
		return 443
	case "prospero":
		return 1525
	}
	return 0
}

// ServerOf is the server a Locator names, with the scheme's default port filled
// in. It is false for Locators that name none: mailto, news and opaque ones. A
// file URL's host is a server without a port.
func ServerOf(l Locator) (Server, bool) {
	var s Server
	switch l := l.(type) {
	case *FTP:
		s = l.Server
	case *HTTP:
		s = l.Server
	case *Telnet:
		s = l.Server
	case *Gopher:
		s.HostPort = l.HostPort
	case *NNTP:
		s.HostPort = l.HostPort
	case *WAIS:
		s.HostPort = l.HostPort
	case *Prospero:
		s.HostPort = l.HostPort
	case *File:
		s.Host = l.Host
	default:
		return Server{}, false
	}
	if s.Port == 0 {
		s.Port = DefaultPort(l.Scheme())
	}
	return s, true
}
