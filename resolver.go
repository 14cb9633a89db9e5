// Package fetch1738 retrieves what the URLs of RFC 1738 designate.
//
//	res, err := fetch1738.Get(ctx, "ftp://ftp.example.org/pub/README;type=a")
//	if err != nil {
//		return err
//	}
//	defer res.Close()
//	_, err = io.Copy(os.Stdout, res.Body)
//
// The text is parsed into a Locator (package locator), the Locator's scheme
// finds a Fetcher (package fetch and those below it), the Fetcher performs the
// access over the connections its Env allows (package policy), and hands back a
// Resource. A [Resolver] is that straight line with settings.
package fetch1738

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Resolver retrieves resources by URL, and is the one way to whatever else can be
// done with them. The zero value is ready: it reads URLs as people write them,
// knows the bundled schemes and applies policy.User. Its fields must not be changed
// after the first call; its methods are safe for concurrent use. Close it to end
// the sessions it keeps open between requests.
//
// The policy, the limits, the gateways and the following of referrals are the
// same for every operation.
type Resolver struct {
	// Env is what the Fetchers work in. A nil Allow is policy.User. Allow holds for
	// every Fetcher, also for one of Schemes that was made with another Env; Limits.Body
	// and Limits.Hops do, too.
	Env fetch.Env
	// Parser reads the URLs; nil tolerates [locator.TolerateUsual], and what a URL
	// needed of that is noted in the context's Trace. A pointer to the zero Parser
	// accepts RFC 1738 §5 and nothing else. A fragment is not sent to the server.
	Parser *locator.Parser
	// Schemes are own ones, and those in place of bundled ones of the same name
	// ([Builtin]).
	Schemes []Scheme
	// Gateways fetches whole schemes through a gateway (RFC 1738 §4): it maps a
	// scheme to an http URL in which "{url}" stands for the encoded URL, such as
	// "http://127.0.0.1:8118/?url={url}", or that, without "{url}", names an HTTP
	// proxy that speaks the scheme. The other operations than Fetch fail with the
	// kind ErrUnsupported there, and a URL with a login with the kind ErrRefused.
	Gateways map[string]string
	// GatewayLogins tells gateways the URLs that have a login, with the login.
	GatewayLogins bool

	once    sync.Once
	schemes map[string]served
	wrong   string // with the table; empty if nothing is

	mu   sync.Mutex
	made []fetch.Fetcher // so far
}

// Get retrieves url by a Resolver of its own with every default. Closing the
// Resource ends it.
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

// Get retrieves what url designates: it is the short form of Fetch. The caller
// closes the Resource. Errors are *[fetch.Error]s.
func (r *Resolver) Get(ctx context.Context, url string) (*fetch.Resource, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.Fetch(ctx, req)
}

// Attributes finds what is known of url besides its octets: it is the short form
// of FindAttributes.
func (r *Resolver) Attributes(ctx context.Context, url string) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.FindAttributes(ctx, req)
}

// Put stores body as what url designates: it is the short form of Replace.
func (r *Resolver) Put(ctx context.Context, url string, body io.Reader) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.Replace(ctx, req, body)
}

// Post adds body to what url designates: it is the short form of Update.
func (r *Resolver) Post(ctx context.Context, url string, body io.Reader) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.Update(ctx, req, body)
}

// Fetch performs req and follows referrals to other Locators as far as the
// policy and Limits.Hops allow. A Body beyond Limits.Body ends in an error of
// kind [fetch.ErrTooLarge].
func (r *Resolver) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := perform(ctx, r, req, fetch.OpAccess, toFetch, fetch.Fetcher.Fetch)
	if err != nil {
		return nil, err
	}
	return limited(req, res, r.Env.Limits.WithDefaults().Body)
}

// FindAttributes finds what is known besides the octets of what req asks for. It
// follows referrals as Fetch does.
func (r *Resolver) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	toLook := func(ref *fetch.Referral) bool { return ref.Op == "" || ref.Op == "HEAD" }
	return perform(ctx, r, req, fetch.OpAttributes, toLook, fetch.AttributeFinder.FindAttributes)
}

// Replace stores body in place of what req asks for. It follows a referral that
// asks for the same elsewhere if body is an io.Seeker, so that it can be read
// from its beginning again. Any other referral is an error: what was to be stored
// is never fetched, nor stored in part.
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
	return perform(ctx, r, req, fetch.OpReplace, toStore, func(f fetch.Replacer, ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
		return f.Replace(ctx, req, body)
	})
}

