// Package transport fetches the URLs of RFC 1738 in an [http.Client]: a [Transport] is an
// http.RoundTripper on a fetch1738.Resolver.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// Transport is an [http.RoundTripper] for ftp, ftps, gopher, gophers, news, snews, nntp, nntps,
// wais and prospero URLs, and for the Resolver's own Schemes. It serves a whole [http.Client] as
// its Transport, or one scheme of an [http.Transport]:
//
//	t := &http.Transport{}
//	t.RegisterProtocol("ftp", &transport.Transport{})
//
// GET fetches, HEAD finds attributes, PUT replaces and POST updates. A response has the header
// fields Content-Type, Content-Length, Last-Modified and ETag as far as the server says what they
// need. The field Range, with one range at most, and the conditions of a GET or HEAD, such as
// If-Range and If-None-Match, work as HTTP defines them (RFC 9110 §13, §14). A part of a document
// in FTP's type A cannot be requested.
//
// An error is a *[url.Error] around a *[fetch.Error]; see Statuses. The response body ends in an
// error if the transfer is truncated. Cancelling the request's context ends the connection, its
// commands and the body. The hooks of package httptrace are called; those for TLS, for 1xx
// responses and for waiting on "100 Continue" are not.
//
// A request that follows a redirect is judged by the Resolver's policy as one from that server:
// [policy.User] refuses it unless [policy.Rules] has RedirectToFTP. One to a file or news URL is
// always refused, and so is a POST. The fields Authorization, Cookie and Referer never reach
// another scheme, except that basic authentication that the caller sets for a URL without a login
// is its login.
//
// The zero value is ready to use. Its fields must not be changed after the first request. It is
// safe for concurrent use.
type Transport struct {
	// Resolver performs the accesses. If nil, the Transport uses one of its own with every default.
	Resolver *fetch1738.Resolver
	// Base performs the requests for http and https. If nil, it is [http.DefaultTransport].
	Base http.RoundTripper
	// Files permits file URLs, except where a redirect leads to one.
	Files bool
	// Statuses returns a response with a status of 400 or above in place of an error, as an HTTP
	// gateway would: 404 for ErrNotFound, 403 for ErrPermission and ErrRefused, 401 for
	// ErrUnauthenticated, 504 for ErrTimeout, 502 for a server that cannot be reached or breaks its
	// protocol. Its body is the error in one line of text. A request whose context has ended is
	// always an error, and so is every error of Base.
	Statuses bool

	own fetch1738.Resolver
}

// baseKey is the context key that marks a request on its way through Base.
type baseKey struct{}

// RoundTrip implements [http.RoundTripper]. It returns [http.ErrSkipAltProtocol] for http and https
// when the Transport is registered for these schemes with its own Base.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL == nil {
		closeBody(req)
		return nil, errors.New("fetch1738: the request has no URL")
	}
	switch req.URL.Scheme {
	case "http", "https":
		return t.roundTripBase(req)
	}
	res, err := t.roundTrip(req)
	if err != nil && t.Statuses && req.Context().Err() == nil && fetch.KindOf(err) != fetch.ErrCanceled {
		return failure(req, err), nil
	}
	return res, err
}

// CloseIdleConnections closes the sessions that are kept for further requests, and those of Base.
// [http.Client.CloseIdleConnections] calls it.
func (t *Transport) CloseIdleConnections() {
	_ = t.resolver().Close()
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// resolver returns Resolver, or that of the Transport.
func (t *Transport) resolver() *fetch1738.Resolver {
	if t.Resolver != nil {
		return t.Resolver
	}
	return &t.own
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// roundTripBase passes a request to Base. It keeps the server's address with a redirect, because
// the policy lets no redirect lead closer to this computer than where it came from.
func (t *Transport) roundTripBase(req *http.Request) (*http.Response, error) {
	if req.Context().Value(baseKey{}) != nil {
		return nil, http.ErrSkipAltProtocol
	}
	var mu sync.Mutex
	var peer netip.Addr
	ctx := context.WithValue(req.Context(), baseKey{}, true)
	if direct(t.base(), req) {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			mu.Lock()
			defer mu.Unlock()
			peer = driver.AddrPort(info.Conn.RemoteAddr()).Addr()
		}})
	}
	res, err := t.base().RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	res.Request = req
	if res.StatusCode/100 == 3 && res.Header.Get("Location") != "" {
		mu.Lock()
		defer mu.Unlock()
		res.Body = redirectBody{res.Body, peer}
	}
	return res, nil
}

