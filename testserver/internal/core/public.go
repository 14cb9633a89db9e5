package core

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// public is where clients find a server whose ports are mapped to others.
type public struct {
	host  string
	ports map[uint16]uint16
}

// SetPublic sets the host and the ports that clients are told from now on.
func (m *Machine) SetPublic(host string, ports map[uint16]uint16) error {
	if strings.ContainsFunc(host, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(",/@?#[]\\\"<>%", c) }) {
		return fmt.Errorf("testserver: %q is not an address or name of a host", host)
	}
	for from, to := range ports {
		if from == 0 || to == 0 {
			return fmt.Errorf("testserver: port %d cannot be mapped to %d: 0 is not a port", from, to)
		}
	}
	m.public.Store(&public{host, maps.Clone(ports)})
	return nil
}

// PublicHost returns the host that clients are told: that of SetPublic, or else the given one.
func (m *Machine) PublicHost(host string) string {
	if p := m.public.Load(); p != nil {
		return cmp.Or(p.host, host)
	}
	return host
}

// PublicPort returns the port that clients are told for a port of the server.
func (m *Machine) PublicPort(port uint16) uint16 {
	if p := m.public.Load(); p != nil {
		return cmp.Or(p.ports[port], port)
	}
	return port
}

// Port returns the port that the server listens on.
func (m *Machine) Port() uint16 {
	_, service, _ := net.SplitHostPort(m.Addr)
	port, _ := strconv.ParseUint(service, 10, 16)
	return uint16(port)
}

// Shown returns the host and port that a server shows to clients: the given ones, those of SetPublic,
// or those it listens on.
func (m *Machine) Shown(host string, port int) (string, int) {
	own, _, _ := net.SplitHostPort(m.Addr)
	if ip, err := netip.ParseAddr(own); err == nil && ip.IsUnspecified() {
		own = "127.0.0.1"
	}
	if port == 0 {
		port = int(m.PublicPort(m.Port()))
	}
	return cmp.Or(host, m.PublicHost(own)), port
}
