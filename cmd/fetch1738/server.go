package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// serverOf is the server that l is fetched from, also where l does not name it.
func (e *environment) serverOf(l locator.Locator) locator.Server {
	server, named := locator.ServerOf(l)
	if named {
		return server
	}
	if plan, _ := e.resolver.Explain(context.Background(), &fetch.Request{Locator: l}); plan != nil { // whatever the policy says
		server.Host, server.Port = plan.Host, plan.Port
	}
	return server
}

// hostOf is the host and port in a message.
func hostOf(server locator.Server) string {
	return net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
}

// placeOf is the host and port that a URL names, also under a scheme that is
// another's over TLS; ok is false where it names none.
func placeOf(l locator.Locator) (at locator.HostPort, ok bool) {
	if opaque, is := l.(*locator.Opaque); is {
		plain, err := locator.Parse(strings.TrimSuffix(opaque.Name, "s") + ":" + opaque.Rest)
		at, ok := hostPortOf(plain)
		if at.Port == 0 {
			at.Port = locator.DefaultPort(opaque.Name)
		}
		return at, err == nil && ok
	}
	server, ok := locator.ServerOf(l)
	return server.HostPort, ok
}

// hostPortOf are the host and port of l as the URL has them: no default port.
// It is false for schemes that name no host.
func hostPortOf(l locator.Locator) (hp locator.HostPort, ok bool) {
	switch l := l.(type) {
	case *locator.FTP:
		hp = l.HostPort
	case *locator.HTTP:
		hp = l.HostPort
	case *locator.Telnet:
		hp = l.HostPort
	case *locator.Gopher:
		hp = l.HostPort
	case *locator.NNTP:
		hp = l.HostPort
	case *locator.WAIS:
		hp = l.HostPort
	case *locator.Prospero:
		hp = l.HostPort
	case *locator.File:
		hp.Host = l.Host
	default:
		return hp, false
	}
	return hp, true
}
