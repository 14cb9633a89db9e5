package client

import (
	"context"
	"reflect"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
)

// A way is all that the options say of how to connect. Operations with the same
// way share their Fetchers, and so the sessions that those keep open, also across
// --next. So does who they log in as: a news server knows a session's user from
// an access before. Whose rules hold the context of an access tells.
type way struct {
	dialer     dial.Dialer
	proxy      plan.Proxy
	tls        plan.TLS
	ftp        plan.FTPSession
	exact      bool
	smtp       string
	userAgent  *string
	patience   time.Duration // with a server that does not say 100 Continue
	email      string
	newsServer string
	limits     fetch.Limits
	follows    bool
	gateways   map[string]string
	toGateways bool // logins are told to them
	login      plan.Login
}

func wayOf(o *plan.Operation) way {
	return way{
		dialer: o.Connect.Dialer, proxy: o.Proxy, tls: o.TLS, ftp: o.FTP.Session, exact: o.Exact, smtp: o.SMTP,
		userAgent: o.HTTP.UserAgent, patience: o.HTTP.ContinueTimeout, email: o.Login.Email, newsServer: plan.NewsServer(o.News.Server),
		limits: fetch.Limits{
			Connect: o.Connect.Timeout, Reply: replyTime, Idle: IdleTime, Line: maxLine,
			Body: o.Limits.Size, Hops: o.HTTP.MaxRedirects,
		},
		follows:  o.HTTP.Location && o.HTTP.MaxRedirects != 0,
		gateways: o.Policy.Gateways, toGateways: o.Policy.GatewayLogins, login: o.Login,
	}
}

// alike finds an Access that connects by w; nil is none.
func (c *Client) alike(w *way) *Access {
	for _, e := range c.accesses {
		if reflect.DeepEqual(e.way, *w) {
			return e
		}
	}
	return nil
}

// of is the Access that ctx is about: sessions are shared, rules are not.
func (e *Access) of(ctx context.Context) *Access {
	if c := callOf(ctx); c != nil {
		return c.Access
	}
	return e
}
