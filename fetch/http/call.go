package http

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// call is one operation of a Fetcher, including the redirects it follows, the logins it asks for
// and the requests it repeats.
type call struct {
	f      *Fetcher
	env    *driver.Env
	outer  context.Context
	ctx    context.Context // ends with the call, too
	cancel context.CancelCauseFunc
	hooks  *exchange.Hooks

	req    *fetch.Request // from the first byte of Request.Lead on
	lead   int64          // bytes of it
	opt    Options
	method fetch.Op
	upload *upload
	hop
	login      *locator.Login    // for the hop's origin
	leftOrigin bool              // a redirect has led away from the first origin
	dropped    bool              // a redirect has dropped the body
	spelling   map[string]string // of the caller's header fields, by canonical name
	redirects  []Redirect
	last       *http.Response // whose body may have a connection
}

// hop is one URL that a call requests.
type hop struct {
	locator *locator.HTTP
	from    fetch.Provenance
}

// end ends the call. No data may follow.
func (c *call) end(err error) {
	c.cancel(err)
	c.upload.stop()
	if c.last != nil {
		c.last.Body.Close()
	}
	c.hooks.End()
}

// fail returns the *fetch.Error of a failed exchange. The reason why the call was canceled takes
// precedence over the transport's error.
func (c *call) fail(err error) *fetch.Error {
	var known *fetch.Error
	if outer := c.outer.Err(); outer != nil {
		return driver.Fail(c.method, c.locator, fetch.KindOf(outer), outer)
	}
	if errors.As(context.Cause(c.ctx), &known) {
		return driver.Fail(c.method, c.locator, known.Kind, known)
	}
	if local := c.upload.failure(); local != nil {
		return driver.Fail(c.method, c.locator, fetch.ErrLocalIO, local)
	}
	if errors.As(err, &known) {
		return driver.Fail(c.method, c.locator, known.Kind, known)
	}
	var wrapper *url.Error
	if errors.As(err, &wrapper) {
		err = wrapper.Err // its URL would only repeat the call's locator
	}
	return driver.Fail(c.method, c.locator, kindOf(err), err)
}

// kindOf classifies an error that the transport returned before the body. A head that breaks off is
// not a truncated body. All other errors mean that the response is not HTTP.
func kindOf(err error) fetch.ErrorKind {
	switch kind := fetch.KindOf(err); kind {
	case fetch.ErrTruncated:
		return fetch.ErrConnectionFailed
	case fetch.ErrOther:
		return fetch.ErrProtocol
	default:
		return kind
	}
}

// setBody makes the upload the body of r, with the caller's Transfer-Encoding and Expect.
func (c *call) setBody(r *http.Request) error {
	if err := c.upload.setBodyOf(r, c.locator); err != nil || c.upload == nil {
		return err
	}
	if c.opt.Header.Get("Transfer-Encoding") == "chunked" {
		r.ContentLength = -1
	}
	switch values, given := c.opt.Header["Expect"]; {
	case c.opt.HTTP10 && r.ContentLength < 0:
		return driver.Fail(fetch.Op(r.Method), c.locator, fetch.ErrUnsupported, errors.New("HTTP/1.0 cannot send a body of unknown size"))
	case given && len(values) == 0 || c.opt.HTTP10:
		r.Header.Del("Expect")
	case given && strings.EqualFold(values[0], "100-continue") && r.ContentLength != 0:
		r.Header.Set("Expect", "100-continue")
	}
	return nil
}

// verb returns the method in the request line.
func (c *call) verb() string { return cmp.Or(c.opt.Verb, string(c.method)) }

// isTrusted reports whether the current hop may receive what is meant for the first.
func (c *call) isTrusted() bool { return !c.leftOrigin || c.opt.LocationTrusted }

// ranged reports whether the call requests only a part.
func (c *call) ranged() bool { return c.req.Offset != 0 || c.req.Length > 0 || c.lead > 0 }

// badRange returns the error of a range that cannot be requested, or was not sent.
func (c *call) badRange(why string) error {
	return driver.Fail(c.method, c.locator, fetch.ErrBadRange, errors.New(why))
}

// proxy returns the proxy for the current hop; nil if there is no proxy. A request with
// Options.Proxied is not sent through another proxy.
func (c *call) proxy() *proxy.Proxy {
	if c.f.Proxy == nil || c.opt.Proxied != nil {
		return nil
	}
	return c.f.Proxy(c.locator)
}
