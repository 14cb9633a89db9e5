package main

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// routed is where a connection for t is to lead. An FTP data connection goes
// where the control connection of its URL went, to a port of its own.
func (o *operation) routed(t fetch.Target) locator.HostPort {
	at := locator.HostPort{Host: t.Host, Port: t.Port}
	if t.Purpose != fetch.PurposeData {
		return o.dialer.Route(at)
	}
	if server, ok := locator.ServerOf(t.Locator); ok && strings.EqualFold(server.Host, t.Host) {
		at.Host = o.dialer.Route(server.HostPort).Host
	}
	return at
}

// setInterface is --interface.
func setInterface(c *commandLine, value string) error {
	c.op.dialer.Local = dial.ParseLocalAddress(value)
	return nil
}

// setLocalPort is --local-port.
func setLocalPort(c *commandLine, value string) (err error) {
	c.op.dialer.Ports, err = dial.ParsePorts(value)
	return err
}

// setNameServers is --dns-servers.
func setNameServers(c *commandLine, value string) (err error) {
	c.op.dialer.Names, err = dial.ParseNameServers(value)
	return err
}

// addResolve reads "[+]HOST:PORT:ADDRESS[,ADDRESS]..." or "-HOST:PORT".
func addResolve(c *commandLine, value string) error {
	entry, err := dial.ParseHostEntry(value)
	if err != nil {
		return &codedError{exitOptionSyntax, fmt.Errorf("--resolve %s: %w", value, err)}
	}
	c.op.dialer.Hosts = append(c.op.dialer.Hosts, entry)
	return nil
}

// addRoute reads "HOST1:PORT1:HOST2:PORT2".
func addRoute(c *commandLine, value string) error {
	r, err := dial.ParseRoute(value)
	if err != nil {
		return &codedError{exitOptionSyntax, fmt.Errorf("--connect-to %s: %w", value, err)}
	}
	c.op.dialer.Routes = append(c.op.dialer.Routes, r)
	return nil
}

// family is what -4 and -6 set.
func family(o *operation) *string { return &o.dialer.Family }
