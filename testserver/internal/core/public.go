package core

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
)

// Public is where clients find a server, whose ports may be mapped to others.
type Public struct {
	Own string // the address that the server listens on

	told atomic.Pointer[told] // nil until SetPublic is called
}

// told is what clients are told.
type told struct {
	host  string
	ports map[uint16]uint16
}

// SetPublic sets the host and the ports that clients are told from now on.
func (p *Public) SetPublic(host string, ports map[uint16]uint16) error {
	if strings.ContainsFunc(host, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(",/@?#[]\\\"<>%", c) }) {
		return fmt.Errorf("testserver: %q is not an address or name of a host", host)
	}
	for from, to := range ports {
		if from == 0 || to == 0 {
			return fmt.Errorf("testserver: port %d cannot be mapped to %d: 0 is not a port", from, to)
		}
	}
	p.told.Store(&told{host, maps.Clone(ports)})
	return nil
}

// PublicHost returns the host that clients are told: that of SetPublic, or else the given one.
func (p *Public) PublicHost(host string) string {
	if t := p.told.Load(); t != nil {
		return cmp.Or(t.host, host)
	}
	return host
}

// PublicPort returns the port that clients are told for a port of the server.
func (p *Public) PublicPort(port uint16) uint16 {
	if t := p.told.Load(); t != nil {
		return cmp.Or(t.ports[port], port)
	}
	return port
}

// Port returns the port that the server listens on.
func (p *Public) Port() uint16 {
	_, service, _ := net.SplitHostPort(p.Own)
	port, _ := strconv.ParseUint(service, 10, 16)
	return uint16(port)
}

// Shown returns the host and port that a server shows to clients: the given ones, those of SetPublic,
// or those it listens on.
func (p *Public) Shown(host string, port int) (string, int) {
	own, _, _ := net.SplitHostPort(p.Own)
	if ip, err := netip.ParseAddr(own); err == nil && ip.IsUnspecified() {
		own = "127.0.0.1"
	}
	if port == 0 {
		port = int(p.PublicPort(p.Port()))
	}
	return cmp.Or(host, p.PublicHost(own)), port
}
