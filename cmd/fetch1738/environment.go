package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/netrc"
	"github.com/fetch1738/fetch1738/locator"
)

// Limits of the command line that differ from those of the library: a person is
// there to lose patience.
const (
	replyTime = 120 * time.Second
	idleTime  = 120 * time.Second
	maxLine   = 64 << 10
)

// An environment is what the transfers of one operation share: sessions, perhaps
// with those of others, the netrc file, answers to questions.
type environment struct {
	std      streams
	op       *operation
	way      way
	proxies  map[string]*schemeProxy // by scheme; those that have none are missing
	direct   fetch.Env               // which reaches the proxies themselves
	resolver *fetch1738.Resolver
	referred *fetch1738.Resolver // the same, which follows referrals without -L

	netrc func() (netrc.File, error)  // reads it once
	tls   func() (*tls.Config, error) // is config of the options, once

	picked atomic.Bool // the user has chosen a link by --number

	warned atomic.Bool // of a password in a URL
}

// newEnvironment makes the Fetchers that an operation asks for, or takes those of
// an earlier one that connects alike. The command line closes them in the end.
func newEnvironment(std streams, op *operation) (*environment, error) {
	e := &environment{std: std, op: op, way: op.way()}
	e.netrc = sync.OnceValues(e.readNetrc)
	if earlier := op.environments.alike(&e.way); earlier != nil {
		e.proxies, e.direct, e.resolver, e.referred = earlier.proxies, earlier.direct, earlier.resolver, earlier.referred
		e.tls = earlier.tls
	} else if err := e.makeResolvers(); err != nil {
		return nil, err
	}
	op.environments = append(op.environments, e)
	return e, nil
}

// makeResolvers makes the Resolvers of a new way to connect.
func (e *environment) makeResolvers() error {
	if err := e.findProxies(); err != nil {
		return err
	}
	e.tls = sync.OnceValues(e.op.tls.config)
	env := fetch.Env{
		Dial:        e.dial,
		TLS:         e.tls,
		Allow:       func(ctx context.Context, t fetch.Target) error { return e.of(ctx).allow(ctx, t) },
		Credentials: e.credentials,
		Email:       e.way.email, NewsServer: e.way.newsServer, Limits: e.way.limits,
	}
	schemes := e.schemes()
	e.referred = &fetch1738.Resolver{Env: env, Schemes: schemes, Gateways: e.way.gateways, GatewayLogins: e.way.toGateways}
	if !e.way.follows {
		env.Limits.Hops = -1
	}
	e.resolver = &fetch1738.Resolver{Env: env, Schemes: schemes, Gateways: e.way.gateways, GatewayLogins: e.way.toGateways}
	e.direct = env
	e.direct.Dial = e.op.dialer.Dial
	return nil
}

// findProxies finds the proxy of every scheme.
func (e *environment) findProxies() error {
	header, err := e.op.proxyHeader()
	if err != nil {
		return err
	}
	e.proxies = make(map[string]*schemeProxy)
	news := kin("nntp")
	for _, scheme := range fetch1738.Schemes() {
		asked := scheme
		if slices.Contains(news, scheme) { // one server, one way to it
			asked = "nntp"
		}
		if p := e.op.proxyOf(asked, header); p != nil {
			e.proxies[scheme] = p
		}
	}
	return nil
}

// resolverFor is the one that retrieves l. To be led to other URLs is what a
// prospero URL is for (RFC 1738 section 3.11), which needs no -L.
func (e *environment) resolverFor(l locator.Locator) *fetch1738.Resolver {
	if _, ok := l.(*locator.Prospero); ok {
		return e.referred
	}
	return e.resolver
}

// kin are the schemes that one bundled Fetcher is for, of which scheme is one.
func kin(scheme string) []string {
	for _, row := range fetch1738.Builtin() {
		if slices.Contains(row.Names, scheme) {
			return row.Names
		}
	}
	return nil
}

// schemes are those whose Fetchers the options configure.
func (e *environment) schemes() []fetch1738.Scheme {
	return []fetch1738.Scheme{
		{Names: kin("ftp"), New: func(env *fetch.Env) fetch.Fetcher { return e.op.ftpFetcher(env) }},
		{Names: kin("gopher"), New: func(env *fetch.Env) fetch.Fetcher {
			return &gopher.Fetcher{Env: env, Exact: e.op.exact}
		}},
		{Names: kin("http"), New: func(env *fetch.Env) fetch.Fetcher {
			own := *env
			if !e.way.follows {
				own.Limits.Hops = -1 // also where a prospero URL has led
			}
			return &fetchhttp.Fetcher{
				Env: &own, UserAgent: "fetch1738/" + version(), Retries: -1, AllowDowngrade: true,
				Proxy: e.forwarder, MaxIdle: e.op.idleSessions(),
				ContinueTimeout: cmp.Or(e.way.patience, -1),
			}
		}},
		{Names: kin("nntp"), New: func(env *fetch.Env) fetch.Fetcher {
			return &nntp.Fetcher{Env: env, MaxIdle: e.op.idleSessions()}
		}},
		{Names: kin("mailto"), New: func(env *fetch.Env) fetch.Fetcher {
			return &mailto.Fetcher{Env: env, SMTP: e.op.smtp, RequireTLS: e.op.ftp.requireTLS}
		}},
	}
}

// allow is the policy: the rules, and what --proto and --proto-redir leave.
func (e *environment) allow(ctx context.Context, t fetch.Target) error {
	picked := t.From.Kind == fetch.OriginRemote && e.picked.Load()
	if t.Locator != nil && (t.From.Kind == fetch.OriginRedirect || t.From.Kind == fetch.OriginRemote) && !picked {
		scheme := t.Locator.Scheme()
		_, resolved := t.From.By.(*locator.Prospero)
		if !e.op.proto.has(scheme) || !resolved && !e.op.protoRedir.has(scheme) {
			return &codedError{exitUnsupported, fmt.Errorf("a redirect to %s, which may not be followed", t.Locator.Redacted())}
		}
	}
	return e.op.rules.Allow(ctx, t)
}
