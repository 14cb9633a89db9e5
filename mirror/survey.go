package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/loop"
)

// The limit in bytes of all listings together, menus included, is the greater of maxListings and
// perEntry times the maximum number of entries.
const (
	maxListings = 256 << 20
	perEntry    = 256
)

var (
	errLongListing = errors.New("listings exceed the size limit; Mirror.Exclude skips folders")
	errMany        = errors.New("more entries than the limit")
)

// An entry is a file of the tree.
type entry struct {
	loc      locator.Locator
	from     fetch.Provenance
	url      string
	path     []string // on the server
	file     string   // local path
	size     int64    // -1 if unknown
	modified time.Time
	local    bool      // modified may be in the server's time zone
	exact    time.Time // of the copy: a file that still has it is not fetched; set when it is
	id       string
	sum      string      // SHA256 of a menu, which was received with the listing
	kept     bool        // the menu is in the part of its file
	end      ending      // of the menu
	more     func() bool // reports whether another file follows on the same worker; set when it is fetched
}

// A folder is a directory or menu of the tree.
type folder struct {
	loc    locator.Locator
	from   fetch.Provenance
	path   []string
	chain  []string     // the ids of the folder and of those above it, as far as they are known
	listed *loop.Listed // of the folder if it has been listed, or else of the one above it
}

// A survey is the result of listing the tree. The URLs of files are in the manifest, marked as
// seen.
type survey struct {
	flat    bool // paths do not reflect the structure, as on a gopher site
	start   mark
	batches []*batch
	open    int             // number of folders to list next
	paths   map[id]struct{} // of files; gopher can have several URLs for one file
	entered map[id]struct{} // paths of folders
	// unseen is the number of folders that were not listed completely. In a flat tree each of them
	// may have any file. In other trees it may have the files below it.
	unseen   int
	hidden   map[string]bool // by the keys of their paths
	dotless  map[string]bool // folders in whose listings names that begin with a dot may be missing, by the same keys
	unmarked int             // menus among them that were read but have no end mark
	outside  int             // links that are not followed, but have been in an earlier run, with Parent or another of the Aliases
	full     bool            // a limit was exceeded, and that was reported
}

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

// listedAtOnce is the number of folders that are listed before their listings are merged.
const listedAtOnce = 1 << 10

// survey lists the tree level by level. So the order of its entries is that of the listings, and so
// is the choice of the file that gets a name that two files claim.
func (r *run) survey(ctx context.Context) (*survey, error) {
	_, flat := r.tree.(*gopherTree)
	s := &survey{flat: flat, paths: make(map[id]struct{}), entered: make(map[id]struct{}), hidden: make(map[string]bool), dotless: make(map[string]bool)}
	start := r.tree.start()
	start.from = r.From
	s.enter(&s.start, start, filter.Filter{})
	level := iter.Seq2[*mark, folder](func(yield func(*mark, folder) bool) { yield(&s.start, start) })
	for depth := 1; s.open > 0; depth++ {
		if depth > r.depth {
			r.tooDeep(ctx, s, level)
			break
		}
		s.open = 0
		done := len(s.batches)
		for marks, folders := range chunks(level) {
			lists := make([]listing, len(folders))
			pool.Each(ctx, r.pool, pool.Indices(len(folders)), func(i int, more func() bool) error { return r.list(ctx, folders[i], &lists[i], more) },
				func(i int, err error) {
					if mark, _ := pool.Unmark(err); mark == pool.Ends {
						r.fail(ctx, folders[i].loc.Redacted(), "", err)
					}
					lists[i].err = err
				})
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if depth == 1 && lists[0].err != nil && lists[0].files == 0 {
				r.fail(ctx, start.loc.Redacted(), "", pool.Over(lists[0].err))
				return nil, lists[0].err
			}
			for i := range lists {
				r.merge(ctx, s, marks[i], &lists[i])
			}
		}
		level = r.opened(s.batches[done:])
	}
	s.paths, s.entered = nil, nil // they may have a million elements
	return s, nil
}

// opened yields the folders of batches that are to be listed.
func (r *run) opened(batches []*batch) iter.Seq2[*mark, folder] {
	return func(yield func(*mark, folder) bool) {
		for _, b := range batches {
			for m, f := range b.folders(r.tree) {
				if *m&isOpen != 0 && !yield(m, f) {
					return
				}
			}
		}
	}
}

