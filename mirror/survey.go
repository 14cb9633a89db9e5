package mirror

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// Bounds in octets of all listings together, menus among them, and for each entry
// that they may have.
const (
	maxListings = 256 << 20
	perEntry    = 256
)

var (
	errLongListing = errors.New("the listings are too long")
	errDeep        = errors.New("too many levels below the start; --depth (Mirror.Depth) sets how many")
	errMany        = errors.New("too many entries in all; --max-entries (Mirror.MaxEntries) sets how many")
)

// An entry is a file of the tree.
type entry struct {
	loc      locator.Locator
	from     fetch.Provenance
	url      string
	path     []string // as it is called there
	file     string   // as it is called here
	size     int64    // -1 when it is not known
	modified time.Time
	id       string
	sum      string // SHA256 of a menu, whose octets have come with the listing
	kept     bool   // and are in the part of its file
	end      ending // of the menu
}

// A folder is a directory or menu of the tree.
type folder struct {
	loc  locator.Locator
	from fetch.Provenance
	path []string
}

// A survey is what there is. The URLs of files are in the manifest, where they
// are marked as seen.
type survey struct {
	flat    bool // paths say nothing about what leads where, as in a gopher hole
	start   mark
	batches []*batch
	open    int             // folders that are to be listed next
	paths   map[id]struct{} // of files; gopher has many URLs for one
	entered map[id]struct{} // paths of folders
	// unseen is how many folders were not looked into. In a flat tree any of them
	// hides all, elsewhere what is below it.
	unseen   int
	hidden   map[string]bool // their local paths
	unmarked int             // menus among these that were read, but whose end is not marked
	full     bool            // there are more entries than are wanted, which is told once
}

// A listing is what one folder has.
type listing struct {
	*batch
	skipped batch // URL, name and the reason's index
	plus    bool  // the server knows Gopher+
	end     ending
	err     error
}

// listedAtOnce is how many folders are listed before their listings are put
// together.
const listedAtOnce = 1 << 10

// survey lists the tree, level by level, so that its order, and with it what
// names are given when two claim the same, is that of the listings.
func (r *run) survey(ctx context.Context) (*survey, error) {
	_, flat := r.tree.(*gopherTree)
	s := &survey{flat: flat, paths: make(map[id]struct{}), entered: make(map[id]struct{}), hidden: make(map[string]bool)}
	start := r.tree.start()
	start.from = r.From
	s.enter(&s.start, start, filter{})
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
			each(ctx, &r.pool, indices(len(folders)), func(i int) error { return r.list(ctx, folders[i], &lists[i]) },
				func(i int, err error) { lists[i].err = err })
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if depth == 1 && lists[0].err != nil && lists[0].files == 0 {
				r.fail(ctx, start.loc.Redacted(), "", lists[0].err)
				return nil, lists[0].err
			}
			for i := range lists {
				r.merge(ctx, s, marks[i], &lists[i])
			}
		}
		level = r.opened(s.batches[done:])
	}
	s.paths, s.entered = nil, nil // there may be a million
	return s, nil
}

// opened yields the folders of some batches that are to be listed.
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

// chunks yields so many folders at a time as are listed at once.
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

// enter finds out whether a folder is to be listed: no folder twice, whatever
// leads to it.
func (s *survey) enter(m *mark, f folder, filter filter) {
	path := idOf(strings.Join(f.path, "/"))
	if _, again := s.entered[path]; again {
		return
	}
	s.entered[path] = struct{}{}
	if filter.dir(f.path) {
		*m |= isOpen
		s.open++
	} else {
		s.hide(f)
	}
}

// hide notes that a folder was not looked into, or not to its end.
func (s *survey) hide(f folder) {
	s.unseen++
	if !s.flat {
		s.hidden[localPath(f.path)] = true
	}
}

// tooDeep passes over folders. That is as it was asked for, or a failure.
func (r *run) tooDeep(ctx context.Context, s *survey, level iter.Seq2[*mark, folder]) {
	told := r.Depth != 0
	for _, f := range level {
		s.hide(f)
		if !told {
			r.fail(ctx, f.loc.Redacted(), "", fetch.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, errDeep))
			told = true
		}
	}
}

