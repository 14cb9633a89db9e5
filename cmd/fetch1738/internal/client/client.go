// Package client makes Resolvers out of what package plan says: it dials, goes
// through proxies, begins TLS and finds logins, and has operations share what they
// can share.
package client

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

// A Client is what the Operations of a command line share: sessions, and answers
// to questions for passwords. Its methods are for one goroutine, its Accesses for
// many. Close it.
type Client struct {
	Streams stdio.Streams
	Pause   func() (resume func()) // keeps others from the terminal while a question is asked; nil if there are none

	secrets   secrets
	passwords passwordSource
	accesses  []*Access
}

// Access readies an Operation. It may ask for the password of a proxy.
func (c *Client) Access(ctx context.Context, op *plan.Operation) (*Access, error) {
	e, err := newAccess(c, op)
	if err == nil {
		err = e.askProxyPassword(ctx)
	}
	return e, err
}

// Close ends the sessions that are idle.
func (c *Client) Close() {
	for _, e := range c.accesses {
		_ = errors.Join(e.Resolver.Close(), e.referred.Close()) // more than once where they are shared, which does no harm
	}
}

// A Call is what one transfer fetches by an Access. The Fetchers that are called
// in its Context get its policy and logins.
type Call struct {
	*Access
	Locator locator.Locator // changes as links are followed

	asking atomic.Bool
}

type callKey struct{}

// Context is ctx for accesses that belong to c.
func (c *Call) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func callOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Asking reports whether a password is being asked for.
func (c *Call) Asking() bool { return c.asking.Load() }
