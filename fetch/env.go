package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/locator"
)

// Env is a Fetcher's only way out: how it connects, what it may reach, whom it
// asks. The zero value works and forbids nothing; a nil *Env is the zero value.
// It must not be changed once a Fetcher uses it. The functions are called
// concurrently.
type Env struct {
	// Dial makes connections; nil is a net.Dialer. Its context ends within
	// Limits.Connect and knows the Target ([ContextTarget]). One that dials with a
	// net.Dialer of its own sets that one's ControlContext to [DialControl], so that
	// Allow is asked about every address beforehand, not only about the one that
	// answered; it asks [KnownAddrs] before it looks a host up.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Listen opens a port that the server is to connect to, where the caller asks
	// for that (the active mode of FTP); nil is a net.ListenConfig.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Allow forbids a target by returning an error. It is asked before any name
	// is looked up, then again for every address about to be dialled, and once
	// more for the address that answered. nil allows everything; package policy
	// has ready ones. The policy of the context ([WithAllow]) must permit the target
	// too.
	Allow func(ctx context.Context, t Target) error
	// TLS returns the settings for TLS, for all schemes. It is called when a handshake
	// is about to begin, for each one, and never where there is no TLS; whatever takes
	// time, such as reading a file of authorities, is best done once
	// ([sync.OnceValues]). What it returns is not changed: the Fetcher adds what it
	// needs to a copy, the server's host as the ServerName if that is empty. If TLS or
	// the Config is nil, it is a zero Config, which checks certificates. An error is
	// that of the handshake ([OpTLS]).
	TLS func() (*tls.Config, error)
	// Credentials answers a server that asks for a password. It may prompt. nil
	// has none. A session that an answer has opened may serve later requests of the
	// same Fetcher to that server without another question: users who must not
	// share have Fetchers of their own.
	Credentials func(ctx context.Context, c Challenge) (locator.Login, error)
	// Email is the anonymous password (RFC 1738 §3.2.1); empty is "anonymous@".
	Email string
	// NewsServer is the host, or host:port, that news URLs are fetched from.
	NewsServer string
	Limits     Limits
}

// A Challenge is a server's wish for credentials.
type Challenge struct {
	// Locator is what is being fetched.
	Locator locator.Locator
	// User is the name to be used; empty when that is asked for too.
	User string
	// Account asks for an FTP account (ACCT), to be returned as the Password.
	Account bool
	// Text is the server's own wording or realm; unfiltered remote text.
	Text string
}

// WithDefaults is a copy of e with its Limits and Email filled in; e may be nil.
func (e *Env) WithDefaults() Env {
	var c Env
	if e != nil {
		c = *e
	}
	c.Limits = c.Limits.WithDefaults()
	if c.Email == "" {
		c.Email = "anonymous@"
	}
	return c
}

// TLSConfig returns a copy of what TLS returns, or a new Config if that is nil; e
// may be nil. A Fetcher calls it for each handshake, once it is connected.
func (e *Env) TLSConfig() (*tls.Config, error) {
	var config *tls.Config
	if e != nil && e.TLS != nil {
		var err error
		if config, err = e.TLS(); err != nil {
			return nil, err
		}
	}
	if config == nil {
		return new(tls.Config), nil
	}
	return config.Clone(), nil
}

// Login asks Credentials; without them, or when they have none, the error is an
// *[Error] of kind [ErrUnauthenticated].
func (e *Env) Login(ctx context.Context, c Challenge) (locator.Login, error) {
	if e == nil || e.Credentials == nil {
		return locator.Login{}, Fail(OpLogin, c.Locator, ErrUnauthenticated, errors.New("a password is needed and none is known"))
	}
	login, err := e.Credentials(ctx, c)
	if err != nil {
		kind := ErrUnauthenticated
		if ctx.Err() != nil {
			kind = KindOf(ctx.Err())
		}
		return locator.Login{}, Fail(OpLogin, c.Locator, kind, err)
	}
	return login, nil
}

// Permit asks the policy of the context ([WithAllow]), then Allow. A refusal is
// an *[Error] of kind [ErrRefused].
func (e *Env) Permit(ctx context.Context, t Target) error {
	allow := ContextAllow(ctx)
	if e != nil {
		allow = bothAllow(allow, e.Allow)
	}
	if allow == nil {
		return nil
	}
	if err := allow(ctx, t); err != nil {
		return Fail(OpConnect, t.Locator, ErrRefused, err)
	}
	return nil
}

type allowKey struct{}

// WithAllow returns a copy of ctx in which every Env permits only what allow
// permits too, whatever its own Allow says. If ctx has such a policy already,
// both must permit. If allow is nil, the copy has no further policy. A Resolver
// carries its policy to its Fetchers this way.
func WithAllow(ctx context.Context, allow func(ctx context.Context, t Target) error) context.Context {
	return context.WithValue(ctx, allowKey{}, bothAllow(ContextAllow(ctx), allow))
}

