// Package client creates Resolvers for an Operation of package plan. It connects, also
// through proxies, starts TLS and finds logins. Operations share sessions where they
// can.
package client

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

// A Client has what the Operations of a command line share: sessions, and the answers
// to password prompts. Its methods are for one goroutine, its Networks for many. The
// caller must close it.
type Client struct {
	Streams stdio.Streams
	Pause   func() (resume func()) // stops other output to the terminal during a prompt; may be nil
	Archive *Archive               // records what servers send; may be nil

	secrets   secrets
	passwords passwordSource
	networks  []*Network
}

// Network returns the Network of an Operation. It may prompt for the password of a proxy.
func (c *Client) Network(ctx context.Context, op *plan.Operation) (*Network, error) {
	n, err := newNetwork(c, op)
	if err == nil {
		err = n.askProxyPassword(ctx)
	}
	return n, err
}

// Close closes the idle sessions.
func (c *Client) Close() {
	for _, n := range c.networks {
		_ = errors.Join(n.Resolver.Close(), n.referred.Close()) // shared ones more than once, which has no effect
	}
}

// A Call is one transfer with a Network. Fetchers that are called with its Context use
// its policy and logins.
type Call struct {
	*Network
	Locator locator.Locator // changes as links are followed

	asking atomic.Bool
}

// Context returns ctx for requests that belong to c.
func (c *Call) Context(ctx context.Context) context.Context { return caller{call: c}.in(ctx) }

// A caller is who makes a request, as the context of the request says.
type caller struct {
	call  *Call  // nil for a request without a Call
	early *Early // of call; nil if the request is made in its turn
}

type callerKey struct{}

// in returns ctx for requests of c.
func (c caller) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf returns the caller of a context.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// Asking reports whether a password prompt is open.
func (c *Call) Asking() bool { return c.asking.Load() }