// chunks yields up to listedAtOnce folders at a time.
func chunks(level iter.Seq2[*mark, folder]) iter.Seq2[[]*mark, []folder] {
	return func(yield func([]*mark, []folder) bool) {
		var marks []*mark
		var folders []folder
		for m, f := range level {
			marks, folders = append(marks, m), append(folders, f)
			if len(folders) == listedAtOnce {
				if !yield(marks, folders) {
					return
				}
				marks, folders = nil, nil
			}
		}
		if len(folders) > 0 {
			yield(marks, folders)
		}
	}
}

// enter marks a folder to be listed, unless it is excluded or its path was entered before.
func (s *survey) enter(m *mark, f folder, only filter.Filter) {
	path := idOf(strings.Join(f.path, "/"))
	if _, again := s.entered[path]; again {
		return
	}
	s.entered[path] = struct{}{}
	if only.Dir(f.path) {
		*m |= isOpen
		s.open++
	} else {
		s.hide(f)
	}
}

// hide records that a folder was not listed, or not completely.
func (s *survey) hide(f folder) {
	s.unseen++
	if !s.flat {
		s.hidden[keyOf(f.path)] = true
	}
}

// tooDeep skips the folders of a level. That is a failure unless Depth was set.
func (r *run) tooDeep(ctx context.Context, s *survey, level iter.Seq2[*mark, folder]) {
	reported := r.Depth != 0
	for _, f := range level {
		s.hide(f)
		if !reported {
			r.fail(ctx, f.loc.Redacted(), "", driver.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge,
				fmt.Errorf("more than %d levels below the start URL; Mirror.Depth raises the limit", r.depth)))
			reported = true
		}
	}
}

// merge adds a listing to the survey.
func (r *run) merge(ctx context.Context, s *survey, m *mark, l *listing) {
	f := l.in
	if s.leaveOut(ctx, r, l) {
		return
	}
	if l.err != nil {
		s.hide(f)
		if !s.full {
			r.fail(ctx, f.loc.Redacted(), "", l.err)
		}
		s.full = s.full || errors.Is(l.err, errMany) || errors.Is(l.err, errLongListing)
	} else {
		*m |= isListed
		if l.end == unmarked {
			s.hide(f)
			s.unmarked++
			r.report(Event{Action: Unsure, URL: f.loc.Redacted(), File: r.naming.Path(join(f.path, menuFile)), Size: -1, Err: errUnmarked})
		}
		if l.unread != nil {
			s.hide(f)
			r.fail(ctx, f.loc.Redacted(), "", l.unread)
		} else if l.cut {
			s.hide(f)
			r.report(Event{Action: Skipped, URL: f.loc.Redacted(), File: r.naming.Path(f.path), Size: -1, Err: ErrCut})
		}
		if l.why != nil {
			s.hide(f)
			if r.Delete {
				r.report(Event{Action: Skipped, URL: f.loc.Redacted(), File: r.naming.Path(f.path), Size: -1, Err: l.why})
			}
		}
		if l.hides {
			s.dotless[keyOf(f.path)] = true
		}
		r.report(Event{Action: Listed, URL: f.loc.Redacted(), Size: -1, Files: l.files})
	}
	s.outside += l.outside
	for p := range l.skipped.packed() {
		r.report(Event{Action: Skipped, URL: p.key, File: p.id, Size: -1, Err: reasons[p.size]})
	}
	for m, e := range l.entries(r.tree) {
		again := r.manifest.markSeen(e.url)
		if s.flat {
			path := idOf(strings.Join(e.path, "/"))
			_, taken := s.paths[path]
			s.paths[path] = struct{}{}
			again = again || taken
		}
		if !again && r.filter.File(e.path) {
			*m |= isWanted
		}
	}
	for m, f := range l.folders(r.tree) {
		s.enter(m, f, r.filter)
	}
	if len(l.blocks) > 0 || l.menu != nil {
		s.batches = append(s.batches, l.batch)
	}
}

// list lists one folder. After an error the listing has the entries received so far.
func (r *run) list(ctx context.Context, f folder, l *listing, more func() bool) error {
	*l = listing{batch: &batch{in: f}}
	if r.entries.Load() > r.maxEntries {
		return r.tooMany(f)
	}
	err := r.try(ctx, func() error {
		*l = listing{batch: &batch{in: f}}
		before := r.octets.Load()
		ctx, cancel := r.counting(ctx, max(maxListings, perEntry*r.maxEntries))
		defer cancel(nil)
		err := r.listOnce(ctx, f, l, more)
		if err == nil {
			err = r.pace.Wait(ctx, r.octets.Load()-before)
		}
		if err != nil && errors.Is(context.Cause(ctx), errLongListing) {
			err = driver.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, errLongListing)
		}
		return err
	})
	if at, isFTP := f.loc.(*locator.FTP); isFTP && err == nil {
		err = (&loopSearch{r, f, at}).find(ctx, l)
	}
	return err
}

