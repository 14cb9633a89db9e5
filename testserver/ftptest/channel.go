package ftptest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// channel is the data channel of a session (RFC 2228 §3): how its data connections are made.
type channel struct {
	srv     *Server
	control *core.Client

	passive dataListener // after PASV and EPSV; or nil
	active  string       // address to connect to, after PORT and EPRT; then passive is nil

	epsvAll   bool // EPSV ALL was given
	announced bool // by a PRET
	sized     bool // PBSZ was given
	private   bool // data connections are under TLS
}

// peer returns the client's address.
func (c *channel) peer() netip.Addr { return addrOf(c.control.RemoteAddr()) }

// addrOf returns the IP address of a, which is not valid for other addresses.
func addrOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// port returns the passive port, as the client must know it, or 0.
func (c *channel) port() uint16 {
	if c.passive == nil {
		return 0
	}
	return c.srv.m.PublicPort(c.passive.port())
}

// close gives the passive port up. It returns an error if the data connection that was accepted at it
// may be the wrong one.
func (c *channel) close() error {
	l := c.passive
	if l == nil {
		return nil
	}
	c.passive = nil
	return l.close()
}

// listen returns a passive port.
func (c *channel) listen(ctx context.Context) (dataListener, error) {
	switch srv := c.srv; {
	case srv.one != nil:
		return srv.one.open(ctx, c.peer())
	case srv.pool != nil:
		return srv.pool.reserve(ctx, c.peer())
	}
	// A port of its own, at the address at which the control connection came in.
	l, err := c.srv.listenIn(addrOf(c.control.LocalAddr()).String(), true)
	if err != nil {
		return nil, err
	}
	return &listening{Listener: l, peer: c.peer(), release: func(bool) { c.srv.m.Untrack(l) }}, nil
}

var (
	errNoData  = errors.New("no data connection")
	errNoReuse = errors.New("the data connection does not resume the TLS session")
)

// open opens the data connection, with TLS if that was agreed, and raw below it. It stops when ctx
// ends.
func (c *channel) open(ctx context.Context) (raw, conn net.Conn, err error) {
	if c.srv.Passive == PassiveUnaccepted && c.active == "" {
		_ = core.Sleep(ctx, dataTimeout)
		return nil, nil, errNoData
	}
	if raw, err = c.connect(ctx); err == nil {
		context.AfterFunc(ctx, func() { _ = raw.Close() })
		if conn, err = c.secure(ctx, raw); err != nil {
			_ = raw.Close()
		}
	}
	if err != nil && !errors.Is(err, errTwoCandidates) && !errors.Is(err, errNoReuse) {
		err = errNoData
	}
	return raw, conn, err
}

// connect is open without TLS.
func (c *channel) connect(ctx context.Context) (net.Conn, error) {
	if c.active == "" {
		nc, err := c.passive.accept(ctx)
		if err == nil {
			return c.srv.Recorder.Accepted(nc, c.control.Conn), nil
		}
		c.close()
		return nil, err
	}
	to := c.active
	c.active = ""
	ctx, cancel := context.WithTimeout(ctx, dataTimeout)
	defer cancel()
	nc, err := c.srv.m.Net.Dial(ctx, "tcp", to)
	if err != nil {
		return nil, err
	}
	return c.srv.Recorder.Connected(nc, c.control.Conn), nil
}

// secure starts TLS on a data connection if that was agreed.
func (c *channel) secure(ctx context.Context, nc net.Conn) (net.Conn, error) {
	if !c.private {
		return nc, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dataTimeout)
	defer cancel()
	t, err := traffic.StartTLS(ctx, nc, c.srv.TLS)
	if err != nil {
		return nil, err
	}
	_ = nc.SetDeadline(time.Time{})
	if c.srv.ReuseTLS && !t.ConnectionState().DidResume {
		return nil, errNoReuse
	}
	return t, nil
}

