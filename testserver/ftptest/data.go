package ftptest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Data connections: their parameters, and which side connects.

func (f *session) setType(arg string) error {
	switch strings.ToUpper(arg) {
	case "A", "A N":
		f.ascii = true
		return f.reply("200 Type set to A.")
	case "I", "L 8", "L8":
		f.ascii = false
		return f.reply("200 Type set to I.")
	}
	return f.reply("504 Type not implemented.")
}

func (f *session) setMode(arg string) error {
	if strings.EqualFold(arg, "S") {
		return f.reply("200 Mode set to S.")
	}
	return f.reply("504 Only stream mode is implemented.")
}

func (f *session) setStructure(arg string) error {
	if strings.EqualFold(arg, "F") {
		return f.reply("200 Structure set to F.")
	}
	return f.reply("504 Only file structure is implemented.")
}

func (f *session) pasv(string) error {
	if f.epsvAll {
		return f.reply("503 Only EPSV after EPSV ALL.")
	}
	if f.srv.RequirePRET && !f.announced {
		return f.reply("500 PRET first.")
	}
	ip := f.srv.passiveHost(addrOf(f.LocalAddr()).String())
	if strings.Contains(ip, ":") {
		f.closePassive()
		return f.reply("522 Use EPSV, this is IPv6.")
	}
	return f.enterPassive(func(port uint16) string {
		return fmt.Sprintf("227 Entering Passive Mode (%s,%d,%d).", strings.ReplaceAll(ip, ".", ","), port>>8, port&0xff)
	})
}

func (f *session) epsv(arg string) error {
	family := "1"
	if f.peer().Is6() {
		family = "2"
	}
	switch {
	case strings.EqualFold(arg, "ALL"):
		f.epsvAll = true
		return f.reply("200 EPSV only from now on.")
	case arg != "" && arg != family:
		return f.replyf("522 Network protocol not supported, use (%s).", family)
	case f.srv.RequirePRET && !f.announced:
		return f.reply("500 PRET first.")
	}
	return f.enterPassive(func(port uint16) string {
		return fmt.Sprintf("229 Entering Extended Passive Mode (|||%d|)", port)
	})
}

// peer returns the client's address.
func (f *session) peer() netip.Addr { return addrOf(f.RemoteAddr()) }

// addrOf returns the IP address of a, which is not valid for other addresses.
func addrOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// enterPassive opens a passive port and sends the reply with its number.
func (f *session) enterPassive(reply func(port uint16) string) error {
	f.closePassive()
	f.active, f.announced = "", false
	var err, over error
	switch srv := f.srv; {
	case srv.one != nil:
		err, over = f.await(func(ctx context.Context) (dataListener, error) { return srv.one.open(ctx, f.peer()) })
	case srv.pool != nil:
		err, over = f.await(func(ctx context.Context) (dataListener, error) { return srv.pool.reserve(ctx, f.peer()) })
	default: // a port of its own, at the address at which the control connection came in
		var l net.Listener
		if l, err = srv.listenIn(addrOf(f.LocalAddr()).String(), true); err == nil {
			f.passive = &listening{Listener: l, peer: f.peer(), release: func(bool) { srv.m.Untrack(l) }}
		}
	}
	switch {
	case over != nil:
		return over
	case errors.Is(err, context.DeadlineExceeded):
		return f.reply("425 No data port is free.")
	case err != nil:
		f.closePassive() // if ABOR came at the same time
		return f.reply("425 Can't open a passive connection.")
	}
	return f.reply(reply(f.srv.m.PublicPort(f.passive.port())))
}

// await waits for a passive port, and meanwhile reads commands. The second error ends the session.
func (f *session) await(open func(context.Context) (dataListener, error)) (err, over error) {
	ctx, cancel := context.WithTimeout(f.srv.m.Ctx(), dataTimeout)
	defer cancel()
	var e dataListener
	opened := make(chan error, 1)
	f.srv.m.Go(func() {
		var err error
		e, err = open(ctx)
		opened <- err
	})
	err, over = f.awaitTransfer(opened, func() {}, cancel)
	if e != nil {
		f.closePassive() // that of a command carried out meanwhile
		f.passive = e
	}
	return err, over
}

// closePassive gives the passive port up. It returns an error if the data connection that was
// accepted at it may be the wrong one.
func (f *session) closePassive() error {
	e := f.passive
	if e == nil {
		return nil
	}
	f.passive = nil
	return e.close()
}

func (f *session) port(arg string) error {
	var b [6]byte
	parts := strings.Split(arg, ",")
	ok := len(parts) == len(b)
	for i := 0; ok && i < len(b); i++ {
		n, err := strconv.ParseUint(strings.TrimSpace(parts[i]), 10, 8)
		b[i], ok = byte(n), err == nil
	}
	if !ok {
		return f.reply("501 PORT h1,h2,h3,h4,p1,p2")
	}
	ip := netip.AddrFrom4([4]byte(b[:4]))
	return f.connectTo(netip.AddrPortFrom(ip, uint16(b[4])<<8|uint16(b[5])))
}

func (f *session) eprt(arg string) error {
	if arg == "" {
		return f.reply("501 EPRT |1|address|port|")
	}
	parts := strings.Split(arg, arg[:1])
	if len(parts) != 5 {
		return f.reply("501 EPRT |1|address|port|")
	}
	ip, err1 := netip.ParseAddr(parts[2])
	port, err2 := strconv.ParseUint(parts[3], 10, 16)
	switch {
	case parts[1] != "1" && parts[1] != "2":
		return f.reply("522 Network protocol not supported, use (1,2).")
	case err1 != nil || err2 != nil || ip.Is4() != (parts[1] == "1"):
		return f.reply("501 EPRT |1|address|port|")
	}
	return f.connectTo(netip.AddrPortFrom(ip, uint16(port)))
}

// connectTo sets the address to connect to. It must be the client's own: otherwise the server could
// be made to attack other hosts (RFC 2577).
func (f *session) connectTo(at netip.AddrPort) error {
	if f.srv.ActiveToPeer {
		at = netip.AddrPortFrom(f.peer(), at.Port())
	}
	switch {
	case f.epsvAll:
		return f.reply("503 Only EPSV after EPSV ALL.")
	case at.Addr().Unmap() != f.peer() || at.Port() < 1024:
		return f.reply("504 Only to your own address and a port above 1023.")
	}
	f.closePassive()
	f.active = at.String()
	return f.replyf("200 Will connect to port %d.", at.Port())
}

// openData opens the data connection; the caller closes it. It stops when ctx ends.
func (f *session) openData(ctx context.Context) (net.Conn, error) {
	if f.active != "" {
		to := f.active
		f.active = ""
		ctx, cancel := context.WithTimeout(ctx, dataTimeout)
		defer cancel()
		nc, err := f.srv.m.Net.Dial(ctx, "tcp", to)
		if err != nil {
			return nil, err
		}
		return f.srv.Recorder.Connected(nc, f.Conn), nil
	}
	nc, err := f.passive.accept(ctx)
	if err != nil {
		f.closePassive()
		return nil, err
	}
	return f.srv.Recorder.Accepted(nc, f.Conn), nil
}
