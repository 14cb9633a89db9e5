package main

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A way is all that the options say of how to connect. Operations with the same
// way share their Fetchers, and so the sessions that those keep open, also across
// --next. So does who they log in as: a news server knows a session's user from
// an access before. Whose rules hold the context of an access tells.
type way struct {
	dialer     dial.Dialer
	proxy      proxyOptions
	tls        tlsOptions
	ftp        ftpWay
	exact      bool
	guessType  bool
	noEPSV     bool
	smtp       string
	userAgent  *string
	patience   time.Duration // of --expect100-timeout
	email      string
	newsServer string
	limits     fetch.Limits
	follows    bool
	gateways   map[string]string
	toGateways bool // logins are told to them
	login      *locator.Login
	netrc      netrcMode
	netrcFile  string
}

func (o *operation) way() way {
	return way{
		o.dialer, o.proxy, o.tls, o.ftp, o.exact, o.guessType, o.disableEPSV, o.smtp, o.userAgent, o.continueTimeout, o.email, newsServer(o.newsServer),
		fetch.Limits{
			Connect: o.connectTimeout, Reply: replyTime, Idle: idleTime, Line: maxLine,
			Body: o.maxFilesize, Hops: o.maxRedirects,
		},
		o.location && o.maxRedirects != 0, o.gateways, o.gatewayLogin, o.login, o.netrc, o.netrcFile,
	}
}

// environments are those of a command line, one for each operation.
type environments []*environment

// alike finds an environment that connects by w; nil is none.
func (all environments) alike(w *way) *environment {
	for _, e := range all {
		if reflect.DeepEqual(e.way, *w) {
			return e
		}
	}
	return nil
}

// close ends the sessions that are idle.
func (all environments) close() {
	for _, e := range all {
		_ = errors.Join(e.resolver.Close(), e.referred.Close()) // more than once where they are shared, which does no harm
	}
}

// of is the environment that ctx is about: sessions are shared, rules are not.
func (e *environment) of(ctx context.Context) *environment {
	if t, ok := ctx.Value(transferKey{}).(*transfer); ok {
		return t.environment
	}
	return e
}
