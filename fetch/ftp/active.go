package ftp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// Active is the active mode: the server connects to a port of ours. It is asked
// for by EPRT (RFC 2428), or by PORT where that is refused over IPv4. Only the
// peer of the control connection is let in, and only within Limits.Connect. It
// does not go through a proxy.
type Active struct {
	// Host is the address to listen on and to tell the server: an address, the name
	// of a network interface, or a host name; empty is that of our end of the
	// control connection. One that is not this machine's is told all the same, for
	// a router to pass the connection on from there, and the port opened at our end
	// of the control connection.
	Host string
	// Ports are the first and the last one to try; zeros are any free one.
	Ports [2]uint16
	// DisableEPRT sends PORT at once over IPv4.
	DisableEPRT bool
}

func (a *Active) check() error {
	switch {
	case a == nil:
		return nil
	case a.Ports[1] < a.Ports[0]:
		return &fetch.Error{Kind: fetch.ErrUnsupported, Err: fmt.Errorf("no port from %d to %d", a.Ports[0], a.Ports[1])}
	}
	return checkLine("the address to listen on", a.Host)
}

// invite opens a port and tells the server of it.
func (s *session) invite() error {
	s.ctl.verb = fetch.OpPORT
	if !s.peer.IsValid() {
		return s.access.fail(fetch.OpPORT, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("active mode does not go through a proxy")})
	}
	told, err := s.open()
	if err != nil {
		return s.access.fail(fetch.OpPORT, &fetch.Error{Kind: fetch.ErrUnreachable, Err: err})
	}
	if err := s.tell(told); err != nil {
		s.closePort()
		return err
	}
	return nil
}

// open opens a port in place of the one before; it gives the address to tell of.
func (s *session) open() (netip.AddrPort, error) {
	s.closePort()
	own := fetch.AddrPort(s.ctl.Raw.LocalAddr()).Addr()
	told, err := s.access.active.address(s.ctx, own)
	if err != nil {
		return netip.AddrPort{}, err
	}
	s.port, err = s.listen(told)
	if err != nil && told != own {
		s.port, err = s.listen(own)
	}
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(told.WithZone(""), fetch.AddrPort(s.port.Addr()).Port()), nil
}

// address is Host as an address, of the family of our own end.
func (a *Active) address(ctx context.Context, own netip.Addr) (netip.Addr, error) {
	if a.Host == "" {
		return own, nil
	}
	found, err := a.addresses(ctx)
	if err != nil {
		return netip.Addr{}, err
	}
	i := slices.IndexFunc(found, func(addr netip.Addr) bool { return addr.Is4() == own.Is4() })
	if i < 0 {
		return netip.Addr{}, fmt.Errorf("%s has no address of the family of %v", a.Host, own)
	}
	return found[i], nil
}

func (a *Active) addresses(ctx context.Context) (found []netip.Addr, err error) {
	if addr, err := netip.ParseAddr(a.Host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	if card, err := net.InterfaceByName(a.Host); err == nil {
		list, err := card.Addrs()
		for _, addr := range list {
			if prefix, err := netip.ParsePrefix(addr.String()); err == nil {
				found = append(found, prefix.Addr())
			}
		}
		return found, err
	}
	found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", a.Host)
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, err
}

// listen opens one of the ports at an address.
func (s *session) listen(at netip.Addr) (l net.Listener, err error) {
	open := (&net.ListenConfig{}).Listen
	if env := s.access.env; env != nil && env.Listen != nil {
		open = env.Listen
	}
	ports := s.access.active.Ports
	for port := int(ports[0]); port <= int(ports[1]); port++ {
		if l, err = open(s.ctx, "tcp", netip.AddrPortFrom(at, uint16(port)).String()); err == nil {
			return l, nil
		}
		if s.ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// tell sends EPRT, or PORT.
func (s *session) tell(at netip.AddrPort) error {
	if !s.access.active.DisableEPRT && !s.noEPRT || at.Addr().Is6() {
		r, err := s.ctl.exchange(eprt(at))
		if err != nil || r.Class() == 2 {
			return s.failure(err)
		}
		if at.Addr().Is6() {
			return s.refused(r)
		}
		s.noEPRT = true
		s.ctl.Trace.Note("EPRT is refused; trying PORT")
	}
	r, err := s.ctl.exchange(port(at))
	if err == nil && r.Class() != 2 {
		return s.refused(r)
	}
	return s.failure(err)
}

// eprt is "EPRT |1|132.235.1.2|6275|" (RFC 2428 §2).
func eprt(at netip.AddrPort) string {
	family := 1
	if at.Addr().Is6() {
		family = 2
	}
	return fmt.Sprintf("EPRT |%d|%s|%d|", family, at.Addr(), at.Port())
}

// port is "PORT h1,h2,h3,h4,p1,p2" (RFC 959 §4.1.2).
func port(at netip.AddrPort) string {
	host := strings.ReplaceAll(at.Addr().String(), ".", ",")
	return "PORT " + host + "," + strconv.Itoa(int(at.Port()>>8)) + "," + strconv.Itoa(int(at.Port()&0xff))
}

func (s *session) closePort() {
	if s.port != nil {
		_ = s.port.Close()
		s.port = nil
	}
}

// maxStrangers bounds how many others are turned away.
const maxStrangers = 64

// admit waits for a connection from peer. Anybody may knock at an open port
// (RFC 2577 §4, CVE-2002-0714).
func admit(l net.Listener, peer netip.Addr) (net.Conn, error) {
	for range maxStrangers {
		conn, err := l.Accept()
		if err != nil {
			return nil, err
		}
		if fetch.AddrPort(conn.RemoteAddr()).Addr().WithZone("") == peer.WithZone("") {
			return conn, nil
		}
		conn.Close()
	}
	return nil, fmt.Errorf("others than %v keep connecting", peer)
}
