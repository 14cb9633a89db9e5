package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Bounds of a wildcard: the octets and the entries of the listing, and the octets of
// the names that fit.
const (
	maxListing = 256 << 20
	maxEntries = 1 << 20
	maxNames   = 64 << 20
)

var errLongListing = fmt.Errorf("a listing of more than %d octets or %d entries, or names of more than %d octets", maxListing, maxEntries, maxNames)

// expanded are the transfers that t stands for: itself, or, where its URL ends
// in a wildcard, one for each file that fits. What fails before there is a list
// of them is t's failure.
func (t *Transfer) expanded(ctx context.Context) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		l, p := wildcardOf(t)
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
			if !yield(fitting(t, l, m, names)) {
				return
			}
		}
	}
}

// wildcardOf is where a transfer's URL leads and the pattern that it ends in; nil
// where it ends in none, or where there is no directory to look in: an HTTP
// proxy or a gateway has none.
func wildcardOf(t *Transfer) (locator.Locator, *wildcard.Pattern) {
	if t.Upload || t.Malformed != nil || !wildcard.Is(t.URL) {
		return nil, nil
	}
	ref, err := t.Op.Reading.Parse(t.URL)
	l := ref.Locator
	if err != nil || !t.Op.Policy.Schemes.Has(l.Scheme()) || t.AskedProxy(l) != nil || t.Op.Policy.Gateways[l.Scheme()] != "" {
		return nil, nil
	}
	if _, isFTP := l.(*locator.FTP); isFTP && t.Op.FTP.ListOnly {
		return nil, nil
	}
	return l, output.Pattern(l, t.URL)
}

// matches looks into the directory. Nil without an error means that t's URL is
// meant as it is: a file has that very name.
func matches(ctx context.Context, t *Transfer, l locator.Locator, p *wildcard.Pattern) (*wildcard.Matches, error) {
	look := t.engine.newTransfer(t.Access, t.URL, t.place)
	look.Looks, look.Locator, look.Sink = true, client.InDirectory(l, ""), new(output.Sink)
	if err := look.Authenticate(); err != nil {
		return nil, err
	}
	look.Account.Begin()
	ctx = look.watched(look.Context(ctx))
	if look.watch.Stop != nil {
		defer look.watch.Stop()
	}
	if _, isFTP := l.(*locator.FTP); isFTP && !strings.ContainsAny(output.LastSegment(l, t.URL), "*[") && finds(ctx, look, p.Name) {
		return nil, nil
	}
	for try := 0; ; try++ {
		look.left = t.Op.Retry.Times - try
		found, err := lookUp(ctx, look, p)
		if refusesListing(err) {
			t.Warn("%v: taking the name as it is", err)
			return nil, nil
		}
		if err == nil || !again(ctx, look, try, err) {
			return found, err
		}
	}
}

// refusesListing reports whether a server lets nobody list the directory, so that
// names have to be known.
func refusesListing(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && known.Code >= 500 && (known.Op == fetch.OpLIST || known.Op == fetch.OpNLST || known.Op == fetch.OpMLSD)
}

// finds reports whether there is a file of that name in the directory. A "?" is as
// often part of a name as a wildcard, so it is asked for before all names are.
func finds(ctx context.Context, t *Transfer, name string) bool {
	l := client.InDirectory(t.Locator, name)
	ctx, end := t.limit(ctx)
	options := client.FTPOptions(t.Op)
	options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil
	found, err := t.Resolver.FindAttributes(ctx, &fetch.Request{Locator: l, Options: options})
	return end(err) == nil && (found.Size >= 0 || !found.ModTime.IsZero())
}

// lookUp lists the directory once.
func lookUp(ctx context.Context, t *Transfer, p *wildcard.Pattern) (found *wildcard.Matches, err error) {
	ctx, end := t.limit(ctx)
	defer func() { err = end(err) }()
	ctx, stop := boundedListing(ctx)
	defer func() {
		if context.Cause(ctx) == errLongListing {
			err = fetch.Fail(fetch.OpMatch, t.Locator, fetch.ErrTooLarge, errLongListing)
		}
		stop(nil)
	}()
	req := &fetch.Request{Locator: t.Locator}
	if _, isFTP := t.Locator.(*locator.FTP); isFTP {
		options := client.FTPOptions(t.Op)
		options.Quote, options.PreTransfer, options.PostQuote = nil, nil, nil
		options.Facts, options.ListOnly, options.ListCommand = true, false, ""
		req.Options = options
	}
	res, err := t.ResolverFor(t.Locator).Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return choose(t, res, p)
}

// boundedListing is ctx, which ends when more octets come than a listing has: the
// lines of one that are none are seen by nobody else.
func boundedListing(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	var octets atomic.Int64
	return fetch.WithTrace(ctx, &fetch.Trace{Body: func(n int64) {
		if octets.Add(n) > maxListing {
			stop(errLongListing)
		}
	}}), stop
}

// choose reads a listing for what fits. There is nothing, and no error, when an
// entry has the very name that the pattern has.
func choose(t *Transfer, res *fetch.Resource, p *wildcard.Pattern) (*wildcard.Matches, error) {
	found := &wildcard.Matches{Pattern: p}
	exact := false
	entries, octets := 0, 0
	for item, err := range res.Items {
		if fetch.KindOf(err) == fetch.ErrProtocol {
			return nil, fault.New(fault.Listing, err)
		}
		if err != nil {
			return nil, err
		}
		_, ok := p.Match(item.Name)
		entries++
		if ok {
			octets += len(item.Name)
		}
		switch {
		case entries > maxEntries, octets > maxNames:
			return nil, fetch.Fail(fetch.OpMatch, res.Locator, fetch.ErrTooLarge, errLongListing)
		case item.Name == p.Name && item.Kind == fetch.KindDocument:
			exact = true
		case !ok:
		case item.Kind != fetch.KindDocument:
			t.Warn("%s is a directory: passed over", item.Name)
		case listing.Field(&item, fetch.HeaderLink) != nil:
			t.Warn("%s is a symbolic link: passed over", item.Name)
		case listing.Field(&item, fetch.HeaderSpecial) != nil:
			t.Warn("%s is no regular file: passed over", item.Name)
		default:
			found.Add(item.Name)
		}
	}
	switch {
	case exact:
		return nil, nil
	case found.Count == 0:
		return nil, fetch.Fail(fetch.OpMatch, res.Locator, fetch.ErrNotFound, fmt.Errorf("no file matches %s", fetch.Printable(p.Name)))
	}
	return found, nil
}

// fitting is the transfer of one file that fits. No two write to the same file.
func fitting(t *Transfer, l locator.Locator, m wildcard.Match, names *output.Names) *Transfer {
	place := t.place
	place.Listed = &m
	one := t.engine.newTransfer(t.Access, client.InDirectory(l, m.Name).String(), place)
	one.Number = t.Number
	if name, free := names.Take(m); !free {
		one.Locator = l
		one.Malformed = fault.Errorf(fault.Write, "%s: another file of this listing goes to %s", client.InDirectory(l, m.Name).Redacted(), name)
	}
	return one
}
