package http

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"time"

	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/locator"
)

// exchange sends one request to the current hop, repeated as the retry policy permits, and returns
// the response. If resumed is not nil, it requests only the rest of a body.
func (c *call) exchange(resumed *rest) (*http.Response, *exchange.Exchange, error) {
	ex := c.newExchange()
	if resumed == nil && c.opt.Exchanged != nil {
		ex.Answered = handOn(cmp.Or[locator.Locator](c.opt.Proxied, c.locator), c.opt.Exchanged)
	}
	r, err := c.request(ex, resumed)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.send(ex, r, resumed == nil)
	if err != nil {
		return nil, nil, c.fail(err)
	}
	c.last = resp
	c.storeCookies(resp)
	return resp, ex, nil
}

// newExchange returns the exchange of a request to the current hop.
func (c *call) newExchange() *exchange.Exchange {
	return &exchange.Exchange{Env: c.env, Hooks: c.hooks, Locator: c.locator, From: c.from, Proxy: c.proxy(), HTTP10: c.opt.HTTP10, IgnoreLength: c.opt.IgnoreLength, ContinueTime: c.f.continueTime(), Body: c.upload, Rewind: c.setBody}
}

// handOn returns a function that calls to with an exchange about l. Info would be too late, because
// bytes of the body come before there is a Resource, and the error of an access has no room for it.
func handOn(l locator.Locator, to func(Exchange)) func(*exchange.Exchange) {
	return func(ex *exchange.Exchange) {
		to(Exchange{Locator: l, HTTP2: ex.HTTP2, Request: ex.Request, Response: ex.Head, Began: ex.Began, Peer: ex.Peer})
	}
}

// short is the maximum size in bytes of a body that is read for its connection.
const short = 16 << 10

// hold reads the short body of a response before another request, so that this can use its connection.
// The body can still be read.
func hold(resp *http.Response) {
	if resp.ContentLength < 0 || resp.ContentLength > short {
		return
	}
	stop := time.AfterFunc(time.Second, func() { resp.Body.Close() })
	text, _ := io.ReadAll(resp.Body) // if this fails, so does the next Read
	stop.Stop()
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), resp.Body), resp.Body}
}

// discard reads the short body of an intermediate response, so that its connection can be reused,
// or else drops the connection.
func discard(resp *http.Response) {
	if resp.ContentLength <= short { // or not known
		stop := time.AfterFunc(time.Second, func() { resp.Body.Close() })
		_, _ = io.CopyN(io.Discard, resp.Body, short) // on failure, the connection is dropped
		stop.Stop()
	}
	resp.Body.Close()
}
