// Package fetch1738 fetches the URLs of RFC 1738: ftp, http, gopher, news, nntp, wais, telnet,
// mailto, file and prospero, and the schemes for the same protocols over TLS.
//
// # Overview
//
// A [Resolver] fetches them all. It parses a URL, selects the Fetcher of its scheme, which connects
// where the policy allows it, and returns a [fetch.Resource]. Set its fields for logins, proxies,
// limits, another policy, or a scheme of your own (fetch/driver); the zero value is ready to use.
//
// # Usage
//
//	res, err := fetch1738.Get(ctx, "ftp://ftp.example.org/pub/README")
//	if err != nil {
//		return err // a *fetch.Error; errors.Is(err, fs.ErrNotExist)
//	}
//	defer res.Close()
//	_, err = io.Copy(os.Stdout, res.Body) // a truncated body is an error
//
// [Get] uses a Resolver with every default. Get, Put, Post and Stat of a Resolver of your own keep
// connections between requests. Packages that use one:
//
//   - remotefs: a directory of a server as an fs.FS, and Walk
//   - transport: an http.RoundTripper, for the URLs of all schemes in an http.Client
//   - download: files that resume, and a document as an io.ReaderAt
//   - mirror, archive, crawl, gateway: copies of trees, WARC files, crawls, pages for browsers
//   - adapters: modules for go-getter, afero and gocloud.dev
//
// The library reads no environment variables, except by [proxy.FromEnvironment].
package fetch1738

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// Resolver fetches, stores and examines resources by URL. The zero value is ready to use: it
// accepts URLs as people write them, supports the bundled schemes and applies [policy.User]. The
// fields must not be changed after the first call. The methods are safe for concurrent use. Close
// ends the sessions that the Resolver keeps between requests.
//
// The policy, the limits, the gateways and the rules for referrals are the same for every
// operation.
type Resolver struct {
	// Env has the settings of all Fetchers: how they connect, what they may reach, logins and
	// limits. If Env.Allow is nil, it is policy.User. Allow, Limits.Body and Limits.Hops apply to
	// every Fetcher, even to one in Schemes that uses another Env.
	Env fetch.Env
	// Parser parses the URLs. If nil, it tolerates [locator.TolerateUsual]. The zero Parser accepts
	// RFC 1738 §5 and nothing else. The departures that a URL needed are reported to the Note hook
	// of the context's Trace. A fragment is not sent to the server.
	Parser *locator.Parser
	// Schemes adds schemes, or replaces bundled ones of the same name ([Builtin]).
	Schemes []Scheme
	// Gateways maps a scheme to the gateway that fetches its URLs (RFC 1738 §4). The value is an
	// http URL in which "{url}" is replaced by the encoded URL, such as
	// "http://127.0.0.1:8118/?url={url}". Without "{url}" it is the URL of an HTTP proxy that
	// supports the scheme. Operations other than Fetch fail with kind ErrUnsupported, and a URL
	// with a login fails with kind ErrRefused.
	Gateways map[string]string
	// GatewayLogins allows URLs with a login to be sent to gateways, with the login.
	GatewayLogins bool
	// Proxy returns the proxy for the connections of a scheme to a host, or nil to connect without
	// one. An error fails the operation. If Proxy is nil, there is no proxy.
	// [proxy.FromEnvironment] follows http_proxy and the like.
	//
	// All connections go through the proxy, with CONNECT if it is an HTTP proxy, except those over
	// UDP (prospero). An HTTP proxy receives requests for http URLs itself. It also receives the
	// ftp URLs, without TLS, as a gateway does (Gateways): Fetch and FindAttributes only, and
	// directories are documents of the proxy, without Items.
	Proxy func(scheme, host string) (*proxy.Proxy, error)
	// MaxTransfers and MaxTransfersPerHost limit how many operations run at once, in all and with
	// one host. Further ones wait, in the order of their calls, until the context ends. An
	// operation runs until its error, or until its Body is read to the end or closed; one that
	// returned Items no longer counts when the first is yielded, unless Request.Stream is set. If
	// 0, there is no limit.
	MaxTransfers, MaxTransfersPerHost int
	// Recorder, if not nil, is called in place of the Fetcher for each access: once more for each
	// referral that is followed. It calls next, and returns what that returns, perhaps with another
	// Body. Record of an archive.Recorder keeps what servers send in WARC files. It is called
	// concurrently.
	Recorder func(ctx context.Context, req *fetch.Request, next FetchFunc) (*fetch.Resource, error)

	once    sync.Once
	schemes map[string]served
	policy  *driver.Policy
	shared  *fetch.Env // the Fetchers of the table receive a copy
	wrong   string     // why the table is invalid; empty if it is valid

	mu      sync.Mutex
	created []driver.Fetcher // for Close

	slots slots
}

// A FetchFunc performs one access, as Fetch of a [driver.Fetcher] does.
type FetchFunc = func(ctx context.Context, req *fetch.Request) (*fetch.Resource, error)

