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

	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Env has the settings that all Fetchers share: how they connect, what they may reach, logins and
// limits. A Fetcher connects only through its Env. The zero value is ready to use and forbids
// nothing; a nil *Env means the zero value. An Env must not be changed once a Fetcher uses it. Its
// functions are called concurrently.
type Env struct {
	// Dial opens a connection. If nil, it is [Dial]. The context expires within
	// Limits.Connect and carries the Target ([ContextTarget]). A Dial with its own net.Dialer should
	// set the ControlContext of that to [DialControl]: then Allow is asked about every address before
	// the connection, not only about the one that was connected. It must call [KnownAddrs] before it
	// looks up a host.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Listen opens the port that the server connects to in the active mode of FTP. If nil, a
	// net.ListenConfig is used.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Allow forbids a target by returning an error. It is called before the name is looked up, again
	// before each connection attempt with the address, and once more with the address that was
	// connected. If nil, everything is allowed; package policy has policies to use here. The policy
	// of the context ([WithAllow]) must permit the target too.
	Allow func(ctx context.Context, t Target) error
	// TLS returns the TLS settings for all schemes. It is called before each handshake, and never
	// without one; use [sync.OnceValues] to read a file of authorities only once. The Config is not
	// changed: the Fetcher changes a copy, and sets its ServerName to the host if it is empty. If
	// TLS or the Config is nil, a zero Config is used, which verifies certificates. An error fails
	// the handshake ([OpTLS]).
	TLS func() (*tls.Config, error)
	// Credentials returns the login for a server that requires one. It may prompt. If nil, there is
	// no login. A session that it has opened may serve later requests of the same Fetcher to that
	// server without another call. Users who must not share sessions need Fetchers of their own.
	Credentials func(ctx context.Context, c Challenge) (locator.Login, error)
	// Email is the password of anonymous FTP (RFC 1738 §3.2.1); the default is "anonymous@".
	Email string
	// NewsServer is the host or host:port of the server for news URLs, which name no server.
	NewsServer string
	Limits     Limits
}

// A Challenge is a server's request for a login.
type Challenge struct {
	// Locator is the URL that is accessed.
	Locator locator.Locator
	// User is the user name to log in with; empty if Credentials must return that too.
	User string
	// Account is set if the server requires an FTP account (ACCT). Return it as the Password.
	Account bool
	// Text is the prompt or realm from the server, as received. Escape it before you show it.
	Text string
}

// WithDefaults returns a copy of e with the defaults of Limits and Email filled in. e may be nil.
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

// TLSConfig returns a copy of the Config that TLS returns, or a new Config if that is nil. e may be
// nil. A Fetcher calls it for each handshake, after it has connected.
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

// Login calls Credentials. If Credentials is nil or fails, the error is an *[Error] of kind
// [ErrUnauthenticated].
func (e *Env) Login(ctx context.Context, c Challenge) (locator.Login, error) {
	if e == nil || e.Credentials == nil {
		return locator.Login{}, Fail(OpLogin, c.Locator, ErrUnauthenticated, errors.New("the server requires a login, and none was given"))
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

// Permit calls the policy of the context ([WithAllow]), then Allow. A refusal is an *[Error] of kind
// [ErrRefused].
func (e *Env) Permit(ctx context.Context, t Target) error {
	allow := contextAllow(ctx)
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

// WithAllow returns a copy of ctx with a policy for every Env that is used with it: a target must be
// permitted by allow and by the Allow of the Env. If ctx has such a policy already, both must permit.
// If allow is nil, it adds nothing. A Resolver passes its policy to its Fetchers in this way.
func WithAllow(ctx context.Context, allow func(ctx context.Context, t Target) error) context.Context {
	return context.WithValue(ctx, allowKey{}, bothAllow(contextAllow(ctx), allow))
}

// contextAllow returns the policy that [WithAllow] added to ctx, or nil.
func contextAllow(ctx context.Context) func(ctx context.Context, t Target) error {
	allow, _ := ctx.Value(allowKey{}).(func(context.Context, Target) error)
	return allow
}

// bothAllow returns a policy that permits what a and b permit. A nil policy permits everything.
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

// Connect connects to t.Host and t.Port if the policy allows it, within Limits.Connect. It calls the
// hooks of the context's Trace. The error is an *[Error]. The connection is the one that Dial returned,
// such as a *net.TCPConn, without deadlines.
func (e *Env) Connect(ctx context.Context, t Target) (net.Conn, error) {
	if t.Network == "" {
		t.Network = "tcp"
	}
	if err := wire.Ended(ctx); err != nil {
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
	dial := env.Dial
	if dial == nil {
		dial = Dial
	}
	conn, err := dial(context.WithValue(dialCtx, dialKey{}, dialling{&env, t}), t.Network, address)
	if err != nil {
		if limit := env.Limits.Connect; dialCtx.Err() == context.DeadlineExceeded && ctx.Err() == nil {
			err = &wire.TimeoutError{Limit: limit, Awaited: connecting(address, err), Err: err}
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

// Dial connects with a net.Dialer whose ControlContext is [DialControl]. It is for an [Env.Dial] that
// only sometimes connects in another way. ctx must be the context of such a call.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{ControlContext: DialControl}
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
// has that address. "localhost" and every name that ends in ".localhost" have the loopback addresses
// (RFC 6761 §6.3). For other hosts it returns nil.
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

// dialling is the Target of a call of Env.Dial, and the Env whose policy applies.
type dialling struct {
	env    *Env
	target Target
}

type dialKey struct{}

// ContextTarget returns the Target that [Env.Dial] was called for, without an address. ok is false if
// ctx is not the context of such a call.
func ContextTarget(ctx context.Context) (t Target, ok bool) {
	d, ok := ctx.Value(dialKey{}).(dialling)
	return d.target, ok
}

// DialControl is the ControlContext of a net.Dialer in an [Env.Dial]. It calls Env.Allow with the
// address of the connection attempt. The Dial must pass on the context that it received; with any
// other context DialControl refuses.
func DialControl(ctx context.Context, _, address string, _ syscall.RawConn) error {
	d, ok := ctx.Value(dialKey{}).(dialling)
	if !ok {
		return &Error{Op: OpConnect, Kind: ErrRefused, Err: errors.New("DialControl called outside Env.Dial")}
	}
	// An empty host arrives as ":port", which is not an address and must be refused.
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

// dialError classifies a failed dial. The caller's own context shows whether the fetch was cancelled
// or Limits.Connect expired.
func dialError(ctx context.Context, t Target, err error) error {
	if ended := wire.Ended(ctx); ended != nil {
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

// AddrPort returns the IP address and port of a TCP or UDP address. An IPv4 address is never returned
// as an IPv6 one. For other addresses, such as that of a server behind a proxy, it is invalid.
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
