package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/nntp"
)

// Limits of the command line that differ from those of the library, as a user is there
// to interrupt a transfer.
const (
	idleTime = 120 * time.Second
	maxLine  = 64 << 10
)

// IdleTime returns how long a server may be silent: before a reply, and between two parts of a
// document. A negative time means no limit.
func IdleTime(o *plan.Connect) time.Duration { return cmp.Or(o.Idle, idleTime) }

// A recorder is the Recorder of a Resolver, or nil.
type recorder = func(context.Context, *fetch.Request, fetch1738.FetchFunc) (*fetch.Resource, error)

// A dialFunc replaces the net package. It may be nil.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// connections reach servers as the options for that say, through the proxies. They know no Operation:
// several share them. Nil ones use no proxy.
type connections struct {
	options plan.Connections
	idle    int // sessions of a scheme that are kept; 0 for the default
	through dialFunc
	proxies map[string]*schemeProxy     // by scheme; schemes without a proxy are missing
	direct  fetch.Env                   // connects without proxies
	TLS     func() (*tls.Config, error) // reads the files of the options at the first call
}

// newConnections finds the proxies, and connects to nothing yet.
func newConnections(o plan.Connections, idle int, through dialFunc) (*connections, error) {
	c := &connections{options: o, idle: idle, through: through}
	if err := c.findProxies(); err != nil {
		return nil, err
	}
	c.TLS = sync.OnceValues(func() (*tls.Config, error) { return tlsConfig(&c.options.TLS) })
	c.direct = fetch.Env{
		Dial: c.connect, TLS: c.TLS, Email: o.Login.Email, NewsServer: plan.NewsServer(o.NewsServer),
		Limits: fetch.Limits{
			Connect: o.Connect.Timeout, Reply: IdleTime(&o.Connect), Idle: IdleTime(&o.Connect), Line: maxLine,
			Body: o.MaxSize, Hops: o.HTTPSession.MaxRedirects,
		},
	}
	return c, nil
}

// resolver returns a Resolver over c.
func (c *connections) resolver(follows bool, record recorder) *fetch1738.Resolver {
	env := c.direct
	env.Dial = c.dial
	if !follows {
		env.Limits.Hops = -1
	}
	return &fetch1738.Resolver{
		Env: env, Schemes: c.schemes(), Gateways: c.options.Gateways, GatewayLogins: c.options.GatewayLogins, Recorder: record,
	}
}

// follows reports whether redirects are followed.
func (c *connections) follows() bool {
	return c.options.HTTPSession.Location && c.options.HTTPSession.MaxRedirects != 0
}

// findProxies finds the proxy of every scheme.
func (c *connections) findProxies() error {
	header, err := proxyHeader(&c.options)
	if err != nil {
		return err
	}
	c.proxies = make(map[string]*schemeProxy)
	news := Kin("nntp")
	for _, scheme := range fetch1738.Schemes() {
		asked := scheme
		if slices.Contains(news, scheme) { // all have the same server
			asked = "nntp"
		}
		if p := proxyOf(&c.options, asked, header); p != nil {
			c.proxies[scheme] = p
		}
	}
	return nil
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
func (c *connections) schemes() []fetch1738.Scheme {
	return []fetch1738.Scheme{
		{Names: Kin("ftp"), New: func(env *fetch.Env) driver.Fetcher { return FTPFetcher(&c.options, c.idle, env) }},
		{Names: Kin("gopher"), New: func(env *fetch.Env) driver.Fetcher {
			return &gopher.Fetcher{Env: env, Exact: c.options.Exact}
		}},
		{Names: Kin("http"), New: func(env *fetch.Env) driver.Fetcher {
			own := *env
			if !c.follows() {
				own.Limits.Hops = -1 // also after a referral of a prospero URL
			}
			if to := c.options.Connect.HAProxy; to.On {
				own.Dial = announced(own.Dial, to.ClientIP)
			}
			return &fetchhttp.Fetcher{
				Env: &own, UserAgent: "fetch1738/" + version.String(), Retries: -1, AllowDowngrade: true,
				Proxy: c.forwarder, MaxIdle: c.idle,
				ContinueTimeout: cmp.Or(c.options.HTTPSession.ContinueTimeout, -1), Protocols: protocols(c.options.HTTPSession.Version),
			}
		}},
		{Names: Kin("nntp"), New: func(env *fetch.Env) driver.Fetcher {
			return &nntp.Fetcher{Env: env, MaxIdle: c.idle}
		}},
		{Names: Kin("mailto"), New: func(env *fetch.Env) driver.Fetcher {
			return &mailto.Fetcher{Env: env, SMTP: c.options.SMTP, RequireTLS: c.options.TLS.Require}
		}},
	}
}

// idleSessions returns how many idle sessions of a scheme are kept. 0 means the
// default.
func idleSessions(p *plan.Parallel) int {
	if !p.On {
		return 0
	}
	return p.Connections()
}