// direct reports whether base connects to the server itself. The address of a proxy would say
// nothing about the server's.
func direct(base http.RoundTripper, req *http.Request) bool {
	t, ok := base.(*http.Transport)
	if !ok || t.Proxy == nil {
		return ok
	}
	proxy, err := t.Proxy(req)
	return proxy == nil && err == nil
}

// A redirectBody is the body of a redirect, with the address of the server that sent it.
type redirectBody struct {
	io.ReadCloser
	peer netip.Addr
}

// provenance says who wrote the URL of a request: the caller, or the server that redirected to it.
func provenance(req *http.Request) fetch.Provenance {
	if req.Response == nil {
		return fetch.Provenance{}
	}
	from := fetch.Provenance{Kind: fetch.OriginRedirect}
	if body, ok := req.Response.Body.(redirectBody); ok {
		from.Peer = body.peer
	}
	if by := req.Response.Request; by != nil && by.URL != nil {
		parser := locator.Parser{Tolerate: locator.TolerateUsual}
		if ref, err := parser.Parse(idn.URL(by.URL.String())); err == nil {
			from.By = ref.Locator
		}
	}
	return from
}

// roundTrip performs a request that is not for Base.
func (t *Transport) roundTrip(req *http.Request) (*http.Response, error) {
	ctx := traced(req)
	asked, err := t.request(ctx, req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	switch req.Method {
	case "", http.MethodGet:
		closeBody(req)
		return t.get(ctx, req, asked)
	case http.MethodHead:
		closeBody(req)
		return t.head(ctx, req, asked)
	case http.MethodPut, http.MethodPost:
		if req.Method == http.MethodPost && req.Response != nil { // as Resolver.Update
			closeBody(req)
			return nil, driver.Fail(fetch.OpFollow, asked.Locator, fetch.ErrRefused, errors.New("a redirect does not add a body to another document"))
		}
		return t.store(ctx, req, asked)
	}
	closeBody(req)
	return nil, driver.Fail(fetch.Op(req.Method), asked.Locator, fetch.ErrUnsupported, fmt.Errorf("the method %s of %s URLs", req.Method, asked.Locator.Scheme()))
}

// request reads the URL of a request.
func (t *Transport) request(ctx context.Context, req *http.Request) (*fetch.Request, error) {
	asked, err := t.resolver().Request(ctx, idn.URL(req.URL.String()))
	if err != nil {
		return nil, err
	}
	asked.From = provenance(req)
	switch asked.Locator.(type) {
	case *locator.File:
		switch {
		case req.Response != nil:
			return nil, driver.Fail(fetch.OpFollow, asked.Locator, fetch.ErrRefused, errors.New("a redirect leads to a local file"))
		case !t.Files:
			return nil, driver.Fail(fetch.OpAccess, asked.Locator, fetch.ErrRefused, errors.New("file URLs are not permitted; set Transport.Files"))
		}
	case *locator.News:
		// The policy is asked about the server, which is the user's own choice and not the redirect's.
		if req.Response != nil {
			return nil, driver.Fail(fetch.OpFollow, asked.Locator, fetch.ErrRefused, errors.New("a redirect leads to the configured news server"))
		}
	case *locator.Telnet, *locator.Mailto:
		return nil, driver.Fail(fetch.OpAccess, asked.Locator, fetch.ErrUnsupported, errors.New("not a document"))
	case *locator.FTP:
		asked.Options = &ftp.Options{ModTime: true, EndAtSize: true}
	}
	if user, password, ok := req.BasicAuth(); ok && req.Response == nil && !hasLogin(asked.Locator) {
		login := &locator.Login{User: user, Password: password, HasPassword: true}
		switch with, ok := locator.WithLogin(asked.Locator, login); asked.Locator.(type) {
		case *locator.News, *locator.NNTP: // their URLs have none
			asked.Options = &nntp.Options{Login: login}
		default:
			if ok {
				asked.Locator = with
			}
		}
	}
	return asked, nil
}

// get fetches a document or listing, or the part of it that the request asks for.
func (t *Transport) get(ctx context.Context, req *http.Request, asked *fetch.Request) (*http.Response, error) {
	first, length, partial := parseRange(req.Header)
	if partial && hasParts(asked.Locator) {
		part := *asked
		part.Offset, part.Length = first, length
		res, err := t.resolver().Fetch(ctx, &part)
		switch kind := fetch.KindOf(err); {
		case err == nil && res.Kind == fetch.KindDocument && first < res.Size && res.Size > 0 && unchanged(req.Header.Get("If-Range"), &res.Attributes):
			return t.answer(req, asked, res, first, length, true)
		case err == nil:
			_ = res.Close()
			if r := outside(req, first, &res.Attributes); r != nil {
				return r, nil
			}
		case kind == fetch.ErrBadRange:
			if a, err := t.resolver().FindAttributes(ctx, asked); err == nil {
				if r := outside(req, first, a); r != nil {
					return r, nil
				}
			}
		case kind != fetch.ErrUnsupported:
			return nil, err
		}
		// The answer is the whole document.
	}
	if options, ok := asked.Options.(*ftp.Options); ok && req.Header.Get("If-None-Match")+req.Header.Get("If-Match")+req.Header.Get("If-Unmodified-Since") == "" {
		if since, ok := date(req.Header, "If-Modified-Since"); ok {
			options.Wanted = func(a fetch.Attributes) bool { return a.ModTime.IsZero() || a.ModTime.After(since) }
		}
	}
	res, err := t.resolver().Fetch(ctx, asked)
	if err != nil {
		return nil, err
	}
	return t.answer(req, asked, res, 0, 0, false)
}

// answer is the response to a request that found res, the whole of it or the part from first.
func (t *Transport) answer(req *http.Request, asked *fetch.Request, res *fetch.Resource, first, length int64, partial bool) (*http.Response, error) {
	if res.Kind == fetch.KindQuery || res.Kind == fetch.KindAdvice || res.Kind == fetch.KindInteractive {
		_, err := driver.WithoutOctets(res.Locator, res.Kind).Read(nil)
		_ = res.Close()
		return nil, err
	}
	info, _ := res.Info.(*ftp.Info)
	status := condition(req.Header, &res.Attributes)
	if info != nil && info.Unwanted {
		status = http.StatusNotModified
	}
	if status != 0 {
		_ = res.Close()
		return conditional(req, status, &res.Attributes), nil
	}
	res.MediaType = mediaType(asked.Locator, res.MediaType, res.Kind)
	r := response(req, http.StatusOK, &res.Attributes, res.Kind == fetch.KindDocument)
	if !locator.Equal(asked.Locator, res.Locator) {
		r.Header.Set("Content-Location", res.Locator.Redacted())
	}
	if partial {
		last := res.Size - 1
		if first < 0 {
			first = max(0, res.Size+first)
		}
		if length > 0 {
			last = min(last, first+length-1)
		}
		r.StatusCode, r.Status = http.StatusPartialContent, "206 Partial Content"
		r.ContentLength = last - first + 1
		r.Header.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
		r.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, res.Size))
	}
	r.Body = res.Body
	switch asked.Locator.(type) {
	case *locator.FTP, *locator.File: // they end at the size that was announced
	default:
		if r.ContentLength >= 0 {
			r.Body = &boundedBody{res.Body, r.ContentLength, res.Locator}
		}
	}
	return r, nil
}