func doPASV(f *session, _ string) error {
	if f.channel.epsvAll {
		return f.reply("503 Only EPSV after EPSV ALL.")
	}
	if f.srv.RequirePRET && !f.channel.announced {
		return f.reply("500 PRET first.")
	}
	ip := f.srv.passiveHost(addrOf(f.LocalAddr()).String())
	if strings.Contains(ip, ":") {
		f.channel.close()
		return f.reply("522 Use EPSV, this is IPv6.")
	}
	return f.enterPassive(func(port uint16) string {
		return fmt.Sprintf("227 Entering Passive Mode (%s,%d,%d).", strings.ReplaceAll(ip, ".", ","), port>>8, port&0xff)
	})
}

func doEPSV(f *session, arg string) error {
	family := "1"
	if f.channel.peer().Is6() {
		family = "2"
	}
	switch {
	case strings.EqualFold(arg, "ALL"):
		f.channel.epsvAll = true
		return f.reply("200 EPSV only from now on.")
	case arg != "" && arg != family:
		return f.replyf("522 Network protocol not supported, use (%s).", family)
	case f.srv.RequirePRET && !f.channel.announced:
		return f.reply("500 PRET first.")
	}
	return f.enterPassive(func(port uint16) string {
		return fmt.Sprintf("229 Entering Extended Passive Mode (|||%d|)", port)
	})
}

// enterPassive opens a passive port and sends the reply with its number.
func (f *session) enterPassive(reply func(port uint16) string) error {
	c := &f.channel
	c.close()
	c.active, c.announced = "", false
	var err, over error
	if f.srv.one != nil || f.srv.pool != nil { // and other sessions may use it
		err, over = f.awaitPort()
	} else {
		c.passive, err = c.listen(f.srv.m.Ctx())
	}
	switch {
	case over != nil:
		return over
	case errors.Is(err, context.DeadlineExceeded):
		return f.reply("425 No data port is free.")
	case err != nil:
		c.close() // if ABOR came at the same time
		return f.reply("425 Can't open a passive connection.")
	}
	if f.srv.Passive == PassiveRefused {
		_ = c.passive.close()
	}
	return f.reply(reply(c.port()))
}

// awaitPort waits for a passive port, and meanwhile reads commands. The second error ends the session.
func (f *session) awaitPort() (err, over error) {
	ctx, cancel := context.WithTimeout(f.srv.m.Ctx(), dataTimeout)
	defer cancel()
	var l dataListener
	opened := make(chan error, 1)
	f.srv.m.Go(func() {
		var err error
		l, err = f.channel.listen(ctx)
		opened <- err
	})
	err, over = f.await(opened, func() {}, cancel)
	if l != nil {
		f.channel.close() // that of a command carried out meanwhile
		f.channel.passive = l
	}
	return err, over
}

func doPORT(f *session, arg string) error {
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

func doEPRT(f *session, arg string) error {
	parts := strings.Split(arg, arg[:min(1, len(arg))]) // none if arg is empty
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
		at = netip.AddrPortFrom(f.channel.peer(), at.Port())
	}
	switch {
	case f.channel.epsvAll:
		return f.reply("503 Only EPSV after EPSV ALL.")
	case at.Addr().Unmap() != f.channel.peer() || at.Port() < 1024:
		return f.reply("504 Only to your own address and a port above 1023.")
	}
	f.channel.close()
	f.channel.active = at.String()
	return f.replyf("200 Will connect to port %d.", at.Port())
}

// doPRET announces a transfer.
func doPRET(f *session, arg string) error {
	if !f.srv.commands.of(arg).has(download | upload) {
		return f.reply("501 PRET takes a transfer.")
	}
	f.channel.announced = true
	return f.reply("200 Ok.")
}

func doPBSZ(f *session, arg string) error {
	if !f.secured() {
		return f.reply("503 AUTH first.")
	}
	f.channel.sized = true
	return f.reply("200 PBSZ=0")
}

func doPROT(f *session, arg string) error {
	switch level := strings.ToUpper(arg); {
	case !f.channel.sized:
		return f.reply("503 PBSZ first.")
	case level == "P":
		f.channel.private = true
	case level == "C" && f.srv.RequireTLS:
		return f.reply("534 Private data connections only.")
	case level == "C":
		f.channel.private = false
	default:
		return f.reply("536 C or P.")
	}
	return f.reply("200 Protection set.")
}
