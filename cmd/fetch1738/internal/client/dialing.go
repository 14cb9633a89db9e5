package client

import (
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// routed returns where a connection for t leads. An FTP data connection leads to the
// host of the control connection, with its own port.
func routed(d *dial.Dialer, t fetch.Target) locator.HostPort {
	at := locator.HostPort{Host: t.Host, Port: t.Port}
	if t.Purpose != fetch.PurposeData {
		return d.Route(at)
	}
	if server, ok := locator.ServerOf(t.Locator); ok && strings.EqualFold(server.Host, t.Host) {
		at.Host = d.Route(server.HostPort).Host
	}
	return at
}
