package client

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/netrc"
	"github.com/fetch1738/fetch1738/locator"
)

// A Network is how the transfers of one Operation reach servers: by connections that other Operations
// may share, with the rules and logins of its own. One with only an Operation describes it, and
// cannot connect.
type Network struct {
	Op       *plan.Operation
	Resolver *fetch1738.Resolver
	*connections

	client   *Client
	referred *fetch1738.Resolver        // like Resolver, but follows referrals without -L
	netrc    func() (netrc.File, error) // reads the file at the first call
	picked   atomic.Bool                // the user has chosen a link
	warned   atomic.Bool                // about a password in a URL
}

// newNetwork returns a Network for op. It shares the sessions of an earlier Operation
// whose options for connections are equal.
func newNetwork(c *Client, op *plan.Operation) (*Network, error) {
	n := &Network{client: c, Op: op}
	n.netrc = sync.OnceValues(n.readNetrc)
	if earlier := c.like(&op.Connections); earlier != nil {
		n.connections, n.Resolver, n.referred = earlier.connections, earlier.Resolver, earlier.referred
	} else if err := n.open(); err != nil {
		return nil, err
	}
	c.networks = append(c.networks, n)
	return n, nil
}

// like returns a Network with these options, or nil.
func (c *Client) like(options *plan.Connections) *Network {
	for _, n := range c.networks {
		if reflect.DeepEqual(n.options, *options) {
			return n
		}
	}
	return nil
}

// open creates the Resolvers of a Network that shares none. Everything in them is from the options
// for connections; the rules and logins are those of the Operation that the context names.
func (n *Network) open() (err error) {
	n.connections, err = newConnections(n.Op.Connections, idleSessions(&n.Op.Parallel), n.client.Streams.Dial)
	if err != nil {
		return err
	}
	n.direct.Allow = func(ctx context.Context, t fetch.Target) error { return n.of(ctx).allow(ctx, t) }
	n.direct.Credentials = n.credentials
	var record recorder
	if kept := n.client.Archive; kept != nil {
		record = kept.recorder.Record
	}
	n.Resolver, n.referred = n.resolver(n.follows(), record), n.resolver(true, record)
	return nil
}

// Pick has the policy treat the links that are followed from now on as chosen by the
// user.
func (n *Network) Pick() { n.picked.Store(true) }

// of returns the Network of ctx: sessions are shared, rules are not.
func (n *Network) of(ctx context.Context) *Network {
	if c := callerOf(ctx).call; c != nil {
		return c.Network
	}
	return n
}

// ResolverFor returns the Resolver for l. A prospero URL exists to refer to other URLs
// (RFC 1738 section 3.11), so its referrals are followed without -L.
func (n *Network) ResolverFor(l locator.Locator) *fetch1738.Resolver {
	if _, ok := l.(*locator.Prospero); ok {
		return n.referred
	}
	return n.Resolver
}

// allow is the policy: the rules, --proto and --proto-redir.
func (n *Network) allow(ctx context.Context, t fetch.Target) error {
	picked := t.From.Kind == fetch.OriginRemote && n.picked.Load()
	if t.Locator != nil && (t.From.Kind == fetch.OriginRedirect || t.From.Kind == fetch.OriginRemote) && !picked {
		scheme := t.Locator.Scheme()
		_, resolved := t.From.By.(*locator.Prospero)
		if !n.Op.Policy.Schemes.Has(scheme) || !resolved && !n.Op.Policy.Redirects.Has(scheme) {
			return localerr.Errorf(localerr.Unsupported, "redirect to %s refused: its scheme is not permitted by --proto and --proto-redir", t.Locator.Redacted())
		}
	}
	return n.Op.Policy.Rules.Allow(ctx, t)
}

// Warn prints a warning, unless -s is given.
func (n *Network) Warn(format string, args ...any) {
	if !n.Op.Silent {
		n.client.Streams.Warn(format, args...)
	}
}
