package fetch

import (
	"fmt"
	"net/netip"

	"github.com/fetch1738/fetch1738/locator"
)

// Provenance says who wrote a Locator. The code that creates the Locator sets it; the text of the URL
// has no influence. The zero value means the user.
type Provenance struct {
	Kind Origin
	// By is the resource that contained the link or sent the redirect.
	By locator.Locator
	// Peer is the address of the server that sent By. It limits where By may lead. It is the zero
	// Addr if it is not known.
	Peer netip.Addr
}

// Origin is the kind of a Provenance.
type Origin uint8

// The origins of a Locator.
const (
	OriginUser     Origin = iota // typed by the user or passed by the caller
	OriginConfig                 // read from the user's configuration or environment
	OriginRemote                 // a link in a resource: a menu item, a directory entry
	OriginRedirect               // a redirect from a server
)

// String returns the provenance for a message, such as "redirect from http://example.com/".
func (p Provenance) String() string {
	var what string
	switch p.Kind {
	case OriginUser:
		return "typed by the user"
	case OriginConfig:
		return "from the configuration"
	case OriginRemote:
		what = "link"
	case OriginRedirect:
		what = "redirect"
	}
	if p.By == nil {
		return what
	}
	return fmt.Sprintf("%s from %s", what, p.By.Redacted())
}

// Purpose is the purpose of a connection.
type Purpose uint8

// The purposes of a connection.
const (
	PurposeControl Purpose = iota // to the server that the Locator names
	PurposeData                   // an FTP data connection
	PurposeProxy                  // to a proxy
)

// A Target is a server, or a local file, that is about to be accessed. [Env.Allow] receives it.
type Target struct {
	Locator locator.Locator
	From    Provenance
	Purpose Purpose
	// Network is "tcp" or "udp"; empty if there is no connection (file). A Fetcher that connects
	// may leave it empty for "tcp".
	Network string
	// Host and Port are those of the URL, or of the proxy.
	Host string
	Port uint16
	// DefaultPort is the default port of a scheme that is not in [locator.Schemes]. A Resolver fills
	// it in.
	DefaultPort uint16
	// Addr is the resolved address. It is invalid in the first call of Env.Allow, before the name is
	// looked up.
	Addr netip.AddrPort
}