// head finds attributes, by a fetch whose body is not read where the scheme or the server has no
// other way.
func (t *Transport) head(ctx context.Context, req *http.Request, asked *fetch.Request) (*http.Response, error) {
	if options, ok := asked.Options.(*ftp.Options); ok {
		options.Ranges = true
	}
	attributes, err := t.resolver().FindAttributes(ctx, asked)
	switch kind := fetch.KindOf(err); {
	case err != nil && (kind == fetch.ErrUnsupported || kind == fetch.ErrProtocol), err == nil && mayBeListing(asked.Locator, attributes):
		res, err := t.get(ctx, req, asked)
		if err == nil {
			_ = res.Body.Close()
			res.Body = http.NoBody
		}
		return res, err
	case err != nil:
		return nil, err
	}
	if !hasParts(asked.Locator) {
		attributes.Size = -1 // it is not that of the body of a GET
	}
	if status := condition(req.Header, attributes); status != 0 {
		return conditional(req, status, attributes), nil
	}
	attributes.MediaType = mediaType(asked.Locator, attributes.MediaType, fetch.KindDocument)
	r := response(req, http.StatusOK, attributes, true)
	if _, ok := asked.Locator.(*locator.FTP); ok && !slices.ContainsFunc(attributes.Header, func(f fetch.Field) bool { return f.Name == ftp.HeaderAcceptRanges }) {
		delete(r.Header, "Accept-Ranges")
	}
	return r, nil
}