// ContextAllow returns the policy that [WithAllow] put into ctx, or nil.
func ContextAllow(ctx context.Context) func(ctx context.Context, t Target) error {
	allow, _ := ctx.Value(allowKey{}).(func(context.Context, Target) error)
	return allow
}

// bothAllow permits what a and b permit. A nil one permits everything.
func bothAllow(a, b func(context.Context, Target) error) func(context.Context, Target) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(ctx context.Context, t Target) error {
		if err := a(ctx, t); err != nil {
			return err
		}
		return b(ctx, t)
	}
}

// Connect connects to t.Host and t.Port as far as the policy allows, within
// Limits.Connect, and tells the context's Trace. Errors are *[Error]s. The
// connection is handed out as the dialler made it (a *net.TCPConn where it is
// one), without deadlines.
func (e *Env) Connect(ctx context.Context, t Target) (net.Conn, error) {
	if t.Network == "" {
		t.Network = "tcp"
	}
	if err := ended(ctx); err != nil {
		return nil, Fail(OpConnect, t.Locator, KindOf(err), err)
	}
	if err := e.Permit(ctx, t); err != nil {
		return nil, err
	}
	env := e.WithDefaults()
	dialCtx := ctx
	if limit := env.Limits.Connect; limit > 0 {
		var cancel context.CancelFunc
		dialCtx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	trace := ContextTrace(ctx)
	address := net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
	trace.DialStart(t.Network, address)
	conn, err := env.dial(context.WithValue(dialCtx, dialKey{}, dialling{&env, t}), t.Network, address)
	if err != nil {
		if limit := env.Limits.Connect; dialCtx.Err() == context.DeadlineExceeded && ctx.Err() == nil {
			err = &timedOut{limit, connecting(address, err), err}
		}
		return nil, dialError(ctx, t, err)
	}
	t.Addr = AddrPort(conn.RemoteAddr())
	if t.Addr.IsValid() {
		if err := env.Permit(ctx, t); err != nil {
			conn.Close()
			return nil, err
		}
	}
	trace.Connected(Connection{
		Network: t.Network, Purpose: t.Purpose, Host: t.Host,
		Local: AddrPort(conn.LocalAddr()), Remote: t.Addr,
	})
	return conn, nil
}

func (e *Env) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if e.Dial != nil {
		return e.Dial(ctx, network, address)
	}
	d := net.Dialer{ControlContext: DialControl}
	host, port, _ := net.SplitHostPort(address) // Connect made it
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

// KnownAddrs returns the addresses of a host that is not to be looked up: that of
// an address, and those of this machine for "localhost" and every name that ends
// in ".localhost" (RFC 6761 §6.3). It returns nil for other hosts.
func KnownAddrs(host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}
	}
	name := "." + strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.HasSuffix(name, ".localhost") {
		return nil
	}
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
}

// dialling is what is being dialled in a context, and by whose leave.
type dialling struct {
	env    *Env
	target Target
}

type dialKey struct{}

// ContextTarget is the Target that an [Env.Dial] was called for, without an
// address; ok is false in other contexts than that of such a call.
func ContextTarget(ctx context.Context) (t Target, ok bool) {
	d, ok := ctx.Value(dialKey{}).(dialling)
	return d.target, ok
}

// DialControl is for net.Dialer.ControlContext, in an [Env.Dial] that makes its own
// net.Dialer and dials with the context it was given: it asks Env.Allow about
// the address that is about to be dialled for the Target. It refuses everything
// in other contexts.
func DialControl(ctx context.Context, _, address string, _ syscall.RawConn) error {
	d, ok := ctx.Value(dialKey{}).(dialling)
	if !ok {
		return &Error{Op: OpConnect, Kind: ErrRefused, Err: errors.New("dialled for nobody")}
	}
	// An empty host arrives as ":port", which is no address and must not pass.
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return Fail(OpConnect, d.target.Locator, ErrRefused, err)
	}
	d.target.Addr = netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
	return d.env.Permit(ctx, d.target)
}

// connecting says what has reached the limit of connecting to address.
func connecting(address string, err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return lookupText(unknown, ErrTimeout)
	}
	return "no connection to " + address
}

// dialError classifies a failed dial. The caller's own context tells a
// cancelled fetch from the expired limit.
func dialError(ctx context.Context, t Target, err error) error {
	if ended := ended(ctx); ended != nil {
		return Fail(OpConnect, t.Locator, KindOf(ended), ended)
	}
	kind := KindOf(err)
	op := OpConnect
	switch kind {
	case ErrUnresolved:
		op = OpResolve
	case ErrOther:
		kind = ErrUnreachable
	}
	return Fail(op, t.Locator, kind, err)
}

// AddrPort is the IP address and port of a TCP or UDP address, an IPv4 one never
// as an IPv6 one; it is invalid for other addresses, such as that of a place
// behind a proxy.
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