// Get fetches url with a new Resolver that has every default. The caller must close the Resource,
// which also closes the Resolver. The error is a *[fetch.Error].
func Get(ctx context.Context, url string) (*fetch.Resource, error) {
	r := new(Resolver)
	res, err := r.Get(ctx, url)
	if err != nil {
		r.Close()
		return nil, err
	}
	res.Body = closeBoth{res.Body, r}
	return res, nil
}

// Get fetches url. It is the short form of Fetch. The caller must close the Resource. The error is
// a *[fetch.Error].
func (r *Resolver) Get(ctx context.Context, url string) (*fetch.Resource, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.Fetch(ctx, req)
}

// Put stores body at url. It is the short form of Replace.
func (r *Resolver) Put(ctx context.Context, url string, body io.Reader) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.Replace(ctx, req, body)
}

// Post appends or posts body to url. It is the short form of Update.
func (r *Resolver) Post(ctx context.Context, url string, body io.Reader) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.Update(ctx, req, body)
}

// Fetch performs req and follows referrals to other Locators, as far as the policy and Limits.Hops
// allow. A Body that exceeds Limits.Body ends in an error of kind [fetch.ErrTooLarge]. The caller
// must close the Resource. The error is a *[fetch.Error].
func (r *Resolver) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	access := driver.Fetcher.Fetch
	if r.Recorder != nil {
		access = func(f driver.Fetcher, ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
			return r.Recorder(ctx, req, f.Fetch)
		}
	}
	res, err := perform(ctx, r, req, operation[driver.Fetcher, fetch.Resource]{op: fetch.OpAccess, follows: toFetch, do: access})
	if err != nil {
		return nil, err
	}
	return limited(req, res, r.Env.Limits.WithDefaults().Body)
}

// FindAttributes returns the attributes of the resource that req designates, without its body. It
// follows referrals as Fetch does.
func (r *Resolver) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	return perform(ctx, r, req, operation[driver.AttributeFinder, fetch.Attributes]{
		op:      fetch.OpAttributes,
		follows: func(ref *fetch.Referral) bool { return ref.Op == "" || ref.Op == "HEAD" },
		do:      driver.AttributeFinder.FindAttributes,
	})
}

// Replace stores body as the resource that req designates. It follows a referral to store body
// elsewhere if body is an io.Seeker, so that it can be read again from where it started. Any other
// referral is an error: Replace never fetches, and never stores part of body.
func (r *Resolver) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	start := int64(-1)
	seeker, ok := body.(io.Seeker)
	if ok {
		if at, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			start = at
		}
	}
	toStore := func(ref *fetch.Referral) bool {
		if ref.Op != "PUT" || start < 0 || r.Env.Limits.WithDefaults().Hops == 0 {
			return false
		}
		_, err := seeker.Seek(start, io.SeekStart)
		return err == nil
	}
	return perform(ctx, r, req, operation[driver.Replacer, fetch.Attributes]{
		op: fetch.OpReplace, follows: toStore, body: body,
		do: func(f driver.Replacer, ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
			return f.Replace(ctx, req, body)
		},
	})
}

// Update adds body to the resource that req designates: FTP appends, HTTP and news post, mailto
// sends. A referral is an error, because repeating the update might add body twice.
func (r *Resolver) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return perform(ctx, r, req, operation[driver.Updater, fetch.Attributes]{
		op: fetch.OpUpdate, follows: never, body: body,
		do: func(f driver.Updater, ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
			return f.Update(ctx, req, body)
		},
	})
}

// Edit performs edits in the directory that req designates, such as renaming and deleting files;
// see [driver.Editor]. A referral is an error.
func (r *Resolver) Edit(ctx context.Context, req *fetch.Request, edits []fetch.Edit) error {
	_, err := perform(ctx, r, req, operation[driver.Editor, struct{}]{
		op: fetch.OpEdit, follows: never,
		do: func(f driver.Editor, ctx context.Context, req *fetch.Request) (*struct{}, error) {
			return nil, f.Edit(ctx, req, edits)
		},
	})
	return err
}

// Explain returns what Fetch would do for req. It looks up no name and opens no connection. If the
// policy refuses req, Explain returns both the Explanation and the error.
func (r *Resolver) Explain(ctx context.Context, req *fetch.Request) (*fetch.Explanation, error) {
	if err := driver.CheckOctets(req.Locator); err != nil {
		return nil, err
	}
	req, f, err := find[driver.Explainer](ctx, r, req, fetch.OpExplain)
	if err != nil {
		return nil, err
	}
	e, err := f.Explain(req)
	if err != nil {
		return nil, err
	}
	env := r.env()
	t := fetch.Target{Locator: req.Locator, From: req.From, Network: e.Network, Host: e.Host, Port: e.Port}
	if _, ok := req.Locator.(*locator.News); ok {
		t.From = fetch.Provenance{Kind: fetch.OriginConfig} // the URL does not name the server
	}
	if err := env.Permit(ctx, t); err != nil {
		return e, err
	}
	if addrs := driver.KnownAddrs(e.Host); addrs != nil && e.Network != "" {
		t.Addr = netip.AddrPortFrom(addrs[0].Unmap(), e.Port)
		return e, env.Permit(ctx, t)
	}
	return e, nil
}

