package driver

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/call"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Connect connects to t.Host and t.Port if the policy allows it, within Limits.Connect. It calls
// the hooks of the context's Trace. The error is an *[fetch.Error]. The connection is the one that
// Dial returned, such as a *net.TCPConn, without deadlines.
func (e *Env) Connect(ctx context.Context, t fetch.Target) (net.Conn, error) {
	if t.Network == "" {
		t.Network = "tcp"
	}
	if err := wire.Ended(ctx); err != nil {
		return nil, Fail(fetch.OpConnect, t.Locator, fetch.KindOf(err), err)
	}
	if err := e.Permit(ctx, t); err != nil {
		return nil, err
	}
	trace := ContextTrace(ctx)
	address := net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	trace.DialStart(t.Network, address)
	d := &dialling{env: e, target: t}
	conn, err := d.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if t.Addr = AddrPort(conn.RemoteAddr()); t.Addr.IsValid() && !d.permitted(t.Addr) {
		if err := e.Permit(ctx, t); err != nil {
			conn.Close()
			return nil, err
		}
	}
	trace.Connected(fetch.Connection{
		Network: t.Network, Purpose: t.Purpose, Host: t.Host,
		Local: AddrPort(conn.LocalAddr()), Remote: t.Addr,
	})
	return conn, nil
}

// dialling is a call of Env.Dial.
type dialling struct {
	env    *Env
	target fetch.Target // without an address

	mu    sync.Mutex // a net.Dialer may try two addresses at once
	asked []netip.AddrPort
}

// dial calls Env.Dial, within Limits.Connect.
func (d *dialling) dial(ctx context.Context, address string) (net.Conn, error) {
	dialCtx, limit := ctx, d.env.Limits.Connect
	if limit > 0 {
		var cancel context.CancelFunc
		dialCtx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	c := call.Of[*fetch.Trace, fetch.Target](ctx)
	c.Target = &d.target
	c.Ask = func(address netip.AddrPort) error { return d.ask(ctx, address) } // not in the context of the Dial
	dial := d.env.Dial
	if dial == nil {
		dial = Dial
	}
	conn, err := dial(c.In(dialCtx), d.target.Network, address)
	if err == nil {
		return conn, nil
	}
	if dialCtx.Err() == context.DeadlineExceeded && ctx.Err() == nil {
		err = &wire.TimeoutError{Limit: limit, Awaited: connecting(address, err), Err: err}
	}
	return nil, dialError(ctx, d.target, err)
}

// ask asks the policy about an address to which Dial is about to connect.
func (d *dialling) ask(ctx context.Context, address netip.AddrPort) error {
	t := d.target
	t.Addr = address
	if err := d.env.Permit(ctx, t); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, address)
	return nil
}

// permitted reports whether the policy has permitted address before Dial connected to it. Whatever
// else Dial has connected to is asked about afterwards.
func (d *dialling) permitted(address netip.AddrPort) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.asked, address)
}

// Dial connects with a net.Dialer whose ControlContext is [fetch.DialControl]. It is for a
// [fetch.Env.Dial] that only sometimes connects in another way. ctx must be the context of such a
// call.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{ControlContext: fetch.DialControl}
	host, port, _ := net.SplitHostPort(address) // no error: Connect joined them
	var failed error
	for _, addr := range KnownAddrs(host) {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		failed = cmp.Or(failed, err)
	}
	if failed != nil {
		return nil, failed
	}
	return d.DialContext(ctx, network, address)
}

// KnownAddrs returns the addresses of a host that must not be looked up. A host that is an address
// has that address. "localhost" and every name that ends in ".localhost" have the loopback
// addresses (RFC 6761 §6.3). For other hosts it returns nil.
func KnownAddrs(host string) []netip.Addr { return wire.KnownAddrs(host) }

// connecting says what has reached the limit of connecting to address.
func connecting(address string, err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return wire.LookupText(unknown)
	}
	return "no connection to " + address
}

// dialError classifies a failed dial. The caller's own context shows whether the fetch was
// cancelled or Limits.Connect expired.
func dialError(ctx context.Context, t fetch.Target, err error) error {
	if ended := wire.Ended(ctx); ended != nil {
		return Fail(fetch.OpConnect, t.Locator, fetch.KindOf(ended), ended)
	}
	kind := fetch.KindOf(err)
	op := fetch.OpConnect
	switch kind {
	case fetch.ErrUnresolved:
		op = fetch.OpResolve
	case fetch.ErrOther:
		kind = fetch.ErrUnreachable
	}
	return Fail(op, t.Locator, kind, err)
}

// AddrPort returns the IP address and port of a TCP or UDP address. An IPv4 address is never
// returned as an IPv6 one. For other addresses, such as that of a server behind a proxy, it is
// invalid.
func AddrPort(a net.Addr) netip.AddrPort {
	var ap netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		ap = a.AddrPort()
	case *net.UDPAddr:
		ap = a.AddrPort()
	}
	if !ap.IsValid() {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// ContextTrace returns the Trace of ctx. All its hooks can be called: those that were not set do
// nothing. It is never nil, and must not be changed.
func ContextTrace(ctx context.Context) *fetch.Trace {
	if t := call.Of[*fetch.Trace, fetch.Target](ctx).Trace; t != nil {
		return t
	}
	return ContextTrace(fetch.WithTrace(ctx, new(fetch.Trace)))
}
