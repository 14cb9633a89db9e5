package mirror

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/mailbox"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
	"github.com/fetch1738/fetch1738/mirror/internal/selector"
)

// A run is the state of one call of Run.
type run struct {
	*Mirror
	tree       tree
	wider      *gopherTree // what earlier runs have copied with other options; nil if that is no more
	filter     filter.Filter
	pool       *pool.Pool
	pace       *pace.Pace
	depth      int
	maxEntries int64

	root     disk.Folder  // nil in a dry run without a directory
	inner    disk.Folder  // Folder; nil in a dry run
	box      *mailbox.Box // nil if each article is a file
	manifest *manifest
	naming   naming.Naming
	said     sync.Map // the changed names that were reported, by the ids of their paths

	shift   time.Duration      // by how much the server lists times later than in the previous run
	listed  bool               // the tree has been listed
	whole   bool               // no folder of it was left out
	stop    context.CancelFunc // ends the requests of do
	entries atomic.Int64       // number of entries in all listings
	octets  atomic.Int64

	mu   sync.Mutex
	sum  Summary
	err  error   // the first error
	over bool    // a failure has ended the run
	held []Event // failures that may end it
}

func newRun(m *Mirror) (*run, error) {
	t, err := treeOf(m.Start)
	if err != nil {
		return nil, err
	}
	if g, ok := t.(*gopherTree); ok {
		if err := g.alias(m.Aliases); err != nil {
			return nil, err
		}
		if !m.Parent {
			g.part = selector.Below(g.at.Selector)
		}
	}
	box, err := newBox(m, t)
	if err != nil {
		return nil, err
	}
	f, err := filter.New(m.Include, m.Exclude)
	if err != nil {
		return nil, err
	}
	return &run{
		Mirror: m, tree: t, filter: f, box: box,
		pool:       pool.New(cmp.Or(m.Connections, DefaultConnections), m.Wait),
		pace:       pace.New(m.Rate),
		depth:      max(1, cmp.Or(m.Depth, DefaultDepth)),
		maxEntries: int64(max(1, cmp.Or(m.MaxEntries, DefaultMaxEntries))),
	}, nil
}

// open opens the directory and the manifest.
func (r *run) open(ctx context.Context) (err error) {
	d := disk.Of(ctx)
	if !r.DryRun {
		if err := d.MkdirAll(r.Dir, 0o777); err != nil {
			return err
		}
	}
	r.root, err = d.OpenRoot(r.Dir)
	switch {
	case r.DryRun && errors.Is(err, fs.ErrNotExist):
		r.root = nil
	case err != nil:
		return err
	}
	if r.DryRun {
		if r.manifest, err = viewManifest(r.root); err != nil {
			if r.root != nil {
				r.root.Close()
			}
			return err
		}
		return r.begin(d)
	}
	if err = r.root.Mkdir(Folder, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
		r.inner, err = r.root.OpenRoot(Folder)
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "create", Path: r.Dir + "/" + Folder, Err: failed.Err}
	}
	if err == nil {
		r.manifest, err = openManifest(r.inner)
	}
	if err == nil {
		err = r.begin(d)
	}
	if err == nil && r.box != nil {
		err = r.openBox()
	}
	if err != nil {
		r.release()
	}
	return err
}

// release closes what open has opened.
func (r *run) release() (err error) {
	if r.manifest != nil {
		err = r.manifest.close()
	}
	if r.inner != nil {
		err = errors.Join(err, r.inner.Close())
	}
	return errors.Join(err, r.root.Close())
}

// begin records the start URL in the manifest, or checks it. Each of two trees in one directory
// would count the files of the other as gone. It also chooses how files are named.
func (r *run) begin(d disk.Disk) error {
	word := r.manifest.start.Names // also that of a run that copied nothing, but may have created folders
	at := naming.Place{Disk: d, Root: r.root, Inner: r.inner, Folder: Folder, IsCopy: !r.manifest.isEmpty() || word != "", Word: word}
	r.naming = at.Choose(r.Names.keep())
	if g, ok := r.tree.(*gopherTree); ok {
		r.wider = g.widened(r.manifest.start)
	}
	if r.DryRun {
		return nil
	}
	start, was := r.tree.start().loc.Redacted(), r.manifest.start
	if r.manifest.isEmpty() {
		was = ManifestLine{} // after a run that copied nothing, such as one with a mistyped URL
	}
	claimed := was.URL
	file := ""
	if r.box != nil {
		file = r.box.Name
	}
	first := ManifestLine{URL: start, File: file, Start: true, Names: r.naming.Word(), Size: -1, Time: now()}
	if g, ok := r.tree.(*gopherTree); ok {
		first.Parent, first.Aliases = r.Parent || was.Parent, g.names(was)
	}
	if _, isNews := r.tree.start().loc.(*locator.News); isNews {
		first.Server = r.NewsServer
	}
	switch {
	case claimed == start && was.Server != first.Server:
		return naming.Existsf("%s is a copy from the news server %q; use that, or another directory", r.Dir, was.Server)
	case claimed == start && was.File == file:
		if was.Names == first.Names && was.Parent == first.Parent && slices.Equal(was.Aliases, first.Aliases) {
			return nil
		}
		return r.manifest.add(first)
	case claimed == start:
		return naming.Existsf("%s has the articles in another form; use the same options as before, or another directory", r.Dir)
	case claimed == "":
		return r.manifest.add(first)
	}
	return naming.Existsf("%s is already a mirror of %s; use another directory, or remove %s from it", r.Dir, claimed, ManifestFile)
}

