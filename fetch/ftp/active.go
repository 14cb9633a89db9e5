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
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// openPort opens a port and announces it to the server.
func (s connector) openPort() (*dataConn, error) {
	s.ctl.verb = "PORT"
	if !s.peer.IsValid() {
		return nil, s.access.fail("PORT", &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("active mode is not supported through a proxy")})
	}
	l, at, err := s.open()
	if err != nil {
		return nil, s.access.fail("PORT", &fetch.Error{Kind: fetch.ErrUnreachable, Err: err})
	}
	if err := s.announcePort(at); err != nil {
		_ = l.Close()
		return nil, err
	}
	return &dataConn{listener: l, idle: s.access.limits.Idle}, nil
}

// open opens a port. It also returns the address to announce.
func (s connector) open() (l net.Listener, at netip.AddrPort, err error) {
	own := driver.AddrPort(s.ctl.Raw.LocalAddr()).Addr()
	announced, err := s.access.active.address(s.ctx, own)
	if err != nil {
		return nil, at, err
	}
	l, err = s.listen(announced)
	if err != nil && announced != own {
		l, err = s.listen(own)
	}
	if err != nil {
		return nil, at, err
	}
	return l, netip.AddrPortFrom(announced.WithZone(""), driver.AddrPort(l.Addr()).Port()), nil
}

// address returns the IP address of Host, of the same family as own.
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
		family := "IPv6"
		if own.Is4() {
			family = "IPv4"
		}
		return netip.Addr{}, fmt.Errorf("%s has no %s address", a.Host, family)
	}
	return found[i], nil
}

// addresses returns the addresses of Host, which is an address, an interface or a host name.
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

// listen opens the first free port of Active.Ports at an address.
func (s connector) listen(at netip.Addr) (l net.Listener, err error) {
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

// announcePort sends EPRT or PORT.
func (s connector) announcePort(at netip.AddrPort) error {
	if !s.access.active.DisableEPRT && !s.noEPRT || at.Addr().Is6() {
		r, err := s.ctl.exchange(eprt(at))
		if err != nil || r.Class() == 2 {
			return s.failure(err)
		}
		if at.Addr().Is6() {
			return s.refusedBy(r)
		}
		s.noEPRT = true
		s.ctl.Trace.Note("the server refused EPRT; trying PORT")
	}
	r, err := s.ctl.exchange(portCommand(at))
	if err == nil && r.Class() != 2 {
		return s.refusedBy(r)
	}
	return s.failure(err)
}

// eprt returns "EPRT |1|132.235.1.2|6275|" (RFC 2428 §2).
func eprt(at netip.AddrPort) string {
	family := 1
	if at.Addr().Is6() {
		family = 2
	}
	return fmt.Sprintf("EPRT |%d|%s|%d|", family, at.Addr(), at.Port())
}

// portCommand returns "PORT h1,h2,h3,h4,p1,p2" (RFC 959 §4.1.2).
func portCommand(at netip.AddrPort) string {
	host := strings.ReplaceAll(at.Addr().String(), ".", ",")
	return "PORT " + host + "," + strconv.Itoa(int(at.Port()>>8)) + "," + strconv.Itoa(int(at.Port()&0xff))
}

// maxRejected is the number of connections from other hosts after which admit fails.
const maxRejected = 64

// admit waits for a connection from peer and closes connections from other hosts. Any
// host can connect to an open port (RFC 2577 §4, CVE-2002-0714).
func admit(l net.Listener, peer netip.Addr) (net.Conn, error) {
	for range maxRejected {
		conn, err := l.Accept()
		if err != nil {
			return nil, err
		}
		if driver.AddrPort(conn.RemoteAddr()).Addr().WithZone("") == peer.WithZone("") {
			return conn, nil
		}
		conn.Close()
	}
	return nil, fmt.Errorf("rejected %d data connections from hosts other than %v", maxRejected, peer)
}
