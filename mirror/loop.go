package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/loop"
	"github.com/fetch1738/fetch1738/mirror/internal/request"
)

// ErrLoop is the error of a Failed event for a directory of an FTP server that is left out, because it
// seems to be a link to a directory above it: it lists the same, and so does what the same way leads to,
// repeated. To copy it anyway, use its URL as that of a Mirror of its own.
var ErrLoop = errors.New("seems to be a link to a directory above it, and is not copied")

var errExclude = errors.New("with Mirror.Exclude for it, this is no error")

// digested yields the items of the listing of f. For a directory of an FTP server it sets what
// identifies the listing.
func (f *folder) digested(items iter.Seq2[fetch.Item, error]) iter.Seq2[fetch.Item, error] {
	if _, isFTP := f.loc.(*locator.FTP); !isFTP {
		return items
	}
	own := &loop.Listed{Above: f.listed}
	f.listed = own
	return func(yield func(fetch.Item, error) bool) {
		for item, err := range items {
			if err == nil {
				own.Add(item)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// A loopSearch finds out whether a folder that was listed is a link to one above it.
type loopSearch struct {
	requests *request.Sender
	f        folder
	at       *locator.FTP
}

// find returns the reason why a folder is left out, or nil if it is not a link to one above it, as far
// as is known. climbs says that its listing has the folder itself, or one above it. That it is a link
// is certain only if the server says so: by the fact unique, or by its refusal of a path with many
// links.
func (s *loopSearch) find(ctx context.Context, climbs bool) (reason error) {
	listed := s.f.listed
	way := listed.Loop(s.f.path)
	list := func(below []string, most int, without string) (loop.Digest, error) {
		return s.list(ctx, below, most, without)
	}
	if way == nil || !listed.Repeats(way, list) {
		return nil // the levels below it are tried, too
	}
	if climbs || loop.HasLinks(way, list) {
		return errLink
	}
	if listed.Real = listed.Ends(way, list); listed.Real {
		return nil
	}
	end := *s.at
	end.CWD = s.at.CWD[:len(s.at.CWD)-len(way)]
	return driver.Fail(fetch.OpList, s.at, fetch.ErrTruncated,
		fmt.Errorf("lists the same as %s, also %d levels below: %w; %w", end.Redacted(), len(way)*loop.Repeats, ErrLoop, errExclude))
}

// list is a loop.Lister. What it lists is not a part of the copy.
func (s *loopSearch) list(ctx context.Context, below []string, most int, without string) (d loop.Digest, err error) {
	at := *s.at
	at.CWD = append(slices.Clip(s.at.CWD), below...)
	req := &fetch.Request{Locator: &at, From: s.f.from, Options: s.requests.OptionsForList(&at, nil)}
	err = s.requests.Try(ctx, func() error {
		d = loop.Digest{}
		ctx, cancel := s.requests.Counting(ctx, s.requests.Listings)
		defer cancel(nil)
		res, err := s.requests.Fetcher.Fetch(ctx, req)
		if err != nil {
			return err
		}
		defer res.Close()
		for item, err := range res.Items {
			if err != nil {
				return err
			}
			if item.Name == without {
				continue
			}
			if d.Add(item); d.N > most {
				break
			}
		}
		return nil
	})
	return d, err
}
