package ftp

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
)

// server is one of those that a Fetcher remembers something of.
type server struct {
	host string
	port uint16
}

// server is that of the access.
func (a *access) server() server { return server{a.key.host, a.key.port} }

// servers is a set of some. When maxServers have been added it is forgotten, which
// costs a trial in vain for each that comes up again.
type servers struct {
	sync.Map
	added atomic.Int64
}

const maxServers = 1000

func (s *servers) add(at server) {
	if s.added.Add(1)%maxServers == 0 {
		s.Clear()
	}
	s.Store(at, true)
}

// passive asks the server for a port, by EPSV (RFC 2428) or PASV, and connects to
// it. EPSV goes first. Where its answer is of no use, or nobody answers at its
// port, as behind firewalls that read along with PASV, this server gets no more EPSV.
func (s *session) passive() (net.Conn, error) {
	if s.passiveCommand() == "PASV" {
		return s.plainPassive()
	}
	conn, err := s.extendedPassive()
	if err == nil || s.onlyEPSV() || s.ctl.Err != nil || s.ctx.Err() != nil || errors.Is(err, fetch.ErrRefused) {
		return conn, err
	}
	s.access.pasv.add(s.access.server())
	s.ctl.Trace.Note("EPSV leads to no data connection; trying PASV")
	return s.plainPassive()
}

// passiveCommand is the one that goes first.
func (s *session) passiveCommand() string {
	_, useless := s.access.pasv.Load(s.access.server())
	if !s.onlyEPSV() && (s.access.noEPSV || useless) {
		return "PASV"
	}
	return "EPSV"
}

// onlyEPSV reports whether PASV has no room for the server's address.
func (s *session) onlyEPSV() bool { return s.peer.Addr().Is6() }

func (s *session) extendedPassive() (net.Conn, error) { return s.dialPort(s.extendedPort()) }

// extendedPort asks for a port by EPSV.
func (s *session) extendedPort() (uint16, error) {
	r, err := s.ctl.ask("EPSV")
	switch {
	case err != nil:
		return 0, s.failure(err)
	case r.Code != 229:
		return 0, s.refused(r)
	}
	port, err := extendedPort(r.Text)
	return port, s.failure(err)
}

func (s *session) plainPassive() (net.Conn, error) { return s.dialPort(s.plainPort()) }

// plainPort asks for a port by PASV.
func (s *session) plainPort() (uint16, error) {
	r, err := s.ctl.ask("PASV")
	switch {
	case err != nil:
		return 0, s.failure(err)
	case r.Code != 227:
		return 0, s.refused(r)
	}
	host, port, err := passivePort(r.Text)
	if err == nil && s.access.check227 && host != s.peer.Addr() {
		err = &fetch.Error{Kind: fetch.ErrRefused, Err: fmt.Errorf("the server names %v for the data, which is not its own address", host)}
	}
	return port, s.failure(err)
}

// dialPort is dialData for a port that has been asked for.
func (s *session) dialPort(port uint16, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return s.dialData(port)
}

// dialData connects to a port of the server's.
func (s *session) dialData(port uint16) (net.Conn, error) {
	t := s.access.target()
	t.Purpose, t.Port = fetch.PurposeData, port
	// Data comes from where the control connection leads, whatever the name may
	// resolve to by now. Where that is not known the name has to do.
	if s.peer.IsValid() {
		t.Host = s.peer.Addr().String()
	}
	conn, err := s.access.env.Connect(s.ctx, t)
	if err != nil {
		return nil, s.access.fail(s.ctl.verb, err)
	}
	return conn, nil
}
