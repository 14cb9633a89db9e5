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
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// Resolver retrieves resources by URL. The zero value is ready: it parses
// strictly, knows the bundled schemes and applies policy.User. Its fields must
// not be changed after the first call; its methods are safe for concurrent use.
// Close it to end the sessions it keeps open between requests.
type Resolver struct {
	// Env is what the bundled Fetchers work in. Its Allow holds for every Fetcher,
	// those of a Registry of your own too; a nil one is policy.User.
	Env fetch.Env
	// Parser reads the URLs; the zero Parser is strict.
	Parser locator.Parser
	// Registry holds the Fetchers; nil is Builtin(&Env). The Fetchers of another
	// Registry have an Env of their own: besides Env.Allow, only Limits.Body and
	// Limits.Hops of the Resolver's Env apply to them. Their own Allow may refuse
	// more.
	Registry *fetch.Registry
	// Gateways fetches whole schemes through a gateway (RFC 1738 §4): it maps a
	// scheme to an http URL in which "{url}" stands for the encoded URL, such as
	// "http://127.0.0.1:8118/?url={url}", or that, without "{url}", names an HTTP
	// proxy that speaks the scheme. The other operations than access fail with the
	// kind Unsupported there, and a URL with a password with the kind Refused.
	Gateways map[string]string

	once     sync.Once
	registry *fetch.Registry
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

// Get retrieves what url designates. The caller closes the Resource. Errors are
// *[fetch.Error]s.
func (r *Resolver) Get(ctx context.Context, url string) (*fetch.Resource, error) {
	req, err := r.parse(url)
	if err != nil {
		return nil, err
	}
	return r.Fetch(ctx, req)
}

// Fetch performs req and follows referrals to other Locators as far as the
// policy and Limits.Hops allow. A Body beyond Limits.Body ends in an error of
// kind [fetch.TooLarge].
func (r *Resolver) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	limits := r.Env.Limits.WithDefaults()
	ctx = r.guarded(ctx)
	for hops := 0; ; hops++ {
		res, err := r.access(ctx, req)
		var ref *fetch.Referral
		switch {
		case err == nil:
			return limited(req, res, limits.Body)
		case !errors.As(err, &ref) || ref.Op != "":
			return nil, err
		case hops == limits.Hops:
			return nil, &fetch.Error{Op: fetch.OpFollow, URL: ref.To.Redacted(), Kind: fetch.TooManyHops, Err: fmt.Errorf("after %d referrals", hops)}
		}
		if req, err = r.follow(ctx, req, ref); err != nil {
			return nil, err
		}
	}
}

// Attributes finds what is known of url besides its octets.
func (r *Resolver) Attributes(ctx context.Context, url string) (*fetch.Attributes, error) {
	req, f, err := operate[fetch.AttributeFinder](r, url, fetch.OpAttributes)
	if err != nil {
		return nil, err
	}
	return f.FindAttributes(r.guarded(ctx), req)
}

// Update adds body to what url designates: FTP appends, HTTP posts.
func (r *Resolver) Update(ctx context.Context, url string, body io.Reader) (*fetch.Attributes, error) {
	req, f, err := operate[fetch.Updater](r, url, fetch.OpUpdate)
	if err != nil {
		return nil, err
	}
	return f.Update(r.guarded(ctx), req, body)
}

// Replace stores body as what url designates.
func (r *Resolver) Replace(ctx context.Context, url string, body io.Reader) (*fetch.Attributes, error) {
	req, f, err := operate[fetch.Replacer](r, url, fetch.OpReplace)
	if err != nil {
		return nil, err
	}
	return f.Replace(r.guarded(ctx), req, body)
}

// Close ends idle sessions of the Registry. Bodies still being read are not
// disturbed.
func (r *Resolver) Close() error { return r.fetchers().Close() }

func (r *Resolver) parse(url string) (*fetch.Request, error) {
	ref, err := r.Parser.Parse(url)
	if err != nil {
		return nil, &fetch.Error{Op: fetch.OpParse, Kind: fetch.BadURL, Err: err}
	}
	return &fetch.Request{Locator: ref.Locator}, nil
}

func (r *Resolver) fetchers() *fetch.Registry {
	r.once.Do(func() {
		if r.registry = r.Registry; r.registry == nil {
			r.registry = Builtin(&r.Env)
		}
	})
	return r.registry
}

// guarded is ctx with the policy that holds for every Fetcher.
func (r *Resolver) guarded(ctx context.Context) context.Context {
	if r.Env.Allow == nil {
		return fetch.WithAllow(ctx, policy.User)
	}
	return fetch.WithAllow(ctx, r.Env.Allow)
}

// operate finds the request for url, and the Fetcher that has the operation T. A
// gateway has none but access.
func operate[T any](r *Resolver, url string, op fetch.Op) (req *fetch.Request, able T, err error) {
	if req, err = r.parse(url); err != nil {
		return nil, able, err
	}
	if _, ok := r.gateway(req.Locator.Scheme()); ok {
		return nil, able, fetch.Fail(op, req.Locator, fetch.Unsupported, errGatewayOnlyFetches)
	}
	able, err = fetcherFor[T](r, req, op)
	return req, able, err
}

// fetcherFor finds the Fetcher of req's scheme as one that has the operation T.
func fetcherFor[T any](r *Resolver, req *fetch.Request, op fetch.Op) (T, error) {
	scheme := req.Locator.Scheme()
	f := r.fetchers().Lookup(scheme)
	able, ok := f.(T)
	if ok {
		return able, nil
	}
	err := fmt.Errorf("%s of %s resources", op, scheme)
	if f == nil {
		err = fmt.Errorf("the scheme %q", scheme)
	}
	return able, fetch.Fail(op, req.Locator, fetch.Unsupported, err)
}

// access performs req through its gateway if it has one, else by its Fetcher.
func (r *Resolver) access(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	if template, ok := r.gateway(req.Locator.Scheme()); ok {
		through, err := throughGateway(req, template)
		if err != nil {
			return nil, err
		}
		req = through
	}
	f, err := fetcherFor[fetch.Fetcher](r, req, fetch.OpAccess)
	if err != nil {
		return nil, err
	}
	return f.Fetch(ctx, req)
}

// follow makes the request that a referral asks for. The policy judges it by
// where it comes from; options of another scheme do not apply to it.
func (r *Resolver) follow(ctx context.Context, req *fetch.Request, ref *fetch.Referral) (*fetch.Request, error) {
	next := *req
	next.Locator, next.From = ref.To, ref.From
	if next.From.Kind == fetch.User || next.From.Kind == fetch.Config {
		next.From = fetch.Provenance{Kind: fetch.Remote, By: req.Locator}
	}
	if ref.To.Scheme() != req.Locator.Scheme() {
		next.Options = nil
	}
	fetch.ContextTrace(ctx).Note("referred to " + ref.To.Redacted())
	return &next, nil
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