// merge adds a listing to the survey.
func (r *run) merge(ctx context.Context, s *survey, m *mark, l *listing) {
	f := l.in
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
			r.report(Event{Action: Unsure, URL: f.loc.Redacted(), File: localPath(join(f.path, menuFile)), Size: -1, Err: errUnmarked})
		}
		r.report(Event{Action: Listed, URL: f.loc.Redacted(), Size: -1, Files: l.files})
	}
	for p := range l.skipped.packed() {
		r.report(Event{Action: Skipped, URL: p.key, File: p.id, Size: -1, Err: reasons[p.size]})
	}
	for m, e := range l.entries(r.tree) {
		again := r.manifest.see(e.url)
		if s.flat {
			path := idOf(strings.Join(e.path, "/"))
			_, taken := s.paths[path]
			s.paths[path] = struct{}{}
			again = again || taken
		}
		if !again && r.filter.file(e.path) {
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

// list lists one folder. A listing that ends early has what it had.
func (r *run) list(ctx context.Context, f folder, l *listing) error {
	*l = listing{batch: &batch{in: f}}
	if r.entries.Load() > r.maxEntries {
		return fetch.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, errMany)
	}
	return r.try(ctx, func() error {
		*l = listing{batch: &batch{in: f}}
		before := r.octets.Load()
		ctx, cancel := r.counting(ctx, max(maxListings, perEntry*r.maxEntries))
		defer cancel(nil)
		err := r.listOnce(ctx, f, l)
		if err == nil {
			err = r.pace.Wait(ctx, r.octets.Load()-before)
		}
		if err != nil && errors.Is(context.Cause(ctx), errLongListing) {
			err = fetch.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, errLongListing)
		}
		return err
	})
}

func (r *run) listOnce(ctx context.Context, f folder, l *listing) error {
	options := r.optionsOf(f.loc, func(o *ftp.Options) { o.Facts, o.More = true, true })
	res, err := r.Fetcher.Fetch(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
	if err != nil {
		return err
	}
	defer res.Close()
	if res.Items == nil {
		return fetch.Fail(fetch.OpList, f.loc, fetch.ErrUnsupported, errors.New("neither a directory nor a menu"))
	}
	l.from = f.from
	if res.Peer.IsValid() {
		// The name of the server may lead elsewhere by the next request. Through a
		// proxy that cannot be told, and a file is of no server.
		l.from = res.Origin()
	}
	if res.Kind != fetch.KindMenu {
		return r.collect(f, l, res.Items)
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
	if !r.DryRun && r.filter.file(e.path) && r.manifest.lookup(e.url).done.SHA256 != e.sum {
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
			return fetch.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge, errMany)
		}
		if item.Locator == nil {
			continue // mere text
		}
		l.plus = l.plus || plusOf(item) == "+"
		item.Locator = r.own(item.Locator)
		at, err := r.tree.place(item)
		switch {
		case err != nil:
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

// own is the locator of an item, on the server of the start if it is on an alias
// of that.
func (r *run) own(l locator.Locator) locator.Locator {
	if t, ok := r.tree.(*gopherTree); ok {
		return t.own(l)
	}
	return l
}

// storable is t, or no time if it is one that file systems may not keep.
func storable(t time.Time) time.Time {
	if year := t.UTC().Year(); year < 1980 || year > 2100 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// addDates asks a server of Gopher+ when the items of a menu were modified. That
// it does not tell is no failure.
func (r *run) addDates(ctx context.Context, f folder, l *listing) {
	tree, isGopher := r.tree.(*gopherTree)
	if !isGopher || !l.plus || r.pool.turn(ctx) != nil {
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
			dates[idOf(r.own(item.Locator).Redacted())] = item.ModTime
		}
	}
	l.date(r.tree, func(url string) time.Time { return dates[idOf(url)] })
}

func join(p []string, name string) []string { return append(p[:len(p):len(p)], name) }
