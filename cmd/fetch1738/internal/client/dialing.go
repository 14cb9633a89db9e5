package client

import (
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// routed returns where a connection for t leads. An FTP data connection leads to the
// host of the control connection, with its own port.
func routed(o *plan.Operation, t fetch.Target) locator.HostPort {
	at := locator.HostPort{Host: t.Host, Port: t.Port}
	if t.Purpose != fetch.PurposeData {
		return o.Connect.Dialer.Route(at)
	}
	if server, ok := locator.ServerOf(t.Locator); ok && strings.EqualFold(server.Host, t.Host) {
		at.Host = o.Connect.Dialer.Route(server.HostPort).Host
	}
	return at
}
