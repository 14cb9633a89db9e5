package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/fetch1738/fetch1738/fetch/internal/call"
	"github.com/fetch1738/fetch1738/locator"
)

// Env has the settings that all Fetchers share: how they connect, what they may reach, logins and
// limits. A Fetcher connects only through its Env. The zero value is ready to use and forbids
// nothing; a nil *Env means the zero value. An Env must not be changed once a Fetcher uses it. Its
// functions are called concurrently.
type Env struct {
	// Dial opens a connection. If nil, it is driver.Dial. The context expires within Limits.Connect
	// and carries the Target ([ContextTarget]). A Dial with its own net.Dialer should set the
	// ControlContext of that to [DialControl]: then Allow is asked about every address before the
	// connection, not only about the one that was connected. It must call driver.KnownAddrs before
	// it looks up a host.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Listen opens the port that the server connects to in the active mode of FTP. If nil, a
	// net.ListenConfig is used.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Allow forbids a target by returning an error. It is called before the name is looked up, and
	// once for each address: by [DialControl] before the connection, or else, if Dial does not call
	// that, with the address that was connected. If nil, everything is allowed; package policy has
	// policies to use here. The policy of the context ([WithAllow]) must permit the target too.
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

// of returns what ctx carries besides policies.
func of(ctx context.Context) call.Call[*Trace, Target] { return call.Of[*Trace, Target](ctx) }

// WithAllow returns a copy of ctx with a policy for every Env that is used with it: a target must be
// permitted by allow and by the Allow of the Env. If ctx has such a policy already, all must permit.
// If allow is nil, it adds nothing.
func WithAllow(ctx context.Context, allow func(ctx context.Context, t Target) error) context.Context {
	if allow == nil {
		return ctx
	}
	p := &call.Policy[Target]{Allow: allow}
	return p.In(ctx)
}

// ContextTarget returns the Target that [Env.Dial] was called for, without an address. ok is false
// if ctx is not the context of such a call.
func ContextTarget(ctx context.Context) (t Target, ok bool) {
	c := of(ctx)
	if c.Target == nil {
		return Target{}, false
	}
	return *c.Target, true
}

// DialControl is the ControlContext of a net.Dialer in an [Env.Dial]. It calls Env.Allow with the
// address of the connection attempt. The Dial must pass on the context that it received; with any
// other context DialControl refuses.
func DialControl(ctx context.Context, _, address string, _ syscall.RawConn) error {
	c := of(ctx)
	if c.Target == nil {
		return &Error{Op: OpConnect, Kind: ErrRefused, Err: errors.New("DialControl called outside Env.Dial")}
	}
	// An empty host arrives as ":port", which is not an address and must be refused.
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		refused := &Error{Op: OpConnect, Kind: ErrRefused, Err: err}
		if c.Target.Locator != nil {
			refused.URL = c.Target.Locator.Redacted()
		}
		return refused
	}
	return c.Ask(netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()))
}