// close closes the manifest. After a complete run it also rewrites it and removes obsolete parts.
// After an interruption, or a failure that has ended the run, it leaves both alone, because the next
// run needs them.
func (r *run) close(ctx context.Context) error {
	if r.root == nil {
		return nil
	}
	var err error
	if !r.DryRun && ctx.Err() == nil && r.listed && !r.over {
		if r.whole {
			r.manifest.dropUnlisted()
		}
		err = errors.Join(r.removeParts(), r.manifest.rewrite(r.inner)) // in this order, see rewrite
	}
	return errors.Join(err, r.release())
}

// do performs the run.
func (r *run) do(outer context.Context) error {
	defer func() { r.sum.Octets = r.octets.Load() }()
	ctx, stop := context.WithCancel(outer)
	defer stop()
	r.stop = stop
	found, err := r.survey(ctx)
	if err != nil {
		_, err = pool.Unmark(err)
		r.mu.Lock()
		defer r.mu.Unlock()
		sayHeld(r)
		return cmp.Or(outer.Err(), r.err, err)
	}
	r.listed, r.whole = true, found.unseen+found.outside == 0
	files, octets := r.plan(ctx, found)
	if ctx.Err() == nil {
		r.remove(ctx, found)
		r.report(Event{Action: Planned, Size: -1, Files: files, Octets: octets})
		r.fetchAll(ctx, found)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sayHeld(r)
	return cmp.Or(outer.Err(), r.err)
}

// report counts an event and calls Report. If the error of a failure ends the run, requests that are
// under way are broken off, and none of them is a failure. A failure in doubt is held until another
// request succeeds; only if the run ends for the same reason, it is not reported.
func (r *run) report(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Action {
	case Failed:
		if r.over {
			return
		}
		var mark pool.Mark
		switch mark, e.Err = pool.Unmark(e.Err); mark {
		case pool.Doubt:
			r.held = append(r.held, e)
			return
		case pool.Ends:
			e.Ends, r.over = true, true
			r.held = slices.DeleteFunc(r.held, func(held Event) bool { return pool.SameReason(held.Err, e.Err) })
			sayHeld(r)
			r.stop()
		}
	case Listed, Added, Replaced:
		if r.pool.IsCalm() {
			sayHeld(r)
		}
	}
	say(r, e)
}

// sayHeld reports the failures that are held.
func sayHeld(r *run) {
	for _, e := range r.held {
		say(r, e)
	}
	r.held = nil
}

// say is report for an event that is certain.
func say(r *run, e Event) {
	if e.Action == Failed {
		r.err = cmp.Or(r.err, e.Err)
	}
	r.sum.count(e)
	if r.Report != nil {
		r.Report(e)
	}
}

// count counts an event.
func (s *Summary) count(e Event) {
	switch e.Action {
	case Added:
		s.New++
	case Replaced:
		s.Changed++
	case Unchanged:
		s.Unchanged++
	case Gone, Deleted:
		s.Gone++
	case Kept:
		s.Kept++
	case Skipped:
		s.Skipped++
	case Unsure:
		s.Unsure++
	case Failed:
		s.Failed++
	case Missing:
		s.Missing++
	case Renamed:
		s.Renamed++
	}
}

// fail records and reports a failure. A request that an interruption broke off is not a failure.
func (r *run) fail(ctx context.Context, url, file string, err error) {
	if ctx.Err() != nil {
		return
	}
	if logErr := r.manifest.add(ManifestLine{URL: url, File: file, Size: -1, Time: now(), Error: err.Error()}); logErr != nil {
		if mark, _ := pool.Unmark(err); mark != pool.Ends {
			err = logErr
		}
	}
	r.report(Event{Action: Failed, URL: url, File: file, Size: -1, Err: err})
}

// now returns the current time in the precision of the manifest.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// try makes a request, and retries it as Retry decides.
func (r *run) try(ctx context.Context, do func() error) error {
	for n := 0; ; n++ {
		if err := r.pool.Turn(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			r.pool.Worked()
			return nil
		}
		if mark, _ := pool.Unmark(err); mark == pool.Ends || ctx.Err() != nil || r.pool.Crowded(err) {
			return err
		}
		if r.pool.Again(err) {
			continue
		}
		if r.Retry == nil || !r.Retry(ctx, n, err) {
			return r.pool.Failed(err)
		}
	}
}

// counting returns a copy of ctx in which received bytes are counted. It is cancelled when the
// total exceeds limit, unless limit is 0.
func (r *run) counting(ctx context.Context, limit int64) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return fetch.WithTrace(ctx, &fetch.Trace{Body: func(k int64) {
		if n := r.octets.Add(k); limit > 0 && n > limit {
			cancel(errLongListing)
		}
	}}), cancel
}
