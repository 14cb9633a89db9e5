package ftp

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
)

// A server is an FTP server that a Fetcher remembers.
type server struct {
	host string
	port uint16
}

// server returns the server of the access.
func (a *access) server() server { return server{a.key.host, a.key.port} }

// servers is a set of servers. It is cleared each time maxServers have been added, which
// costs one failed attempt for each server that is used again.
type servers struct {
	sync.Map
	added atomic.Int64
}

const maxServers = 1000

// add reports whether the server was in the set before.
func (s *servers) add(at server) bool {
	if s.has(at) {
		return true
	}
	if s.added.Add(1)%maxServers == 0 {
		s.Clear()
	}
	s.Store(at, true)
	return false
}

func (s *servers) has(at server) bool {
	if s.added.Load() == 0 { // usually: spares the search
		return false
	}
	_, ok := s.Load(at)
	return ok
}

// passive requests a port from the server, by EPSV (RFC 2428) or PASV, and connects to it.
// It tries EPSV first. If the reply cannot be used, or the port cannot be reached, as with
// firewalls that understand only PASV, EPSV is not sent to this server again.
func (s *session) passive() (net.Conn, error) {
	if s.passiveCommand() == "PASV" {
		return s.plainPassive()
	}
	conn, err := s.extendedPassive()
	if err == nil || s.onlyEPSV() || s.ctl.Err != nil || s.ctx.Err() != nil || errors.Is(err, fetch.ErrRefused) { // the policy; PASV leads to the same address
		return conn, err
	}
	s.access.pasvOnly.add(s.access.server())
	s.ctl.Trace.Note("no data connection with EPSV; trying PASV")
	return s.plainPassive()
}

// passiveCommand returns the command to try first.
func (s *session) passiveCommand() string {
	if !s.onlyEPSV() && (s.access.noEPSV || s.access.pasvOnly.has(s.access.server())) {
		return "PASV"
	}
	return "EPSV"
}

// requestPort requests a port.
func (s *session) requestPort() (uint16, error) {
	if s.passiveCommand() == "PASV" {
		return s.plainPort()
	}
	return s.extendedPort()
}

// onlyEPSV reports whether the server has an IPv6 address, which PASV does not support.
func (s *session) onlyEPSV() bool { return s.peer.Addr().Is6() }

// extendedPassive connects to a port that is requested by EPSV.
func (s *session) extendedPassive() (net.Conn, error) { return s.dialPort(s.extendedPort()) }

// extendedPort requests a port by EPSV.
func (s *session) extendedPort() (uint16, error) {
	r, err := s.ctl.ask("EPSV")
	switch {
	case err != nil:
		err = s.failure(err)
		if fetch.KindOf(s.ctl.Err) == fetch.ErrConnectionFailed && s.ctl.replied && !s.ctl.began && !s.onlyEPSV() {
			s.access.pasvOnly.add(s.access.server())
			s.access.fellBack = true // some firewalls end the session: the access is tried again, with PASV
		}
		return 0, err
	case r.Code != 229:
		return 0, s.refusedBy(r)
	}
	port, err := extendedPort(r.Text)
	return port, s.failure(err)
}

// plainPassive connects to a port that is requested by PASV.
func (s *session) plainPassive() (net.Conn, error) { return s.dialPort(s.plainPort()) }

// plainPort requests a port by PASV. The reply may be that to EPSV where a device translates addresses.
func (s *session) plainPort() (uint16, error) {
	r, err := s.ctl.ask("PASV")
	switch {
	case err != nil:
		return 0, s.failure(err)
	case r.Code == 229:
		port, err := extendedPort(r.Text)
		return port, s.failure(err)
	case r.Code != 227:
		return 0, s.refusedBy(r)
	}
	host, port, err := passivePort(r.Text)
	if err == nil && s.access.check227 && host != s.peer.Addr() {
		err = &fetch.Error{Kind: fetch.ErrRefused, Err: fmt.Errorf("the reply to PASV names the host %v, which is not the server's address", host)}
	}
	return port, s.failure(err)
}

// dialPort calls dialData unless err, from the request for the port, is not nil.
func (s *session) dialPort(port uint16, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return s.dialData(port)
}

// dialData connects to a port of the server.
func (s *session) dialData(port uint16) (net.Conn, error) {
	t := s.access.target()
	t.Purpose, t.Port = fetch.PurposeData, port
	// The data connection goes to the address of the control connection; the name may
	// resolve to another address by now. Through a proxy, only the name is known.
	if s.peer.IsValid() {
		t.Host = s.peer.Addr().String()
	}
	conn, err := s.access.env.Connect(s.ctx, t)
	if err != nil {
		return nil, s.access.fail(s.ctl.verb, err)
	}
	return conn, nil
}