// tooMany returns the error for a folder that exceeds MaxEntries.
func (r *run) tooMany(f folder) error {
	return driver.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, fmt.Errorf("%w of %d; Mirror.MaxEntries raises it", errMany, r.maxEntries))
}

// listOnce is list without retries.
func (r *run) listOnce(ctx context.Context, f folder, l *listing, more func() bool) error {
	options := r.optionsOf(f.loc, func(o *ftp.Options) { o.Facts, o.Hidden, o.More = true, !r.NoHidden, more })
	res, err := r.Fetcher.Fetch(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
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
		err := r.collect(f, l, l.digested(res.Items))
		if info, ok := res.Info.(*ftp.Info); ok {
			l.unread, l.cut, l.why, l.hides, l.local = ftp.UnreadError(res), info.Unread > 0, missing(info, r.Options), info.Hides, !info.Facts
		}
		return err
	}
	menu := r.newMenu(f)
	defer menu.Close()
	items, err := gopher.Menu(io.TeeReader(res.Body, menu), f.loc, fetch.Limits{})
	if err != nil {
		return err
	}
	if err := r.collect(f, l, items); err != nil {
		return err
	}
	e := menu.entry(f)
	if l.end, e.end = endOf(res), endOf(res); l.end == unmarked {
		err = r.confirm(f.loc, r.manifest.lookup(e.url).done, e.size, e.sum, func() (string, error) {
			return r.digestOf(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
		})
		if err != nil {
			return err
		}
	}
	r.addDates(ctx, f, l)
	if !r.DryRun && r.filter.File(e.path) && r.manifest.lookup(e.url).done.SHA256 != e.sum {
		e.kept, err = true, menu.keep()
	}
	l.menu, l.files = e, l.files+1
	return err
}

// collect sorts the items of a listing.
func (r *run) collect(f folder, l *listing, items iter.Seq2[fetch.Item, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		if r.entries.Add(1) > r.maxEntries {
			return r.tooMany(f)
		}
		if item.Locator == nil {
			continue // text only
		}
		l.plus = l.plus || plusOf(item) == "+"
		item.Locator = r.canonical(item.Locator)
		at, err := r.tree.place(item)
		if err == nil && at.dir && at.id != "" && slices.Contains(f.chain, at.id) {
			l.climbs, err = true, errLink // in listings by MLSD some servers show links to folders as folders
		}
		switch {
		case err != nil:
			if r.wider.has(item) {
				l.outside++
			}
			name := strings.Join(join(f.path, item.Name), "/")
			m := hasID
			l.skipped.pack(packed{mark: &m, key: item.Locator.Redacted(), id: name, size: reasonOf(err)})
		case at.dir:
			l.add(r.tree, isFolder, at, item.Locator, -1, time.Time{})
		default:
			l.add(r.tree, 0, at, item.Locator, item.Size, item.ModTime)
		}
	}
	return nil
}

// canonical returns the locator of an item, with the host in ASCII. In a gopher tree an alias is
// replaced by the server.
func (r *run) canonical(l locator.Locator) locator.Locator {
	l, _ = idn.Locator(l)
	if t, ok := r.tree.(*gopherTree); ok {
		return t.canonical(l)
	}
	return l
}

// storable returns t to the second, or the zero time if file systems may not be able to store it.
func storable(t time.Time) time.Time {
	if year := t.UTC().Year(); year < 1980 || year > 2100 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// addDates requests the modification times of the items of a menu from a Gopher+ server. Errors are
// ignored.
func (r *run) addDates(ctx context.Context, f folder, l *listing) {
	tree, isGopher := r.tree.(*gopherTree)
	if !isGopher || !l.plus || r.pool.Turn(ctx) != nil {
		return
	}
	all := tree.attributesOf(f.loc)
	if all == nil {
		return
	}
	res, err := r.Fetcher.Fetch(ctx, &fetch.Request{Locator: all, From: f.from, Options: r.Options})
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
			dates[idOf(r.canonical(item.Locator).Redacted())] = item.ModTime
		}
	}
	l.date(r.tree, func(url string) time.Time { return dates[idOf(url)] })
}

// join returns a new path of p and name.
func join(p []string, name string) []string { return append(p[:len(p):len(p)], name) }
