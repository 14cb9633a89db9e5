package client

import (
	"context"
	"reflect"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
)

// connectionOptions are all options that affect connections. Operations with an equal way share
// their Fetchers, and so the sessions that those keep open, also across --next. The
// login belongs to it, as a session with a news server stays logged in. The context
// says which Operation's rules apply.
type connectionOptions struct {
	dialer     dial.Dialer
	proxy      plan.Proxy
	tls        plan.TLS
	ftp        plan.FTPSession
	exact      bool
	smtp       string
	userAgent  *string
	version    plan.HTTPVersion
	patience   time.Duration // the wait for 100 Continue
	email      string
	newsServer string
	limits     fetch.Limits
	follows    bool
	gateways   map[string]string
	toGateways bool // logins are sent to them
	login      plan.Login
}

// connectionOptionsOf returns the options of o that affect connections.
func connectionOptionsOf(o *plan.Operation) connectionOptions {
	return connectionOptions{
		dialer: o.Connect.Dialer, proxy: o.Proxy, tls: o.TLS, ftp: o.FTP.Session, exact: o.Exact, smtp: o.SMTP,
		userAgent: o.HTTP.UserAgent, version: o.HTTP.Version, patience: o.HTTP.ContinueTimeout, email: o.Login.Email, newsServer: plan.NewsServer(o.News.Server),
		limits: fetch.Limits{
			Connect: o.Connect.Timeout, Reply: ReplyTime, Idle: IdleTime, Line: maxLine,
			Body: o.Limits.Size, Hops: o.HTTP.MaxRedirects,
		},
		follows:  o.HTTP.Location && o.HTTP.MaxRedirects != 0,
		gateways: o.Policy.Gateways, toGateways: o.Policy.GatewayLogins, login: o.Login,
	}
}

// accessFor returns an Access with an equal way, or nil.
func (c *Client) accessFor(w *connectionOptions) *Access {
	for _, e := range c.accesses {
		if reflect.DeepEqual(e.way, *w) {
			return e
		}
	}
	return nil
}

// of returns the Access of ctx: sessions are shared, rules are not.
func (e *Access) of(ctx context.Context) *Access {
	if c := callerOf(ctx).call; c != nil {
		return c.Access
	}
	return e
}
