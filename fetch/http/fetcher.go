// Package http fetches http URLs (RFC 1738 §3.3) and https ones by HTTP/1.1
// (RFC 9110, RFC 9112).
//
// HTTP/2 is not spoken, so that what a [fetch.Trace] shows is what went over
// the wire, octet for octet, and no connection is shared by requests that the
// policy may judge differently.
package http

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is the [fetch.Fetcher] of http and https. It is an AttributeFinder
// (HEAD), a Replacer (PUT), an Updater (POST) and an Explainer besides. The zero
// value is ready. Its fields must not be changed once it is in use; its methods
// are safe for concurrent use.
//
// Redirects within http and https are followed up to Env.Limits.Hops; one to
// another scheme is an error of kind ErrMoved with a *fetch.Referral. A status of
// 400 and above is an error. Credentials, cookies and the caller's other header
// fields go to the origin (scheme, host and port) they were meant for and to no
// other, unless Options.LocationTrusted says so.
type Fetcher struct {
	// Env is the way out; nil is the zero Env.
	Env *fetch.Env
	// UserAgent names the program to servers; empty is "fetch1738".
	UserAgent string
	// Retries is how often something that can be done twice without harm is tried
	// again, and how often a body that was cut is resumed, in each fetch. 0 is
	// twice, after broken connections only. A positive number is for refused
	// connections, timeouts and the answers 408, 429, 502, 503 and 504 too. A
	// negative one is never.
	Retries int
	// MaxIdle is how many idle connections to one server are kept for another
	// request; 0 is 8.
	MaxIdle int
	// ContinueTimeout is how long to wait for "100 Continue" before a large Body is
	// sent; 0 is a second, a negative one no time at all.
	ContinueTimeout time.Duration
	// AllowDowngrade follows redirects from https to http.
	AllowDowngrade bool
	// Proxy gives the proxy to be used for a locator, nil for none: one of scheme
	// "http" is asked for http URLs and connects to https servers, the others
	// connect to all. A nil Proxy uses none. The environment is not looked at.
	Proxy func(l locator.Locator) *proxy.Proxy

	once      sync.Once
	transport *http.Transport
}

// Options are for [fetch.Request.Options]; a nil *Options is the zero value.
type Options struct {
	// Method is the request's; empty is GET, or POST when there is a Body. Other
	// operations than Fetch do not look at it.
	Method string
	// Verb, if set, stands in every request line in place of Method, which still
	// says what becomes of the body when a redirect is followed, and, being HEAD,
	// that an answer's body is not wanted.
	Verb string
	// Target, if set, stands in the first request line in place of path and search.
	Target string
	// Header holds fields to be added or, as User-Agent and Accept, put in place
	// of the Fetcher's own; an empty list of values sends no such field at all.
	// Host is the request's Host field. Names go out as they are spelled. Fields
	// about the connection and the length of the body are the Fetcher's business and
	// ignored, but for these: "Connection: close", "Transfer-Encoding: chunked" for a
	// Body, "Expect: 100-continue" to ask first also with a small Body, and an empty
	// list for Expect, which sends a large one unasked. With an If-Range a request for
	// a part fails with ErrBadRange if everything comes.
	Header http.Header
	// Body is sent with the request; it is not closed. It is sent again, after a
	// redirect or a failure, if it is an io.Seeker. Other operations than Fetch do
	// not look at it.
	Body io.Reader
	// AnyStatus makes a Resource of every answer: errors, and redirects that are
	// not followed.
	AnyStatus bool
	// Compressed asks for a gzip or deflate coding and takes it off again.
	Compressed bool
	// AutoReferer sends the URL that redirected as the Referer, without its login.
	AutoReferer bool
	// KeepPost are the statuses of redirects, such as 301, that leave a POST one.
	KeepPost []int
	// LocationTrusted sends Header and credentials to wherever a redirect leads.
	LocationTrusted bool
	// Proxied is asked of the server at Request.Locator, as of a proxy that speaks
	// its scheme: it stands in the request line as it is (RFC 9112 §3.2.2).
	// Fetcher.Proxy is not asked for that request. Header's Proxy-Authorization and
	// Proxy-Connection go with it. A password in it is refused, unless ProxiedPassword is set.
	Proxied locator.Locator
	// ProxiedPassword tells the proxy the login of Proxied, in the request line and,
	// by the Basic scheme, as Authorization. Traces mask both.
	ProxiedPassword bool
	// IfModifiedSince, if set, gives a Resource with an empty Body and status 304
	// when there is nothing newer.
	IfModifiedSince time.Time
}

// Info is the Resource.Info of an http Resource.
type Info struct {
	// Method is what the request line said.
	Method string
	// Status is such as "200 OK", StatusCode 200, Proto "HTTP/1.1".
	Status     string
	StatusCode int
	Proto      string
	// Header is the answer's.
	Header http.Header
	// Validator tells this state of the resource from others, as the value of an
	// If-Range field: a strong entity tag, or a time of modification that is old
	// enough. It is empty where there is none.
	Validator string
	// AtEnd is set if the status is 416 because the wanted octets start where the
	// resource ends: there are none, and Body is empty.
	AtEnd bool
	// Head is the status line and header as they came, with the empty line.
	Head []byte
	// Redirects are the answers that led here, in order.
	Redirects []Redirect
	// Location is where the answer leads that is a redirect; nil if it is none, or
	// leads nowhere that a URL can say.
	Location locator.Locator
}

// Redirect is an answer that led elsewhere.
type Redirect struct {
	Locator    *locator.HTTP
	StatusCode int
	Head       []byte
	// SentOn is set if the request's body went to where this led.
	SentOn bool
}

// Fetch implements [fetch.Fetcher]. Request.Options is an *Options or nil.
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	c, err := f.newCall(ctx, req, "", nil)
	if err != nil {
		return nil, err
	}
	res, err := c.fetch()
	if err != nil {
		c.end(err)
		return nil, err
	}
	return res, nil
}

// FindAttributes implements [fetch.AttributeFinder] by HEAD.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	return f.do(ctx, req, http.MethodHead, nil)
}

// Replace implements [fetch.Replacer] by PUT. HTTP cannot replace a part: an
// Offset is refused.
func (f *Fetcher) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.do(ctx, req, http.MethodPut, body)
}

// Update implements [fetch.Updater] by POST. The attributes are those of the
// answer; an answer's body is wanted rather than dropped by Fetch with
// Options.Body.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.do(ctx, req, http.MethodPost, body)
}

// do is an operation of which only the attributes count.
func (f *Fetcher) do(ctx context.Context, req *fetch.Request, method fetch.Op, body io.Reader) (*fetch.Attributes, error) {
	c, err := f.newCall(ctx, req, method, body)
	if err != nil {
		return nil, err
	}
	a, err := c.answer()
	if err != nil {
		c.end(err)
		return nil, err
	}
	defer c.end(nil)
	c.discard(a.resp)
	attributes := a.attributes()
	if method == http.MethodHead {
		attributes.Size = a.resp.ContentLength
	}
	return &attributes, nil
}

// Close closes the connections that are kept for further requests. The Fetcher
// can be used again.
func (f *Fetcher) Close() error {
	f.init()
	f.transport.CloseIdleConnections()
	return nil
}

// proxy is that of the present hop; nil is none. What is asked of a proxy by
// Options.Proxied is not handed to another one.
func (c *call) proxy() *proxy.Proxy {
	if c.f.Proxy == nil || c.opt.Proxied != nil && len(c.redirects) == 0 {
		return nil
	}
	return c.f.Proxy(c.locator)
}
