package transfer

import (
	"context"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// expanded returns the transfers of t: itself, or, if its URL ends in a wildcard, one
// for each matching file. If the listing fails, t fails, after the files that were found.
func expanded(ctx context.Context, t *Transfer) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		l, p := wildcardOf(&t.Result)
		if p == nil {
			yield(t)
			return
		}
		found, err := matches(ctx, t, l, p)
		if err != nil {
			t.Locator, t.Malformed = l, err
		}
		if found == nil {
			yield(t)
			return
		}
		names := t.place.Names(found)
		for m := range found.All() {
			if !yield(matchTransfer(t, l, m, names)) {
				return
			}
		}
		if err != nil {
			yield(t)
		}
	}
}

// wildcardOf returns the Locator of a transfer and the pattern that it ends in. The
// pattern is nil without a wildcard, or without a directory to list, as with an HTTP proxy or a
// gateway.
func wildcardOf(r *Result) (locator.Locator, *wildcard.Pattern) {
	if r.Upload || r.Malformed != nil || !wildcard.Is(r.URL) {
		return nil, nil
	}
	ref, err := r.Op.Reading.Parse(r.URL)
	l := ref.Locator
	if err != nil || !r.Op.Policy.Schemes.Has(l.Scheme()) || r.AskedProxy(l) != nil || r.Op.Gateways[l.Scheme()] != "" {
		return nil, nil
	}
	if _, isFTP := l.(*locator.FTP); isFTP && r.Op.FTP.ListOnly {
		return nil, nil
	}
	return l, output.Pattern(l, r.URL)
}

// matches lists the directory. It returns nil without an error if t's URL is to be used
// literally: a file has exactly that name. With an error it may return some matches.
func matches(ctx context.Context, t *Transfer, l locator.Locator, p *wildcard.Pattern) (*wildcard.Matches, error) {
	look := t.newTransfer(t.Network, Task{URL: t.URL, Looks: true}, t.place)
	look.Locator, look.Sink = client.InDirectory(l, ""), new(output.Sink)
	if err := look.Authenticate(); err != nil {
		return nil, err
	}
	look.Account.Begin()
	ctx = look.watched(look.Context(ctx))
	if look.watch.Stop != nil {
		defer look.watch.Stop()
	}
	if _, isFTP := l.(*locator.FTP); isFTP && !strings.ContainsAny(output.LastSegment(l, t.URL), "*[") && hasFile(ctx, &look.Result, p.Name) {
		return nil, nil
	}
	for look.Tries = 1; ; look.Tries++ {
		found, err := lookUp(ctx, &look.Result, p)
		if client.RefusesListing(err) {
			t.Warn("%v; using the name literally", err)
			return nil, nil
		}
		if err == nil || !waitToRetry(ctx, &look.Result, err, 0, false) {
			return found, err
		}
	}
}

// hasFile reports whether the directory has a file of that name. A "?" is often part of a
// name, so the file is looked up before the directory is listed.
func hasFile(ctx context.Context, r *Result, name string) bool {
	l := client.InDirectory(r.Locator, name)
	ctx, end := limit(ctx, r)
	options := client.FTPOptions(r.Op)
	options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil // for the transfers
	found, err := r.Resolver.FindAttributes(ctx, &fetch.Request{Locator: l, Options: options})
	return end(err) == nil && (found.Size >= 0 || !found.ModTime.IsZero())
}

// lookUp lists the directory once.
func lookUp(ctx context.Context, r *Result, p *wildcard.Pattern) (found *wildcard.Matches, err error) {
	ctx, end := limit(ctx, r)
	defer func() { err = end(err) }()
	ctx, stop := listing.Bounded(ctx)
	defer func() {
		if context.Cause(ctx) == listing.ErrTooLong {
			err = driver.Fail(fetch.OpMatch, r.Locator, fetch.ErrTooLarge, listing.ErrTooLong)
		}
		stop(nil)
	}()
	req := &fetch.Request{Locator: r.Locator}
	if _, isFTP := r.Locator.(*locator.FTP); isFTP {
		options := client.FTPOptions(r.Op)
		options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil
		options.Facts, options.ListOnly = true, false
		req.Options = options
	}
	res, err := r.ResolverFor(r.Locator).Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return listing.Select(res, p, r.Warn)
}

// matchTransfer returns the transfer of one matching file. No two write to the same file.
func matchTransfer(t *Transfer, l locator.Locator, m wildcard.Match, names *output.Names) *Transfer {
	place := t.place
	place.Listed = &m
	one := t.newTransfer(t.Network, Task{URL: client.InDirectory(l, m.Name).String(), Number: t.Number}, place)
	if name, free := names.Take(m); !free {
		one.Locator = l
		one.Malformed = localerr.Errorf(localerr.Write, "%s: another file of this listing is written to %s", client.InDirectory(l, m.Name).Redacted(), name)
	}
	return one
}
