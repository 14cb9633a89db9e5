package client

import (
	"context"
	"fmt"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// ServerOf returns the server that l is fetched from, also if l does not name it.
func (n *Network) ServerOf(l locator.Locator) locator.Server {
	server, named := locator.ServerOf(l)
	if named {
		return server
	}
	if plan, _ := n.Resolver.Explain(context.Background(), &fetch.Request{Locator: l}); plan != nil { // also if the policy refuses it
		server.Host, server.Port = plan.Host, plan.Port
	}
	return server
}

// HostOf returns host and port as messages show them.
func HostOf(server locator.Server) string {
	return net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
}
