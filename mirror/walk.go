package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
	"github.com/fetch1738/fetch1738/mirror/internal/request"
)

// A walk lists the tree level by level. So the order of its entries is that of the listings, and so
// is the choice of the file that gets a name that two files claim.
type walk struct {
	lister  *lister
	naming  naming.Naming
	out     *reporter
	depth   int  // the last level that is listed
	deeper  bool // levels below it are no failure
	deletes bool // Mirror.Delete is set

	found   *survey
	open    int             // number of folders to list next
	paths   map[id]struct{} // of files; gopher can have several URLs for one file
	entered map[id]struct{} // paths of folders
	full    bool            // a limit was exceeded, and that was reported
}

// listedAtOnce is the number of folders that are listed before their listings are merged.
const listedAtOnce = 1 << 10

// listAll lists the tree. from is the provenance of its start.
func (w *walk) listAll(ctx context.Context, from fetch.Provenance) (*survey, error) {
	s := newSurvey(w.lister.tree)
	w.found, w.paths, w.entered = s, make(map[id]struct{}), make(map[id]struct{})
	start := s.tree.start()
	start.from = from
	w.enter(&s.start, start, filter.Filter{})
	level := iter.Seq2[*mark, folder](func(yield func(*mark, folder) bool) { yield(&s.start, start) })
	for depth := 1; w.open > 0; depth++ {
		if depth > w.depth {
			w.tooDeep(ctx, level)
			break
		}
		w.open = 0
		done := len(s.batches)
		for marks, folders := range chunks(level) {
			lists := make([]listing, len(folders))
			pool.Each(ctx, w.lister.requests.Pool, pool.Indices(len(folders)), func(i int, more func() bool) error {
				return w.lister.list(ctx, folders[i], &lists[i], more)
			}, func(i int, err error) {
				if meaning, _ := pool.Unmark(err); meaning == pool.Ends {
					w.out.fail(ctx, folders[i].loc.Redacted(), "", err)
				}
				lists[i].err = err
			})
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if depth == 1 && lists[0].err != nil && lists[0].files == 0 {
				w.out.fail(ctx, start.loc.Redacted(), "", pool.Over(lists[0].err))
				return nil, lists[0].err
			}
			for i := range lists {
				w.merge(ctx, marks[i], &lists[i])
			}
		}
		level = opened(s.tree, s.batches[done:])
	}
	return s, nil
}

// opened yields the folders of batches that are to be listed.
func opened(t tree, batches []*batch) iter.Seq2[*mark, folder] {
	return func(yield func(*mark, folder) bool) {
		for _, b := range batches {
			for m, f := range b.folders(t) {
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
func (w *walk) enter(m *mark, f folder, only filter.Filter) {
	path := idOf(strings.Join(f.path, "/"))
	if _, again := w.entered[path]; again {
		return
	}
	w.entered[path] = struct{}{}
	if only.Dir(f.path) {
		*m |= isOpen
		w.open++
	} else {
		w.found.hide(f)
	}
}

// tooDeep skips the folders of a level. That is a failure unless Mirror.Depth was set.
func (w *walk) tooDeep(ctx context.Context, level iter.Seq2[*mark, folder]) {
	reported := w.deeper
	for _, f := range level {
		w.found.hide(f)
		if !reported {
			w.out.fail(ctx, f.loc.Redacted(), "", driver.Fail(fetch.OpList, f.loc, fetch.ErrTooLarge,
				fmt.Errorf("more than %d levels below the start URL; Mirror.Depth raises the limit", w.depth)))
			reported = true
		}
	}
}

// merge adds a listing to the survey.
func (w *walk) merge(ctx context.Context, m *mark, l *listing) {
	s, f := w.found, l.in
	url := f.loc.Redacted()
	switch {
	case l.loop == errLink:
		s.hide(f)
		w.skip(f, errLink)
		return
	case l.loop != nil:
		s.hide(f)
		w.out.fail(ctx, url, "", l.loop)
		return
	case l.err != nil:
		s.hide(f)
		if !w.full {
			w.out.fail(ctx, url, "", l.err)
		}
		w.full = w.full || errors.Is(l.err, errMany) || errors.Is(l.err, request.ErrLongListing)
	default:
		*m |= isListed
		w.doubt(ctx, l)
		w.out.report(Event{Action: Listed, URL: url, Size: -1, Files: l.files})
	}
	s.outside += l.outside
	for p := range l.skipped.packed() {
		w.out.report(Event{Action: Skipped, URL: p.key, File: p.id, Size: -1, Err: reasons[p.size]})
	}
	for m, e := range l.entries(s.tree) {
		again := w.lister.manifest.markSeen(e.url)
		if s.flat {
			path := idOf(strings.Join(e.path, "/"))
			_, taken := w.paths[path]
			w.paths[path] = struct{}{}
			again = again || taken
		}
		if !again && w.lister.filter.File(e.path) {
			*m |= isWanted
		}
	}
	for m, f := range l.folders(s.tree) {
		w.enter(m, f, w.lister.filter)
	}
	if len(l.blocks) > 0 || l.menu != nil {
		s.batches = append(s.batches, l.batch)
	}
}

// doubt hides and reports a folder whose listing may lack files.
func (w *walk) doubt(ctx context.Context, l *listing) {
	s, f := w.found, l.in
	if l.end == unmarked {
		s.hide(f)
		s.unmarked++
		w.out.report(Event{Action: Unsure, URL: f.loc.Redacted(), File: w.naming.Path(join(f.path, menuFile)), Size: -1, Err: errUnmarked})
	}
	if l.unread != nil {
		s.hide(f)
		w.out.fail(ctx, f.loc.Redacted(), "", l.unread)
	} else if l.cut {
		s.hide(f)
		w.skip(f, ErrCut)
	}
	if l.why != nil {
		s.hide(f)
		if w.deletes {
			w.skip(f, l.why)
		}
	}
	if l.hides {
		s.dotless[keyOf(f.path)] = true
	}
}

// skip reports that a folder is skipped, or that nothing is deleted in it.
func (w *walk) skip(f folder, why error) {
	w.out.report(Event{Action: Skipped, URL: f.loc.Redacted(), File: w.naming.Path(f.path), Size: -1, Err: why})
}
