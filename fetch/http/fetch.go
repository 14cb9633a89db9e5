package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetch implements [driver.Fetcher]. Request.Options must be nil or an *[Options].
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

// FindAttributes implements [driver.AttributeFinder] by a HEAD request.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	return f.do(ctx, req, http.MethodHead, nil)
}

// Replace implements [driver.Replacer] by a PUT request. HTTP cannot replace a part of a document:
// an Offset is an error.
func (f *Fetcher) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.do(ctx, req, http.MethodPut, body)
}

// Update implements [driver.Updater] by a POST request. It returns the attributes of the response
// and discards its body. To read the body, call Fetch with Options.Body.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.do(ctx, req, http.MethodPost, body)
}

// do performs an operation that returns only attributes.
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
	discard(a.resp)
	if err := c.upload.checkSent(a.resp); err != nil {
		return nil, driver.Fail(c.method, c.locator, fetch.ErrTruncated, err)
	}
	attributes := a.attributes()
	if method == http.MethodHead {
		attributes.Size = a.resp.ContentLength
	}
	return &attributes, nil
}

// fetch returns the Resource of the final response.
func (c *call) fetch() (*fetch.Resource, error) {
	a, err := c.answer()
	if err != nil {
		return nil, err
	}
	res := &fetch.Resource{
		Attributes: a.attributes(),
		Locator:    c.locator,
		Kind:       fetch.KindDocument,
		Info: &Info{
			Method: c.verb(), Status: a.resp.Status, StatusCode: a.resp.StatusCode, Proto: a.resp.Proto, Header: a.resp.Header,
			Validator: validator(a.resp), Head: a.Head, Redirects: c.redirects, AtEnd: a.atEnd,
		},
		Peer: a.Peer, TLS: a.TLS,
	}
	res.Info.(*Info).FailedPart = failedPart(c.method, a.resp)
	if to, err := c.destination(a); err == nil && isRedirect(a.resp.StatusCode) {
		res.Info.(*Info).Location = to
	}
	body, err := newBody(c, a)
	if err != nil {
		return nil, err
	}
	if a.resp.StatusCode == http.StatusOK || a.resp.StatusCode == http.StatusPartialContent {
		if res.Lead, err = body.readLead(); err != nil {
			return nil, err
		}
	}
	res.Body = body
	if c.decodes(a.resp) {
		res.Size = -1
		if res.Body, err = c.decoded(a.resp, body); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// answer follows redirects and returns the final answer, or the error of its status. The caller
// must end the call.
func (c *call) answer() (*answer, error) {
	for {
		resp, ex, err := c.requestHop()
		if err != nil {
			return nil, err
		}
		a := &answer{resp: resp, Exchange: ex}
		if !isRedirect(resp.StatusCode) {
			return a, c.checkResponse(a)
		}
		next, err := c.follow(a)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return a, c.checkResponse(a)
		}
		discard(resp)
		c.hop = *next
	}
}

// checkResponse reports whether a response is what was requested, and sets the window of the
// requested bytes in it.
func (c *call) checkResponse(a *answer) error {
	code := a.resp.StatusCode
	switch {
	case c.ranged() && c.method == http.MethodGet && code == http.StatusPartialContent:
		return c.acceptPartial(a)
	case c.ranged() && code == http.StatusRequestedRangeNotSatisfiable && c.acceptAtEnd(a):
		return nil
	case code == http.StatusPartialContent && !c.sendsOwnRange():
		return c.acceptUnrequested(a)
	case code >= 200 && code < 300, code == http.StatusNotModified && !c.opt.IfModifiedSince.IsZero():
		if err := c.acceptWhole(a); err != nil || c.opt.AnyStatus {
			return err
		}
		if status := failedPart(c.method, a.resp); status != "" {
			return c.statusError(&http.Response{StatusCode: codeOf(status), Status: status})
		}
		return nil
	case code == http.StatusSwitchingProtocols: // what follows is neither HTTP nor a document
		return driver.Fail(c.method, c.locator, fetch.ErrProtocol, errSwitched)
	case c.opt.AnyStatus:
		a.window = window{to: -1, total: a.resp.ContentLength}
		if c.method != http.MethodHead {
			a.to = a.total
		}
		return nil
	}
	if isRedirect(code) {
		return c.moved(a)
	}
	return c.statusError(a.resp)
}

// requestHop requests the current hop. It repeats the request with a login after a 401, and without the
// Expect field after a 417.
func (c *call) requestHop() (*http.Response, *exchange.Exchange, error) {
	resp, ex, err := c.exchange(nil)
	if err == nil && resp.StatusCode == http.StatusExpectationFailed && resp.Request.Header.Get("Expect") != "" && c.upload.CanResend() {
		discard(resp)
		c.opt.Header["Expect"] = []string{}
		resp, ex, err = c.exchange(nil)
	}
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, ex, err
	}
	login, err := c.askLogin(resp)
	if err != nil {
		return nil, nil, err
	}
	if login == nil || !c.upload.CanResend() {
		return resp, ex, nil
	}
	discard(resp)
	c.login = login
	return c.exchange(nil)
}

