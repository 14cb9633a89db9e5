package listing

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/entry"
)

// The limits of a wildcard: bytes and entries of the listing, and bytes of the matching names.
const (
	maxBytes   = 256 << 20
	maxEntries = 1 << 20
	maxNames   = 64 << 20
)

// ErrTooLong is the error for a listing that exceeds the limits of a wildcard.
var ErrTooLong = fmt.Errorf("the listing is longer than %d bytes or %d entries, or the matching names are longer than %d bytes", maxBytes, maxEntries, maxNames)

// Bounded returns ctx, which ends with the cause ErrTooLong when a listing is too long. This also counts
// lines that yield no entry.
func Bounded(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	var octets atomic.Int64
	return fetch.WithTrace(ctx, &fetch.Trace{Body: func(n int64) {
		if octets.Add(n) > maxBytes {
			stop(ErrTooLong)
		}
	}}), stop
}

// Select returns the files of a listing that match. It calls warn for matching entries that are not
// files. It returns nil without an error if an entry is literally named like the pattern. If
// entries may be missing because lines were not understood, it returns the matching files and an
// error.
func Select(res *fetch.Resource, p *wildcard.Pattern, warn func(format string, args ...any)) (*wildcard.Matches, error) {
	found := &wildcard.Matches{Pattern: p}
	exact := false
	entries, octets := 0, 0
	for item, err := range res.Items {
		if fetch.KindOf(err) == fetch.ErrProtocol {
			return nil, localerr.New(localerr.Listing, err)
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
			return nil, driver.Fail(fetch.OpMatch, res.Locator, fetch.ErrTooLarge, ErrTooLong)
		case item.Name == p.Name && item.Kind == fetch.KindDocument:
			exact = true
		case !ok:
		case item.Kind != fetch.KindDocument:
			warn("skipping %s: it is a directory", item.Name)
		case entry.Field(&item, fetch.HeaderLink) != nil:
			warn("skipping %s: it is a symbolic link", item.Name)
		case entry.Field(&item, fetch.HeaderSpecial) != nil:
			warn("skipping %s: it is not a regular file", item.Name)
		default:
			found.Add(item.Name)
		}
	}
	unread := ftp.UnreadError(res)
	switch {
	case exact:
		return nil, nil
	case unread != nil:
		return found, localerr.New(localerr.Listing, unread)
	case found.Count == 0:
		return nil, NoMatch(res, p)
	}
	return found, nil
}

// Matching returns the Items of a directory whose names match. If no name matches, it yields an error
// of the kind [fetch.ErrNotFound].
func Matching(res *fetch.Resource, p *wildcard.Pattern) iter.Seq2[fetch.Item, error] {
	items := res.Items
	return func(yield func(fetch.Item, error) bool) {
		found := false
		for item, err := range items {
			_, fits := p.Match(item.Name)
			if found = found || fits || err != nil; (fits || err != nil) && !yield(item, err) {
				return
			}
		}
		if !found && ftp.UnreadError(res) == nil {
			yield(fetch.Item{}, NoMatch(res, p))
		}
	}
}

// NoMatch returns the error for a directory in which nothing matches.
func NoMatch(res *fetch.Resource, p *wildcard.Pattern) error {
	return driver.Fail(fetch.OpMatch, res.Locator, fetch.ErrNotFound, fmt.Errorf("no file matches %s", fetch.Printable(p.Name)))
}
