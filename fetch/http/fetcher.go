// Package http fetches http URLs (RFC 1738 §3.3) and https URLs by HTTP/1.1 (RFC 9110, RFC 9112) and,
// over TLS, by HTTP/2 (RFC 9113).
//
// The policy is asked for each request, so that sharing a connection permits nothing more.
package http

import (
	"cmp"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [driver.Fetcher] for http and https. It also implements [driver.AttributeFinder]
// (HEAD), [driver.Replacer] (PUT), [driver.Updater] (POST) and [driver.Explainer]. The zero value is
// ready to use. The fields must not be changed after first use. The methods are safe for concurrent
// use.
//
// Redirects within http and https are followed, up to Env.Limits.Hops times. A redirect to another
// scheme is an error of kind ErrMoved with a *[fetch.Referral]. A status of 400 and above is an
// error. Credentials, cookies and the caller's other header fields are sent only to the origin
// (scheme, host and port) they were meant for, unless Options.LocationTrusted is set.
type Fetcher struct {
	// Env provides connections, limits, TLS settings and credentials. If nil, the zero Env is used.
	Env *fetch.Env
	// UserAgent is the value of the User-Agent field. If empty, "fetch1738" is used.
	UserAgent string
	// Retries is how many times, in each fetch, an idempotent request is repeated and a truncated
	// body is resumed. The zero value means twice, and only after broken connections. A positive
	// number also covers refused connections, timeouts and the statuses 408, 429, 502, 503 and 504.
	// A negative number means never.
	Retries int
	// MaxIdle is the maximum number of idle connections kept for later requests. The zero value means
	// 100; a negative number means that no connections are kept.
	MaxIdle int
	// ContinueTimeout is how long to wait for "100 Continue" before a large Body is sent. The zero
	// value means one second; a negative value means not to wait.
	ContinueTimeout time.Duration
	// Protocols are the versions of HTTP that may be used, as those of an [http.Transport]. If nil,
	// these are HTTP/1.1 and, for https, HTTP/2 if the server speaks it. With UnencryptedHTTP2 and
	// without HTTP1, HTTP/2 is used for http, too, and the server must speak it (RFC 9113 §3.3).
	Protocols *http.Protocols
	// AllowDowngrade permits redirects from https to http.
	AllowDowngrade bool
	// Proxy returns the proxy for a locator, or nil to connect directly. A proxy of scheme "http"
	// receives requests for http URLs and tunnels to https servers; the others tunnel all
	// connections. If Proxy is nil, no proxy is used. Environment variables such as http_proxy are
	// not read.
	Proxy func(l locator.Locator) *proxy.Proxy

	once      sync.Once
	transport *exchange.Transport
}

// Options is the type of [fetch.Request.Options] for http and https. A nil *Options means the zero
// value.
type Options struct {
	// Method is the request method. If empty, it is GET, or POST if there is a Body. Only Fetch
	// uses it.
	Method string
	// Verb, if not empty, replaces Method in every request line. Method still determines what
	// happens to the body when a redirect is followed. If Verb is HEAD, the response is expected to
	// have no body.
	Verb string
	// Target, if not empty, replaces path and search in the first request line.
	Target string
	// Header holds fields to add. Fields such as User-Agent and Accept replace those of the
	// Fetcher. An empty list of values removes the field. Host sets the Host field. Names are sent
	// as they are spelled.
	//
	// Fields about the connection and the length of the body are ignored, with these exceptions:
	// "Connection: close"; "Transfer-Encoding: chunked" for a Body; "Expect: 100-continue", to wait
	// for the server even before a small Body; and an empty list for Expect, to send a large Body
	// without waiting.
	//
	// If there is an If-Range field, a request for a part fails with ErrBadRange if the server
	// sends the whole document.
	Header http.Header
	// Body is sent with the request. It is not closed. If it is an io.Seeker, it can be sent again
	// after a redirect or a failure. Only Fetch uses it.
	Body io.Reader
	// AnyStatus returns every response as a Resource, including errors and redirects that are not
	// followed.
	AnyStatus bool
	// Compressed requests a gzip or deflate coding, and decodes it.
	Compressed bool
	// HTTP10 sends requests by HTTP/1.0, each over its own connection. A Body of unknown size is an
	// error, because HTTP/1.0 has no chunked coding.
	HTTP10 bool
	// IgnoreLength ignores the Content-Length of responses by HTTP/1, for servers that state a wrong one:
	// the document is what comes until the server closes the connection. A truncated one is not noticed.
	IgnoreLength bool
	// AutoReferer sends the URL that redirected as the Referer, without its login.
	AutoReferer bool
	// KeepPost lists the redirect statuses, such as 301, after which a POST remains a POST.
	KeepPost []int
	// LocationTrusted sends Header and credentials to every server that a redirect leads to.
	LocationTrusted bool
	// Proxied is the URL to request from the server at Request.Locator, which is used as a proxy
	// for its scheme. It is put in the request line unchanged (RFC 9112 §3.2.2). Fetcher.Proxy is
	// not called for that request. Proxy-Authorization and Proxy-Connection in Header are sent. A
	// password in Proxied is refused unless ProxiedPassword is set.
	Proxied locator.Locator
	// ProxiedPassword sends the login of Proxied to the proxy, in the request line and as Basic
	// authentication in the Authorization field. Traces mask both.
	ProxiedPassword bool
	// Jar, if not nil, stores the cookies that servers set, also with redirects, and has those that are
	// sent, each to the servers that it is for. Those in Header go only to the first origin.
	Jar http.CookieJar
	// IfModifiedSince, if not zero, makes the request conditional. If the document is not newer,
	// the Resource has an empty Body and status 304.
	IfModifiedSince time.Time
	// Exchanged, if not nil, is called with each request that a server has responded to, as soon as
	// the head of the response has come: also for redirects, logins and requests that are repeated,
	// and before any byte of the Body. It is not called for requests for the rest of a Body that
	// broke off. It must return soon. It is called by the goroutine that has called the Fetcher.
	Exchanged func(Exchange)
}

// An Exchange is a request and the head of the response to it. Its heads must not be changed.
type Exchange struct {
	// Locator is the URL that was requested: Options.Proxied, if that was requested from a proxy.
	Locator locator.Locator
	// HTTP2 is set if it was by HTTP/2.
	HTTP2 bool
	// Request is the head of the request as it was sent, including the empty line, with secrets
	// masked as in a [fetch.Trace]. Response is the head of the response as received, after those of
	// status 1xx. The first lines of HTTP/2 are, for example, "GET / HTTP/2" and "HTTP/2 200".
	Request, Response []byte
	// Began is when the exchange began. A new connection for it was opened after that.
	Began time.Time
	// Peer is the address of the server; invalid through a Fetcher.Proxy.
	Peer netip.AddrPort
}

// Info is the type of [fetch.Resource.Info] for http and https.
type Info struct {
	// Method is the method in the request line.
	Method string
	// Status is, for example, "200 OK"; then StatusCode is 200. Proto is, for example, "HTTP/1.1".
	Status     string
	StatusCode int
	Proto      string
	// FailedPart is the first status of a failure in the body of a 207 response to a change, such as
	// "423 Locked"; "" means that nothing failed. Without Options.AnyStatus it is an error.
	FailedPart string
	// Header is the header of the response.
	Header http.Header
	// Validator identifies this state of the resource. It is a value for an If-Range field: a
	// strong entity tag, or a modification time that is old enough. It is empty if the server sends
	// neither.
	Validator string
	// AtEnd is set if the status is 416 because the requested range starts at the end of the
	// resource. Body is then empty.
	AtEnd bool
	// Head is the status line and header as received, including the empty line.
	Head []byte
	// Redirects are the redirects that were followed, in order.
	Redirects []Redirect
	// Location is the target of a redirect that was not followed. It is nil if the response is not
	// a redirect, or if no URL can be made of its Location field.
	Location locator.Locator
}

// A Redirect is a redirect that was followed.
type Redirect struct {
	// Locator is the URL that redirected. StatusCode and Head are those of its response.
	Locator    *locator.HTTP
	StatusCode int
	Head       []byte
	// SentOn is set if the request body was sent to the target of the redirect.
	SentOn bool
}

func (f *Fetcher) userAgent() string {
	if f.UserAgent == "" {
		return "fetch1738"
	}
	return f.UserAgent
}

// retries returns the maximum number of repetitions.
func (f *Fetcher) retries() int {
	if f.Retries == 0 {
		return 2
	}
	return max(0, f.Retries)
}

// continueTime returns how long to wait for "100 Continue".
func (f *Fetcher) continueTime() time.Duration { return max(0, cmp.Or(f.ContinueTimeout, time.Second)) }
