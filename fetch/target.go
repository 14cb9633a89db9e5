package fetch

import (
	"fmt"
	"net/netip"

	"github.com/fetch1738/fetch1738/locator"
)

// Provenance says who wrote a Locator. It is set by the code that made the
// Locator, never by its text. The zero value is the user.
type Provenance struct {
	Kind Origin
	// By is the resource that led here, for a Remote one.
	By locator.Locator
	// Peer is the address By came from, which bounds where it may lead; the zero
	// Addr when it is not known.
	Peer netip.Addr
}

// Origin is the kind of a Provenance.
type Origin uint8

// The origins of a Locator.
const (
	OriginUser     Origin = iota // typed by the user or passed by the caller
	OriginConfig                 // read from the user's configuration or environment
	OriginRemote                 // a link in a resource: a menu item, a directory entry
	OriginRedirect               // where a server sent us instead of answering
)

// String describes the provenance for a message, such as
// "redirect from http://example.com/".
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

// Purpose says what a connection is for.
type Purpose uint8

// The purposes of a connection.
const (
	PurposeControl Purpose = iota // the one the Locator names
	PurposeData                   // an FTP data connection
	PurposeProxy                  // a proxy on the way
)

// A Target is a place about to be reached, as [Env.Allow] sees it.
type Target struct {
	Locator locator.Locator
	From    Provenance
	Purpose Purpose
	// Network is "tcp" or "udp"; empty when no connection is made (file).
	Network string
	// Host and Port are the place as named.
	Host string
	Port uint16
	// DefaultPort is that of a scheme which package locator does not know; a
	// Resolver fills it in.
	DefaultPort uint16
	// Addr is the resolved address. It is invalid in the first question, which is
	// asked before any name is looked up.
	Addr netip.AddrPort
}
