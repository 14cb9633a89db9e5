package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/loop"
)

// ErrLoop is the error of a Failed event for a directory of an FTP server that is left out, because it
// seems to be a link to a directory above it: it lists the same, and so does what the same way leads to,
// repeated. To copy it anyway, use its URL as that of a Mirror of its own.
var ErrLoop = errors.New("seems to be a link to a directory above it, and is not copied")

var errExclude = errors.New("with Mirror.Exclude for it, this is no error")

// digested yields the items of a listing. For a directory of an FTP server it sets what identifies the
// listing.
func (l *listing) digested(items iter.Seq2[fetch.Item, error]) iter.Seq2[fetch.Item, error] {
	if _, isFTP := l.in.loc.(*locator.FTP); !isFTP {
		return items
	}
	own := &loop.Listed{Above: l.in.listed}
	l.in.listed = own
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

// A loopSearch finds out whether a folder is a link to one above it.
type loopSearch struct {
	*run
	f  folder
	at *locator.FTP
}

// find empties the listing of a folder that is a link to one above it, and sets the reason why it is
// left out. That it is a link is certain only if the server says so: by the fact unique, or by its
// refusal of a path with many links.
func (s *loopSearch) find(ctx context.Context, l *listing) error {
	way := l.in.listed.Loop(s.f.path)
	list := func(below []string, most int, without string) (loop.Digest, error) {
		return s.list(ctx, below, most, without)
	}
	if way == nil || !l.in.listed.Repeats(way, list) {
		return ctx.Err() // a real folder, as far as is known: the levels below it are tried, too
	}
	reason := errLink
	if !l.climbs && !loop.HasLinks(way, list) {
		if l.in.listed.Real = l.in.listed.Ends(way, list); l.in.listed.Real {
			return ctx.Err()
		}
		end := *s.at
		end.CWD = s.at.CWD[:len(s.at.CWD)-len(way)]
		reason = driver.Fail(fetch.OpList, s.at, fetch.ErrTruncated,
			fmt.Errorf("lists the same as %s, also %d levels below: %w; %w", end.Redacted(), len(way)*loop.Repeats, ErrLoop, errExclude))
	}
	*l = listing{batch: &batch{in: s.f}, loop: reason}
	return ctx.Err()
}

// list is a loop.Lister. What it lists is not a part of the copy.
func (s *loopSearch) list(ctx context.Context, below []string, most int, without string) (d loop.Digest, err error) {
	at := *s.at
	at.CWD = append(slices.Clip(s.at.CWD), below...)
	options := s.optionsOf(&at, func(o *ftp.Options) { o.Facts, o.Hidden = true, !s.NoHidden })
	err = s.try(ctx, func() error {
		d = loop.Digest{}
		ctx, cancel := s.counting(ctx, max(maxListings, perEntry*s.maxEntries))
		defer cancel(nil)
		res, err := s.Fetcher.Fetch(ctx, &fetch.Request{Locator: &at, From: s.f.from, Options: options})
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

// leaveOut reports a folder that is a link to one above it. It reports whether l is such a folder.
func (s *survey) leaveOut(ctx context.Context, r *run, l *listing) bool {
	if l.loop == nil {
		return false
	}
	url := l.in.loc.Redacted()
	if s.hide(l.in); l.loop == errLink {
		r.report(Event{Action: Skipped, URL: url, File: r.naming.Path(l.in.path), Size: -1, Err: errLink})
	} else {
		r.fail(ctx, url, "", l.loop)
	}
	return true
}