// mayBeListing reports whether neither l nor its attributes show that it is a document. A listing has
// another type and length than they say.
func mayBeListing(l locator.Locator, a *fetch.Attributes) bool {
	switch l.(type) {
	case *locator.File, *locator.Gopher, *locator.Prospero:
		return a.MediaType == ""
	}
	return false
}

// conditions are the header fields under which a document must not be stored. No scheme but HTTP
// can do that in one step, and what was ignored could overwrite a file.
var conditions = [...]string{"Content-Range", "If-Match", "If-None-Match", "If-Unmodified-Since"}

// store replaces a document (PUT) or adds to it (POST).
func (t *Transport) store(ctx context.Context, req *http.Request, asked *fetch.Request) (*http.Response, error) {
	defer closeBody(req)
	for _, name := range conditions {
		if req.Header.Get(name) != "" {
			return nil, driver.Fail(fetch.Op(req.Method), asked.Locator, fetch.ErrUnsupported, fmt.Errorf("the header field %s with %s URLs", name, asked.Locator.Scheme()))
		}
	}
	body := io.Reader(http.NoBody)
	if req.Body != nil {
		body = req.Body
	}
	if req.ContentLength > 0 {
		body = &declaredBody{body, req.ContentLength}
	}
	store := t.resolver().Replace
	if req.Method == http.MethodPost {
		store = t.resolver().Update
	}
	if options, ok := asked.Options.(*ftp.Options); ok {
		options.ModTime = false
	}
	if _, err := store(ctx, asked, body); err != nil {
		return nil, err
	}
	return response(req, http.StatusNoContent, &fetch.Attributes{Size: -1}, false), nil
}

// A declaredBody is the body of a request, which must have the length that the request declares.
// Otherwise what is stored could be a part of it.
type declaredBody struct {
	io.Reader
	left int64
}

func (b *declaredBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return 0, errors.New("the body is longer than the ContentLength of the request")
	case err == io.EOF && b.left > 0:
		return n, fmt.Errorf("the body is %d bytes shorter than the ContentLength of the request", b.left)
	}
	return n, err
}

// hasLogin reports whether a URL contains a login. In a URL of a scheme without a grammar, anything
// that may be a login counts.
func hasLogin(l locator.Locator) bool {
	server, _ := locator.ServerOf(l)
	return server.Login != nil || locator.HasPassword(l)
}