// Update adds body to what req asks for: FTP appends, HTTP and news post, mailto
// sends. A referral is an error: what is added twice may be there twice.
func (r *Resolver) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	never := func(*fetch.Referral) bool { return false }
	return perform(ctx, r, req, fetch.OpUpdate, never, func(f fetch.Updater, ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
		return f.Update(ctx, req, body)
	})
}

// Explain tells what Fetch would do for req, without looking up a name or
// opening a connection. Where the policy would refuse it before that, the Plan
// comes with the refusal.
func (r *Resolver) Explain(ctx context.Context, req *fetch.Request) (*fetch.Plan, error) {
	if err := fetch.CheckOctets(req.Locator); err != nil {
		return nil, err
	}
	req, f, err := find[fetch.Explainer](r, req, fetch.OpExplain)
	if err != nil {
		return nil, err
	}
	plan, err := f.Explain(req)
	if err != nil {
		return nil, err
	}
	env := fetch.Env{Allow: r.allow}
	t := fetch.Target{Locator: req.Locator, From: req.From, Network: plan.Network, Host: plan.Host, Port: plan.Port}
	if _, ok := req.Locator.(*locator.News); ok {
		t.From = fetch.Provenance{Kind: fetch.OriginConfig} // who wrote the URL has not chosen the server
	}
	if err := env.Permit(ctx, t); err != nil {
		return plan, err
	}
	if addrs := fetch.KnownAddrs(plan.Host); addrs != nil && plan.Network != "" {
		t.Addr = netip.AddrPortFrom(addrs[0].Unmap(), plan.Port)
		return plan, env.Permit(ctx, t)
	}
	return plan, nil
}

// Request reads url as Get does, for a Request that says more than a URL can.
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
		fetch.ContextTrace(ctx).Note("the URL departs from RFC 1738: " + ref.Used.String())
	}
	return &fetch.Request{Locator: ref.Locator}, nil
}

// toFetch reports whether a referral is to something that is to be fetched.
func toFetch(ref *fetch.Referral) bool { return ref.Op == "" }

// perform does an operation, op, by the Fetcher for it, and elsewhere where that
// one refers to, if it follows such a referral.
func perform[T, R any](ctx context.Context, r *Resolver, req *fetch.Request, op fetch.Op, follows func(*fetch.Referral) bool,
	do func(T, context.Context, *fetch.Request) (*R, error)) (*R, error) {
	limit := r.Env.Limits.WithDefaults().Hops
	ctx = fetch.WithAllow(ctx, r.allow)
	for hops := 0; ; hops++ {
		asked, f, err := find[T](r, req, op)
		if err != nil {
			return nil, err
		}
		result, err := do(f, ctx, asked)
		var ref *fetch.Referral
		switch {
		case err == nil:
			return result, nil
		case !errors.As(err, &ref) || !follows(ref):
			return nil, err
		case hops == limit:
			return nil, &fetch.Error{Op: fetch.OpFollow, URL: ref.To.Redacted(), Kind: fetch.ErrTooManyHops, Err: fmt.Errorf("after %d referrals", hops)}
		}
		fetch.ContextTrace(ctx).Note("referred to " + ref.To.Redacted())
		req = referred(req, ref)
	}
}

// find finds the Fetcher that has the operation T for req, and what it is to be
// asked: a gateway is asked for something else, and has no operation but access.
func find[T any](r *Resolver, req *fetch.Request, op fetch.Op) (*fetch.Request, T, error) {
	var able T
	if template, ok := r.gateway(req.Locator.Scheme()); ok {
		through, err := r.throughGateway(req, template, op)
		if err != nil {
			return nil, able, err
		}
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
	return nil, able, fetch.Fail(op, req.Locator, fetch.ErrUnsupported, err)
}

// referred is the request that a referral asks for. The policy judges it by
// where it comes from; options of another scheme do not apply to it.
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

type closeBoth struct {
	io.ReadCloser
	also io.Closer
}

func (c closeBoth) Close() error {
	return errors.Join(c.ReadCloser.Close(), c.also.Close())
}

// WriteTo keeps the body's own way to write itself.
func (c closeBoth) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, c.ReadCloser) }
