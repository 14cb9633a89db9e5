package ftp

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// A connector makes the data connections of a session, in active or passive mode.
type connector struct{ *session }

// passiveFor connects to a port for the transfer that command starts. Before, it sends PRET, which names
// that transfer, if Options.PRET is set, or once a refusal has said that the server requires it.
func (s connector) passiveFor(command string) (*dataConn, error) {
	known := s.pret || s.access.opt.PRET
	if known {
		r, err := s.ctl.exchange("PRET " + command)
		switch {
		case err != nil:
			return nil, s.failure(err)
		case r.Class() != 2:
			return nil, s.refusedBy(r)
		}
	}
	d, err := s.passive(s.connectsLater(verbOf(command)))
	e, _ := errors.AsType[*fetch.Error](err)
	if known || s.access.exact || !refusal(err) || !mentions(e.Reply, "PRET") {
		return d, err
	}
	s.pret = true
	return s.passiveFor(command)
}

// mentions reports whether a text has a command as a word.
func mentions(text, verb string) bool {
	words := strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r < 'A' || 'Z' < r })
	return slices.Contains(words, verb)
}

// passive requests a port from the server, by EPSV (RFC 2428) or PASV, and connects to it, unless that
// is done later. It tries EPSV first. If the reply cannot be used, or the port cannot be reached, as with
// firewalls that understand only PASV, EPSV is not sent to this server again.
func (s connector) passive(later bool) (*dataConn, error) {
	if s.passiveCommand() == "EPSV" {
		d, err := s.passiveData(s.extendedPort, later)
		if err == nil || s.onlyEPSV() || s.ctl.Err != nil || s.ctx.Err() != nil || errors.Is(err, fetch.ErrRefused) { // the policy; PASV leads to the same address
			return d, err
		}
		s.access.memory.pasvOnly.add(s.access.server())
		s.ctl.Trace.Note("no data connection with EPSV; trying PASV")
	}
	return s.passiveData(s.plainPort, later)
}

// passiveData returns a data connection to the port that request returns.
func (s connector) passiveData(request func() (uint16, error), later bool) (*dataConn, error) {
	port, err := request()
	if err != nil {
		return nil, err
	}
	d := &dataConn{port: port, idle: s.access.limits.Idle}
	if !later {
		err = s.connectData(d)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// connectData connects to the port of d.
func (s connector) connectData(d *dataConn) error {
	conn, err := s.dialData(d.port)
	if err != nil {
		return err
	}
	d.connected(conn)
	s.connects = true
	return nil
}

// passiveCommand returns the command to try first.
func (s *session) passiveCommand() string {
	if !s.onlyEPSV() && (s.access.noEPSV || s.access.memory.pasvOnly.has(s.access.server())) {
		return "PASV"
	}
	return "EPSV"
}

// requestPort requests a port.
func (s connector) requestPort() (uint16, error) {
	if s.passiveCommand() == "PASV" {
		return s.plainPort()
	}
	return s.extendedPort()
}

// onlyEPSV reports whether the server has an IPv6 address, which PASV does not support.
func (s *session) onlyEPSV() bool { return s.peer.Addr().Is6() }

// extendedPort requests a port by EPSV.
func (s connector) extendedPort() (uint16, error) {
	r, err := s.ctl.ask("EPSV")
	switch {
	case err != nil:
		err = s.failure(err)
		if fetch.KindOf(s.ctl.Err) == fetch.ErrConnectionFailed && s.ctl.replied && !s.ctl.began && !s.onlyEPSV() {
			s.access.memory.pasvOnly.add(s.access.server())
			s.access.fellBack = true // some firewalls end the session: the access is tried again, with PASV
		}
		return 0, err
	case r.Code != 229:
		return 0, s.refusedBy(r)
	}
	port, err := extendedPort(r.Text)
	return port, s.failure(err)
}

// plainPort requests a port by PASV. The reply may be that to EPSV where a device translates addresses.
func (s connector) plainPort() (uint16, error) {
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

// dialData connects to a port of the server.
func (s connector) dialData(port uint16) (net.Conn, error) {
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