// Request parses url as Get does and returns a Request for it. Set its fields to request more than
// a URL can express, such as part of a document.
func (r *Resolver) Request(ctx context.Context, url string) (*fetch.Request, error) {
	parser := locator.Parser{Tolerate: locator.TolerateUsual}
	if r.Parser != nil {
		parser = *r.Parser
	}
	ref, err := parser.Parse(url)
	if err != nil {
		return nil, &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Err: err}
	}
	if ref.Used != 0 {
		driver.ContextTrace(ctx).Note("the URL departs from RFC 1738: " + ref.Used.String())
	}
	return &fetch.Request{Locator: ref.Locator}, nil
}

// An operation is one of RFC 1738 §2, or Edit, with a Fetcher that implements T.
type operation[T, R any] struct {
	op      fetch.Op
	do      func(T, context.Context, *fetch.Request) (*R, error)
	follows func(*fetch.Referral) bool // whether the operation is repeated where a referral leads
	body    io.Reader                  // what it sends; nil for other operations
}

// toFetch reports whether a referral is to a resource to fetch.
func toFetch(ref *fetch.Referral) bool { return ref.Op == "" }

// never follows no referral.
func never(*fetch.Referral) bool { return false }

// perform performs o with the Fetcher for req. The policy of r applies to every Fetcher, even to one
// that connects with an Env of its own.
func perform[T, R any](ctx context.Context, r *Resolver, req *fetch.Request, o operation[T, R]) (*R, error) {
	limit := r.Env.Limits.WithDefaults().Hops
	ctx = r.withPolicy(ctx)
	for hops := 0; ; hops++ {
		asked, f, err := find[T](ctx, r, req, o.op)
		if err != nil {
			return nil, err
		}
		release, err := r.slot(ctx, o.op, asked)
		if err != nil {
			return nil, err
		}
		m := newMeter(ctx, o.op, asked, o.body)
		result, err := o.do(f, m.watch(ctx), asked)
		if res, ok := any(result).(*fetch.Resource); ok && err == nil {
			m.expect(asked, res)
			end := m.ended()
			if leave := release; asked.Stream && leave != nil { // the loop over Items uses the connection
				after := end
				release, end = nil, func() { leave(); call(after) }
			}
			atEnd(res, release, end)
		} else {
			call(release)
			m.finish(err)
		}
		var ref *fetch.Referral
		switch {
		case err == nil:
			return result, nil
		case !errors.As(err, &ref) || !o.follows(ref):
			return nil, err
		case hops == limit:
			return nil, &fetch.Error{Op: fetch.OpFollow, URL: ref.To.Redacted(), Kind: fetch.ErrTooManyHops, Err: fmt.Errorf("after %d referrals", hops)}
		}
		driver.ContextTrace(ctx).Note("referred to " + ref.To.Redacted())
		req = referred(req, ref)
	}
}

// find returns the Fetcher with the operation T for req, and the request to pass to it, whose host is
// in ASCII. Through a gateway that is another request, and only access is supported.
func find[T any](ctx context.Context, r *Resolver, req *fetch.Request, op fetch.Op) (*fetch.Request, T, error) {
	var able T
	if l, err := idn.Locator(req.Locator); err != nil {
		return nil, able, driver.Fail(op, req.Locator, fetch.ErrBadURL, err)
	} else if l != req.Locator {
		ascii := *req
		ascii.Locator, req = l, &ascii
	}
	if template, ok := r.gateway(req.Locator.Scheme()); ok {
		through, err := r.throughGateway(req, template, op)
		if err != nil {
			return nil, able, err
		}
		req = through
	} else if through, err := r.throughProxy(ctx, req, op); err != nil {
		return nil, able, err
	} else if through != nil {
		req = through
	}
	scheme := req.Locator.Scheme()
	f := r.fetcher(scheme)
	able, ok := f.(T)
	if ok {
		return req, able, nil
	}
	err := fmt.Errorf("%s of %s resources", op, scheme)
	if f == nil {
		err = fmt.Errorf("the scheme %q", scheme)
	}
	return nil, able, driver.Fail(op, req.Locator, fetch.ErrUnsupported, err)
}

// referred returns the request that follows a referral. Its provenance is that of a link at least,
// for the policy. Options of another scheme do not apply to it.
func referred(req *fetch.Request, ref *fetch.Referral) *fetch.Request {
	next := *req
	next.Locator, next.From = ref.To, ref.From
	if next.From.Kind == fetch.OriginUser || next.From.Kind == fetch.OriginConfig {
		next.From = fetch.Provenance{Kind: fetch.OriginRemote, By: req.Locator}
	}
	if ref.To.Scheme() != req.Locator.Scheme() {
		next.Options = nil
	}
	return &next
}
