package client

import (
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// routed is where a connection for t is to lead. An FTP data connection goes
// where the control connection of its URL went, to a port of its own.
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
