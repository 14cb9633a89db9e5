package main

import (
	"fmt"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// serverOf is the server that l is fetched from, also where l does not name it.
func (e *environment) serverOf(l locator.Locator) locator.Server {
	server, named := locator.ServerOf(l)
	explainer, ok := e.registry.Lookup(l.Scheme()).(fetch.Explainer)
	if named || !ok {
		return server
	}
	if plan, err := explainer.Explain(&fetch.Request{Locator: l}); err == nil {
		server.Host, server.Port = plan.Host, plan.Port
	}
	return server
}

// hostOf is the host and port in a message.
func hostOf(server locator.Server) string {
	return net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
}
