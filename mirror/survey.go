package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Bounds in octets: of all listings together, for each entry that they may have,
// and of a menu, which is kept.
const (
	maxListings = 256 << 20
	perEntry    = 256
	maxMenu     = 16 << 20
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

// A survey is what there is.
type survey struct {
	files   []*entry
	folders [][]string
	seen    map[string]bool // URLs of files, wanted or not
	paths   map[string]bool // of the same; gopher has many URLs for one
	entered map[string]bool // paths of folders
	// unseen are the paths of folders that were not looked into; of a gopher hole,
	// where paths say nothing about what leads where, any of them hides all.
	unseen   [][]string
	unmarked int  // menus among these that were read, but whose end is not marked
	full     bool // there are more entries than are wanted, which is told once
}

// A listing is what one folder has.
type listing struct {
	entries []*entry
	folders []folder
	skipped []Event
	plus    bool // the server knows Gopher+
	end     ending
	err     error
}

// survey lists the tree, level by level, so that its order, and with it what
// names are given when two claim the same, is that of the listings.
func (r *run) survey(ctx context.Context) (*survey, error) {
	s := &survey{seen: make(map[string]bool), paths: make(map[string]bool), entered: make(map[string]bool)}
	start := r.tree.start()
	start.from = r.From
	s.enter([]folder{start}, filter{})
	for level, depth := []folder{start}, 1; len(level) > 0; depth++ {
		if depth > r.depth {
			r.tooDeep(ctx, s, level)
			break
		}
		lists := make([]listing, len(level))
		r.pool.each(ctx, len(level), func(i int) error { return r.list(ctx, level[i], &lists[i]) },
			func(i int, err error) { lists[i].err = err })
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if depth == 1 && lists[0].err != nil && len(lists[0].entries) == 0 {
			r.fail(ctx, start.loc.Redacted(), "", lists[0].err)
			return nil, lists[0].err
		}
		var next []folder
		for i := range lists {
			r.merge(ctx, s, level[i], &lists[i])
			next = append(next, s.enter(lists[i].folders, r.filter)...)
		}
		level = next
	}
	return s, nil
}

// enter are those folders that are to be listed: no folder twice, whatever leads
// to it.
func (s *survey) enter(folders []folder, f filter) (list []folder) {
	for _, folder := range folders {
		path := strings.Join(folder.path, "/")
		switch {
		case s.entered[path]:
			continue
		case f.dir(folder.path):
			list = append(list, folder)
		default:
			s.unseen = append(s.unseen, folder.path)
		}
		s.entered[path] = true
	}
	return list
}

// tooDeep passes over folders. That is as it was asked for, or a failure.
func (r *run) tooDeep(ctx context.Context, s *survey, level []folder) {
	for _, f := range level {
		s.unseen = append(s.unseen, f.path)
	}
	if r.Depth == 0 {
		r.fail(ctx, level[0].loc.Redacted(), "", fetch.Fail("list", level[0].loc, fetch.TooLarge, errDeep))
	}
}

// merge adds a listing to the survey.
func (r *run) merge(ctx context.Context, s *survey, f folder, l *listing) {
	if l.err != nil {
		s.unseen = append(s.unseen, f.path)
		if !s.full {
			r.fail(ctx, f.loc.Redacted(), "", l.err)
		}
		s.full = s.full || errors.Is(l.err, errMany) || errors.Is(l.err, errLongListing)
	} else {
		s.folders = append(s.folders, f.path)
		if l.end == unmarked {
			s.unseen = append(s.unseen, f.path)
			s.unmarked++
			r.report(Event{Action: Unsure, URL: f.loc.Redacted(), File: localPath(join(f.path, menuFile)), Size: -1, Err: errUnmarked})
		}
		r.report(Event{Action: Listed, URL: f.loc.Redacted(), Size: -1, Files: len(l.entries)})
	}
	for _, e := range l.skipped {
		r.report(e)
	}
	for _, e := range l.entries {
		path := strings.Join(e.path, "/")
		again := s.seen[e.url] || s.paths[path]
		s.seen[e.url], s.paths[path] = true, true
		if !again && r.filter.file(e.path) {
			s.files = append(s.files, e)
		}
	}
}

// list lists one folder. A listing that ends early has what it had.
func (r *run) list(ctx context.Context, f folder, l *listing) error {
	if r.entries.Load() > r.maxEntries {
		return fetch.Fail("list", f.loc, fetch.TooLarge, errMany)
	}
	return r.try(ctx, func() error {
		*l = listing{}
		before := r.octets.Load()
		ctx, cancel := r.counting(ctx, max(maxListings, perEntry*r.maxEntries))
		defer cancel(nil)
		err := r.listOnce(ctx, f, l)
		if err == nil {
			err = r.pace.Wait(ctx, r.octets.Load()-before)
		}
		if err != nil && errors.Is(context.Cause(ctx), errLongListing) {
			err = fetch.Fail("list", f.loc, fetch.TooLarge, errLongListing)
		}
		return err
	})
}

func (r *run) listOnce(ctx context.Context, f folder, l *listing) error {
	options := r.optionsOf(f.loc, func(o *ftp.Options) { o.Facts = true })
	res, err := r.Fetcher.Fetch(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
	if err != nil {
		return err
	}
	defer res.Close()
	if res.Items == nil {
		return fetch.Fail("list", f.loc, fetch.Unsupported, errors.New("neither a directory nor a menu"))
	}
	from := f.from
	if res.Peer.IsValid() {
		// The name of the server may lead elsewhere by the next request. Through a
		// proxy that cannot be told, and a file is of no server.
		from = res.Origin()
	}
	if res.Kind != fetch.KindMenu {
		return r.collect(f, l, from, res.Items)
	}
	var menu bytes.Buffer
	items, err := gopher.Menu(io.TeeReader(io.LimitReader(res.Body, maxMenu+1), &menu), f.loc, fetch.Limits{})
	if err != nil {
		return err
	}
	if err := r.collect(f, l, from, items); err != nil {
		return err
	}
	if menu.Len() > maxMenu {
		return fetch.Fail("list", f.loc, fetch.TooLarge, errLongListing)
	}
	e := r.menuEntry(f, menu.Bytes())
	if l.end, e.end = endOf(res), endOf(res); l.end == unmarked {
		err = r.confirm(f.loc, r.manifest.lookup(e.url).done, e.size, e.sum, func() (string, error) {
			return r.digestOf(ctx, &fetch.Request{Locator: f.loc, From: f.from, Options: options})
		})
		if err != nil {
			return err
		}
	}
	r.addDates(ctx, f, l)
	l.entries = append(l.entries, e)
	return r.keep(e, menu.Bytes())
}

// menuEntry is the entry of a menu.
func (r *run) menuEntry(f folder, menu []byte) *entry {
	sum := sha256.Sum256(menu)
	return &entry{
		loc: f.loc, from: f.from, url: f.loc.Redacted(), path: join(f.path, menuFile), size: int64(len(menu)), sum: hex.EncodeToString(sum[:]),
	}
}

// keep makes the octets of a menu the part of its file, unless the file has them
// already.
func (r *run) keep(e *entry, menu []byte) error {
	if r.DryRun || !r.filter.file(e.path) || r.manifest.lookup(e.url).done.SHA256 == e.sum {
		return nil
	}
	e.kept = true
	return r.root.WriteFile(partName(e.url), menu, 0o666)
}

// collect sorts the items of a listing.
func (r *run) collect(f folder, l *listing, from fetch.Provenance, items iter.Seq2[fetch.Item, error]) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		if r.entries.Add(1) > r.maxEntries {
			return fetch.Fail("list", f.loc, fetch.TooLarge, errMany)
		}
		if item.Locator == nil {
			continue // mere text
		}
		l.plus = l.plus || plusOf(item) == "+"
		at, err := r.tree.place(item)
		switch {
		case err != nil:
			name := strings.Join(append(f.path[:len(f.path):len(f.path)], item.Name), "/")
			l.skipped = append(l.skipped, Event{Action: Skipped, URL: item.Locator.Redacted(), File: name, Size: -1, Err: err})
		case at.dir:
			l.folders = append(l.folders, folder{loc: item.Locator, from: from, path: at.path})
		default:
			l.entries = append(l.entries, &entry{
				loc: item.Locator, from: from, url: item.Locator.Redacted(), path: at.path,
				size: item.Size, modified: storable(item.ModTime), id: at.id,
			})
		}
	}
	return nil
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
	all := attributesOf(f.loc)
	if all == nil || !l.plus || r.pool.turn(ctx) != nil {
		return
	}
	res, err := r.Fetcher.Fetch(ctx, &fetch.Request{Locator: all, From: f.from, Options: r.Options})
	if err != nil {
		return
	}
	defer res.Close()
	dates := make(map[string]time.Time)
	if res.Items == nil {
		return
	}
	for item, err := range res.Items {
		if err != nil || len(dates) > len(l.entries) {
			break
		}
		if item.Locator != nil {
			dates[item.Locator.Redacted()] = item.ModTime
		}
	}
	for _, e := range l.entries {
		e.modified = storable(dates[e.url])
	}
}

func join(p []string, name string) []string { return append(p[:len(p):len(p)], name) }
