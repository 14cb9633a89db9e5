package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/netrc"
	"github.com/fetch1738/fetch1738/locator"
)

// Limits of the command line that differ from those of the library, as a user is there
// to interrupt a transfer.
const (
	ReplyTime = 120 * time.Second
	IdleTime  = 120 * time.Second
	maxLine   = 64 << 10
)

// An Access has what the transfers of one Operation need to reach servers: sessions,
// which other Operations may share, proxies, the netrc file, and the user's answers to
// prompts.
type Access struct {
	Op       *plan.Operation
	Resolver *fetch1738.Resolver

	client   *Client
	way      connectionOptions
	proxies  map[string]*schemeProxy // by scheme; schemes without a proxy are missing
	direct   fetch.Env               // connects to the proxies
	referred *fetch1738.Resolver     // like Resolver, but follows referrals without -L

	TLS    func() (*tls.Config, error) // reads the files of the options at the first call
	netrc  func() (netrc.File, error)  // reads the file at the first call
	picked atomic.Bool                 // the user has chosen a link
	warned atomic.Bool                 // about a password in a URL
}

// newAccess returns an Access for op. It shares the Fetchers of an earlier Operation
// that connects in the same way.
func newAccess(c *Client, op *plan.Operation) (*Access, error) {
	e := &Access{client: c, Op: op, way: connectionOptionsOf(op)}
	e.netrc = sync.OnceValues(e.readNetrc)
	if earlier := c.accessFor(&e.way); earlier != nil {
		e.proxies, e.direct, e.Resolver, e.referred = earlier.proxies, earlier.direct, earlier.Resolver, earlier.referred
		e.TLS = earlier.TLS
	} else if err := e.makeResolvers(); err != nil {
		return nil, err
	}
	c.accesses = append(c.accesses, e)
	return e, nil
}

// Pick has the policy treat the links that are followed from now on as chosen by the
// user.
func (e *Access) Pick() { e.picked.Store(true) }

// makeResolvers creates the Resolvers of an Access that shares none.
func (e *Access) makeResolvers() error {
	if err := e.findProxies(); err != nil {
		return err
	}
	e.TLS = sync.OnceValues(func() (*tls.Config, error) { return tlsConfig(&e.Op.TLS) })
	env := fetch.Env{
		Dial:        e.dial,
		TLS:         e.TLS,
		Allow:       func(ctx context.Context, t fetch.Target) error { return e.of(ctx).allow(ctx, t) },
		Credentials: e.credentials,
		Email:       e.way.email, NewsServer: e.way.newsServer, Limits: e.way.limits,
	}
	schemes := e.schemes()
	var record func(context.Context, *fetch.Request, fetch1738.FetchFunc) (*fetch.Resource, error)
	if kept := e.client.Archive; kept != nil {
		record = kept.recorder.Record
	}
	e.referred = &fetch1738.Resolver{Env: env, Schemes: schemes, Gateways: e.way.gateways, GatewayLogins: e.way.toGateways, Recorder: record}
	if !e.way.follows {
		env.Limits.Hops = -1
	}
	e.Resolver = &fetch1738.Resolver{Env: env, Schemes: schemes, Gateways: e.way.gateways, GatewayLogins: e.way.toGateways, Recorder: record}
	e.direct = env
	e.direct.Dial = e.connect
	return nil
}

// findProxies finds the proxy of every scheme.
func (e *Access) findProxies() error {
	header, err := proxyHeader(e.Op)
	if err != nil {
		return err
	}
	e.proxies = make(map[string]*schemeProxy)
	news := Kin("nntp")
	for _, scheme := range fetch1738.Schemes() {
		asked := scheme
		if slices.Contains(news, scheme) { // all have the same server
			asked = "nntp"
		}
		if p := proxyOf(e.Op, asked, header); p != nil {
			e.proxies[scheme] = p
		}
	}
	return nil
}

// ResolverFor returns the Resolver for l. A prospero URL exists to refer to other URLs
// (RFC 1738 section 3.11), so its referrals are followed without -L.
func (e *Access) ResolverFor(l locator.Locator) *fetch1738.Resolver {
	if _, ok := l.(*locator.Prospero); ok {
		return e.referred
	}
	return e.Resolver
}

// Kin returns all schemes of the bundled Fetcher for scheme.
func Kin(scheme string) []string {
	for _, row := range fetch1738.Builtin() {
		if slices.Contains(row.Names, scheme) {
			return row.Names
		}
	}
	return nil
}

// schemes returns the schemes whose Fetchers depend on the options.
func (e *Access) schemes() []fetch1738.Scheme {
	return []fetch1738.Scheme{
		{Names: Kin("ftp"), New: func(env *fetch.Env) driver.Fetcher { return FTPFetcher(e.Op, env) }},
		{Names: Kin("gopher"), New: func(env *fetch.Env) driver.Fetcher {
			return &gopher.Fetcher{Env: env, Exact: e.Op.Exact}
		}},
		{Names: Kin("http"), New: func(env *fetch.Env) driver.Fetcher {
			own := *env
			if !e.way.follows {
				own.Limits.Hops = -1 // also after a referral of a prospero URL
			}
			return &fetchhttp.Fetcher{
				Env: &own, UserAgent: "fetch1738/" + version.String(), Retries: -1, AllowDowngrade: true,
				Proxy: e.forwarder, MaxIdle: idleSessions(e.Op),
				ContinueTimeout: cmp.Or(e.way.patience, -1), Protocols: protocols(e.way.version),
			}
		}},
		{Names: Kin("nntp"), New: func(env *fetch.Env) driver.Fetcher {
			return &nntp.Fetcher{Env: env, MaxIdle: idleSessions(e.Op)}
		}},
		{Names: Kin("mailto"), New: func(env *fetch.Env) driver.Fetcher {
			return &mailto.Fetcher{Env: env, SMTP: e.Op.SMTP, RequireTLS: e.Op.TLS.Require}
		}},
	}
}

// allow is the policy: the rules, --proto and --proto-redir.
func (e *Access) allow(ctx context.Context, t fetch.Target) error {
	picked := t.From.Kind == fetch.OriginRemote && e.picked.Load()
	if t.Locator != nil && (t.From.Kind == fetch.OriginRedirect || t.From.Kind == fetch.OriginRemote) && !picked {
		scheme := t.Locator.Scheme()
		_, resolved := t.From.By.(*locator.Prospero)
		if !e.Op.Policy.Schemes.Has(scheme) || !resolved && !e.Op.Policy.Redirects.Has(scheme) {
			return fault.Errorf(fault.Unsupported, "redirect to %s refused: its scheme is not permitted by --proto and --proto-redir", t.Locator.Redacted())
		}
	}
	return e.Op.Policy.Rules.Allow(ctx, t)
}

// idleSessions returns how many idle sessions of a scheme are kept. 0 means the
// default.
func idleSessions(o *plan.Operation) int {
	if !o.Parallel.On {
		return 0
	}
	return o.Parallel.Connections()
}

// Warn prints a warning, unless -s is given.
func (e *Access) Warn(format string, args ...any) {
	if !e.Op.Silent {
		e.client.Streams.Warn(format, args...)
	}
}