// newCall checks a request. If method is empty, the options choose it.
func (f *Fetcher) newCall(ctx context.Context, req *fetch.Request, method fetch.Op, body io.Reader) (*call, error) {
	f.init()
	c := &call{f: f, env: driver.NewEnv(f.Env), outer: ctx, req: req, method: method}
	if err := c.readRequest(); err != nil {
		return nil, err
	}
	if method == "" {
		body = c.opt.Body
	}
	if err := ctx.Err(); err != nil {
		return nil, driver.Fail(c.method, c.locator, fetch.ErrOther, err)
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.hooks = &exchange.Hooks{To: driver.ContextTrace(ctx)}
	c.upload = newUpload(c.hooks, body)
	return c, nil
}

// readRequest copies the fields of the Request and its Options into c, and checks them.
func (c *call) readRequest() error {
	l, ok := c.req.Locator.(*locator.HTTP)
	if !ok {
		return driver.Fail(fetch.OpCheck, c.req.Locator, fetch.ErrUnsupported, errors.New("not an http or https URL"))
	}
	if err := driver.CheckOctets(l); err != nil {
		return err
	}
	l, err := normalize(l, c.req.Query)
	if err != nil {
		return driver.Fail(fetch.OpCheck, c.req.Locator, fetch.ErrBadURL, err)
	}
	c.hop = hop{locator: l, from: c.req.From}
	if l.Login != nil && l.Login.HasPassword {
		c.login = l.Login
	}
	if c.opt, err = driver.OptionsOf[Options](c.req); err != nil {
		return err
	}
	if err := c.checkOptions(); err != nil {
		return err
	}
	c.takeLead()
	return nil
}

// checkOptions refuses options that would make an invalid HTTP request.
func (c *call) checkOptions() (err error) {
	switch {
	case c.method != "":
	case c.opt.Method != "":
		c.method = fetch.Op(c.opt.Method)
	case c.opt.Body != nil:
		c.method = http.MethodPost
	default:
		c.method = http.MethodGet
	}
	if err = c.checkRange(); err != nil {
		return err
	}
	if strings.ContainsFunc(c.opt.Target, func(r rune) bool { return r <= ' ' || r == 0x7F }) {
		return driver.Fail(fetch.OpCheck, c.locator, fetch.ErrBadURL, fmt.Errorf("the request target %q contains white space or a control character", c.opt.Target))
	}
	if c.opt.Proxied != nil && !c.opt.ProxiedPassword && locator.HasPassword(c.opt.Proxied) {
		return driver.Fail(fetch.OpCheck, c.opt.Proxied, fetch.ErrRefused, errors.New("the URL's password is not sent to a proxy"))
	}
	if c.opt.Header, c.spelling, err = checkFields(c.verb(), c.opt.Header); err != nil {
		return driver.Fail(fetch.OpCheck, c.locator, fetch.ErrBadURL, err)
	}
	return nil
}

// checkRange refuses ranges that HTTP cannot express.
func (c *call) checkRange() error {
	var err error
	switch {
	case !c.ranged() && c.req.Lead == 0 || c.method == http.MethodHead:
	case c.method != http.MethodGet:
		err = fmt.Errorf("%s does not support ranges", c.method)
	case c.req.Offset == math.MinInt64 || c.req.Length < 0:
		err = errors.New("invalid offset or length")
	case c.req.Lead < 0 || c.req.Lead > max(0, c.req.Offset):
		err = errors.New("the document has no such bytes before the offset")
	}
	if err != nil {
		return driver.Fail(c.method, c.locator, fetch.ErrBadRange, err)
	}
	return nil
}

// takeLead makes the call start at the first byte of Request.Lead.
func (c *call) takeLead() {
	if c.req.Lead == 0 || c.method != http.MethodGet {
		return
	}
	req := *c.req
	c.lead, req.Lead = req.Lead, 0
	if req.Offset -= c.lead; req.Length > 0 {
		req.Length += c.lead
	}
	c.req = &req
}

var errSwitched = errors.New("the server has switched to another protocol (101), which is not supported")
