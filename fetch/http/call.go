package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// call is one operation of a Fetcher, including the redirects it follows, the logins it asks for
// and the requests it repeats.
type call struct {
	f      *Fetcher
	env    fetch.Env // with defaults
	outer  context.Context
	ctx    context.Context // ends with the call, too
	cancel context.CancelCauseFunc
	hooks  *hooks

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
}

// hop is one URL that a call requests.
type hop struct {
	locator *locator.HTTP
	from    fetch.Provenance
}

// newCall checks a request. If method is empty, the options choose it.
func (f *Fetcher) newCall(ctx context.Context, req *fetch.Request, method fetch.Op, body io.Reader) (*call, error) {
	f.init()
	c := &call{f: f, env: f.Env.WithDefaults(), outer: ctx, req: req, method: method}
	if err := c.readRequest(); err != nil {
		return nil, err
	}
	if method == "" {
		body = c.opt.Body
	}
	if err := ctx.Err(); err != nil {
		return nil, fetch.Fail(c.method, c.locator, fetch.ErrOther, err)
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.hooks = &hooks{to: fetch.ContextTrace(ctx)}
	c.upload = newUpload(c.ctx, c.hooks, body)
	return c, nil
}

// readRequest copies the fields of the Request and its Options into c, and checks them.
func (c *call) readRequest() error {
	l, ok := c.req.Locator.(*locator.HTTP)
	if !ok {
		return fetch.Fail(fetch.OpCheck, c.req.Locator, fetch.ErrUnsupported, errors.New("not an http or https URL"))
	}
	if err := fetch.CheckOctets(l); err != nil {
		return err
	}
	l, err := normalize(l, c.req.Query)
	if err != nil {
		return fetch.Fail(fetch.OpCheck, c.req.Locator, fetch.ErrBadURL, err)
	}
	c.hop = hop{locator: l, from: c.req.From}
	if l.Login != nil && l.Login.HasPassword {
		c.login = l.Login
	}
	if c.opt, err = fetch.OptionsOf[Options](c.req); err != nil {
		return err
	}
	if err := c.checkOptions(); err != nil {
		return err
	}
	c.takeLead()
	return nil
}

// normalize returns l with an ASCII host, and with query as its search if l has none.
func normalize(l *locator.HTTP, query string) (*locator.HTTP, error) {
	host, err := asciiHost(l.Host)
	if err != nil {
		return nil, err
	}
	if host == l.Host && (query == "" || l.HasSearch) {
		return l, nil
	}
	n := *l
	n.Host = host
	if query != "" && !l.HasSearch {
		n.HasSearch, n.Search = true, url.QueryEscape(query)
	}
	return &n, nil
}

// end ends the call. No data may follow.
func (c *call) end(err error) {
	c.cancel(err)
	c.upload.stop()
	c.hooks.end()
}

// fail returns the *fetch.Error of a failed exchange. The reason why the call was canceled takes
// precedence over the transport's error.
func (c *call) fail(err error) *fetch.Error {
	var known *fetch.Error
	if outer := c.outer.Err(); outer != nil {
		return fetch.Fail(c.method, c.locator, fetch.KindOf(outer), outer)
	}
	if errors.As(context.Cause(c.ctx), &known) {
		return fetch.Fail(c.method, c.locator, known.Kind, known)
	}
	if local := c.upload.failure(); local != nil {
		return fetch.Fail(c.method, c.locator, fetch.ErrLocalIO, local)
	}
	if errors.As(err, &known) {
		return fetch.Fail(c.method, c.locator, known.Kind, known)
	}
	var wrapper *url.Error
	if errors.As(err, &wrapper) {
		err = wrapper.Err // its URL would only repeat the call's locator
	}
	if err != nil && strings.HasSuffix(err.Error(), "timeout awaiting response headers") {
		err = &wire.TimeoutError{Limit: c.env.Limits.Reply, Awaited: "no response", Err: err}
	}
	return fetch.Fail(c.method, c.locator, kindOf(err), err)
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
			Validator: validator(a.resp), Head: a.head, Redirects: c.redirects, AtEnd: a.atEnd,
		},
		Peer: a.peer, TLS: wire.TLSState(a.current().Conn),
	}
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
		resp, ex, err := c.visit()
		if err != nil {
			return nil, err
		}
		a := &answer{resp: resp, exchange: ex}
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
		c.discard(resp)
		c.hop = *next
	}
}

// visit requests the current hop. It repeats the request with a login after a 401, and without the
// Expect field after a 417.
func (c *call) visit() (*http.Response, *exchange, error) {
	resp, ex, err := c.exchange(nil)
	if err == nil && resp.StatusCode == http.StatusExpectationFailed && resp.Request.Header.Get("Expect") != "" && c.upload.canResend() {
		c.discard(resp)
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
	if login == nil || !c.upload.canResend() {
		return resp, ex, nil
	}
	c.discard(resp)
	c.login = login
	return c.exchange(nil)
}

// exchange sends one request to the current hop, repeated as the retry policy permits, and returns
// the response. If resumed is not nil, it requests only the rest of a body.
func (c *call) exchange(resumed *rest) (*http.Response, *exchange, error) {
	ex := &exchange{call: c, hop: c.hop, proxy: c.proxy()}
	r, err := c.request(ex, resumed)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.send(r, resumed == nil)
	if err != nil {
		return nil, nil, ex.explainHead(c.fail(err))
	}
	ex.finish(resp)
	if !startsAsHTTP(ex.head) { // net/http accepts other versions
		resp.Body.Close()
		return nil, nil, fetch.Fail(c.method, c.locator, fetch.ErrProtocol, fmt.Errorf("%w: unsupported version %s", ErrNotHTTP, resp.Proto))
	}
	return resp, ex, nil
}

// discard reads the short body of an intermediate response, so that its connection can be reused,
// or else drops the connection.
func (c *call) discard(resp *http.Response) {
	const most = 16 << 10
	if resp.ContentLength <= most {
		stop := time.AfterFunc(time.Second, func() { resp.Body.Close() })
		_, _ = io.CopyN(io.Discard, resp.Body, most) // on failure, the connection is dropped
		stop.Stop()
	}
	resp.Body.Close()
}
