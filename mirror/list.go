package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
	"github.com/fetch1738/fetch1738/mirror/internal/request"
)

var errMany = errors.New("more entries than the limit")

// A listing is the listing of one folder.
type listing struct {
	*batch
	skipped batch // key, id and size hold the URL, the name and the index of the reason
	plus    bool  // the server supports Gopher+
	end     ending
	unread  error // lines were not understood
	cut     bool  // see ErrCut
	why     error // files may be missing without a failure: ErrNames or errPart
	hides   bool  // names that begin with a dot may be missing
	climbs  bool  // an entry is the folder itself, or one above it
	outside int   // entries that are skipped, and were not in an earlier run with other options
	loop    error // why a link to a folder above is left out
	err     error
}

// A lister lists the folders of the tree. It is safe for concurrent use.
type lister struct {
	requests *request.Sender
	tree     tree
	wider    *gopherTree // what earlier runs have copied with other options; nil if that is no more
	filter   filter.Filter
	dir      *local.Dir
	manifest *manifest
	max      int64        // of entries
	entries  atomic.Int64 // number of entries in all listings
}

// list lists one folder. After an error the listing has the entries received so far.
func (s *lister) list(ctx context.Context, f folder, l *listing, more func() bool) error {
	*l = listing{batch: &batch{in: f}}
	if s.entries.Load() > s.max {
		return s.tooMany(f)
	}
	err := s.requests.Try(ctx, func() error {
		*l = listing{batch: &batch{in: f}}
		before := s.requests.Octets.Load()
		ctx, cancel := s.requests.Counting(ctx, s.requests.Listings)
		defer cancel(nil)
		err := s.listOnce(ctx, f, l, more)
		if err == nil {
			err = s.requests.Pace.Wait(ctx, s.requests.Octets.Load()-before)
		}
		if err != nil && errors.Is(context.Cause(ctx), request.ErrLongListing) {
			err = driver.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, request.ErrLongListing)
		}
		return err
	})
	at, isFTP := f.loc.(*locator.FTP)
	if !isFTP || err != nil {
		return err
	}
	if reason := (&loopSearch{s.requests, l.in, at}).find(ctx, l.climbs); reason != nil {
		*l = listing{batch: &batch{in: f}, loop: reason}
	}
	return ctx.Err()
}

// tooMany returns the error for a folder that exceeds MaxEntries.
func (s *lister) tooMany(f folder) error {
	return driver.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, fmt.Errorf("%w of %d; Mirror.MaxEntries raises it", errMany, s.max))
}

// listOnce is list without retries.
func (s *lister) listOnce(ctx context.Context, f folder, l *listing, more func() bool) error {
	options := s.requests.OptionsForList(f.loc, more)
	res, err := s.requests.Fetcher.Fetch(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
	if err != nil {
		return err
	}
	defer res.Close()
	if res.Items == nil {
		return driver.Fail(fetch.OpList, f.loc, fetch.ErrUnsupported, errors.New("not a directory or menu"))
	}
	l.from = f.from
	if res.Peer.IsValid() {
		// The name of the server may resolve to another address for the next request. The address
		// is unknown for a proxied request, and a local file has none.
		l.from = res.Origin()
	}
	if res.Kind != fetch.KindMenu {
		err := s.collect(f, l, l.in.digested(res.Items))
		if info, ok := res.Info.(*ftp.Info); ok {
			l.unread, l.cut, l.why, l.hides, l.local = ftp.UnreadError(res), info.Unread > 0, missing(info, s.requests.Options), info.Hides, !info.Facts
		}
		return err
	}
	menu := newMenuWriter(s.dir, f)
	defer menu.Close()
	items, err := gopher.Menu(io.TeeReader(res.Body, menu), f.loc, fetch.Limits{})
	if err != nil {
		return err
	}
	if err := s.collect(f, l, items); err != nil {
		return err
	}
	e := menu.entry(f)
	if l.end, e.end = endOf(res), endOf(res); l.end == unmarked {
		err = confirm(s.dir, f.loc, s.manifest.lookup(e.url).done, e.size, e.sum, func() (string, error) {
			return s.requests.Digest(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
		})
		if err != nil {
			return err
		}
	}
	s.addDates(ctx, f, l)
	if !s.dir.DryRun && s.filter.File(e.path) && s.manifest.lookup(e.url).done.SHA256 != e.sum {
		e.kept, err = true, menu.keep()
	}
	l.menu, l.files = e, l.files+1
	return err
}

// collect sorts the items of a listing.
func (s *lister) collect(f folder, l *listing, items iter.Seq2[fetch.Item, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		if s.entries.Add(1) > s.max {
			return s.tooMany(f)
		}
		if item.Locator == nil {
			continue // text only
		}
		l.plus = l.plus || plusOf(item) == "+"
		item.Locator = canonicalIn(s.tree, item.Locator)
		at, err := s.tree.place(item)
		if err == nil && at.dir && at.id != "" && slices.Contains(f.chain, at.id) {
			l.climbs, err = true, errLink // in listings by MLSD some servers show links to folders as folders
		}
		switch {
		case err != nil:
			if s.wider.has(item) {
				l.outside++
			}
			name := strings.Join(join(f.path, item.Name), "/")
			m := hasID
			l.skipped.pack(packed{mark: &m, key: item.Locator.Redacted(), id: name, size: reasonOf(err)})
		case at.dir:
			l.add(s.tree, isFolder, at, item.Locator, -1, time.Time{})
		default:
			l.add(s.tree, 0, at, item.Locator, item.Size, item.ModTime)
		}
	}
	return nil
}

// addDates requests the modification times of the items of a menu from a Gopher+ server. Errors are
// ignored.
func (s *lister) addDates(ctx context.Context, f folder, l *listing) {
	tree, isGopher := s.tree.(*gopherTree)
	if !isGopher || !l.plus || s.requests.Pool.Turn(ctx) != nil {
		return
	}
	all := tree.attributesOf(f.loc)
	if all == nil {
		return
	}
	res, err := s.requests.Fetcher.Fetch(ctx, &fetch.Request{Locator: all, From: f.from, Options: s.requests.Options})
	if err != nil {
		return
	}
	defer res.Close()
	if res.Items == nil {
		return
	}
	dates := make(map[id]time.Time)
	for item, err := range res.Items {
		if err != nil || len(dates) > l.files {
			break
		}
		if item.Locator != nil {
			dates[idOf(canonicalIn(s.tree, item.Locator).Redacted())] = item.ModTime
		}
	}
	l.date(s.tree, func(url string) time.Time { return dates[idOf(url)] })
}

// missing returns why a listing may lack files of the directory, or nil: it has names only, or the
// command for it has an argument that is no option, such as a pattern.
func missing(info *ftp.Info, options any) error {
	given, _ := options.(*ftp.Options)
	switch {
	case info.Names:
		return ErrNames
	case given == nil:
		return nil
	}
	for i, word := range strings.Fields(given.ListCommand) {
		if i > 0 && word[0] != '-' && word != "." {
			return errPart
		}
	}
	return nil
}
