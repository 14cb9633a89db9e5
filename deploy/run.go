package deploy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

var (
	errIncomplete   = errors.New("deploy: Fetcher, Dir and Start must be set")
	errCannotUpload = errors.New("deploy: the Fetcher must implement Replacer, Updater, Editor and AttributeFinder")
)

// A run is what the steps of one Run share.
type run struct {
	*Upload
	server    *server
	journal   *journal
	written   *written
	root      folder
	selection selection
	order     []filter.Filter
	refusals  pool.Refusals
}

// Run brings the files to the server. It may be called repeatedly. A failed file does not stop the
// others, unless nothing else can succeed either; see [Event].Ends. Run returns the first error that
// occurred; errors about a resource are of type *[fetch.Error]. If ctx is done, Run stops soon and
// returns the error of ctx. It is an error to start a run while another one brings the same Dir to
// the same Start.
func (u *Upload) Run(ctx context.Context) (sum Summary, err error) {
	if u.Fetcher == nil || u.Start == nil || u.Dir == "" {
		return Summary{}, errIncomplete
	}
	to, ok := u.Fetcher.(site.Server)
	if !ok {
		return Summary{}, errCannotUpload
	}
	chosen, err := newSelection(u)
	if err != nil {
		return Summary{}, err
	}
	with := *u
	with.MaxEntries = max(1, cmp.Or(u.MaxEntries, DefaultMaxEntries))
	r := &run{Upload: &with, selection: chosen, server: &server{
		Site:  site.Site{Server: to, From: u.From, Options: u.Options, MaxEntries: with.MaxEntries},
		pool:  pool.New(cmp.Or(u.Connections, DefaultConnections), u.Wait),
		retry: u.Retry,
	}}
	for _, pattern := range u.Order {
		group, err := filter.New([]string{pattern}, nil)
		if err != nil {
			return Summary{}, err
		}
		r.order = append(r.order, group)
	}
	if err := r.server.SetStart(u.Start); err != nil {
		return Summary{}, err
	}
	var octets atomic.Int64
	requests, stop := context.WithCancel(fetch.WithTrace(ctx, &fetch.Trace{Body: func(k int64) { octets.Add(k) }}))
	defer stop()
	isCalm := func() bool { return r.server.pool.IsCalm() && r.refusals.AreNone() }
	r.journal = newJournal(&r.server.Site, pool.NewReporter(func(e Event) {
		if sum.count(e); u.Report != nil {
			u.Report(e)
		}
	}, isCalm, stop))
	_, err = pool.Unmark(r.open(ctx, requests))
	sum.Octets = octets.Load()
	return sum, err
}

// open opens the folder and the state, and performs the run.
func (r *run) open(outer, ctx context.Context) (err error) {
	d := disk.Of(ctx)
	root, err := d.OpenRoot(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	r.root.Folder = root
	place := state.Place{File: r.State, Dir: r.StateDir, Tree: r.Dir}
	known, err := state.Open(d, root, place, r.server.Key(), r.DryRun)
	if err != nil {
		return err
	}
	if known.Note != "" {
		r.journal.note("%s", known.Note)
	}
	r.written = &written{State: known, journal: r.journal}
	err = r.do(outer, ctx)
	closeErr := known.Close(err == nil && outer.Err() == nil && r.written.changed.Load())
	return cmp.Or(err, closeErr)
}

// do performs the run: it reads the folder and the server, compares them, and sends what differs.
func (r *run) do(outer, ctx context.Context) (err error) {
	if r.selection.ignored, err = readIgnore(r.root); err != nil {
		return err
	}
	w := walker{Upload: r.Upload, journal: r.journal, selection: r.selection, root: r.root, isAside: r.written.IsAside, maxDepth: max(1, cmp.Or(r.Depth, DefaultDepth))}
	here, err := w.walk(ctx)
	if err != nil {
		return err
	}
	there := &listing{server: r.server, journal: r.journal, dryRun: r.DryRun, dirs: make(map[string]site.Directory), unlisted: make(map[string]bool)}
	shared := &remoteState{listing: there, written: r.written, name: r.RemoteState}
	if err := shared.read(ctx); err != nil {
		return err
	}
	if err := there.survey(ctx, r.written.places(here, r.selection)); err != nil {
		return cmp.Or(outer.Err(), r.journal.Flush(), err)
	}
	h := r.hidden(here, there)
	if there.Web {
		there.lookAll(ctx, here.files)
	} else {
		h.ask(ctx)
	}
	c := &comparer{listing: there, written: r.written, contents: h.contents, start: r.Start, newOnly: r.NewOnly, shift: findShift(there, r.written.All())}
	d := c.compareAll(ctx, here.files)
	clean := &cleaner{comparer: c, selection: r.selection, tree: here, root: r.root, deletes: r.Delete, maxDelete: r.MaxDelete}
	if r.DryRun {
		r.foretell(d)
		clean.clean(ctx)
		return r.end(outer, here, nil)
	}
	send := r.scheduler(there, h.contents)
	all := slices.Concat(d.fresh, d.changed)
	r.journal.Tell(Event{Action: Planned, Size: -1, Files: len(all), Octets: d.octets})
	made := (&maker{listing: there, written: r.written}).makeDirs(ctx, here)
	send.send(ctx, d)
	(&verifier{listing: there, sender: send.sender, hidden: h, files: here.files}).verify(ctx, all, made)
	clean.clean(ctx)
	shared.write(ctx, send.sendOne)
	deleteParts(ctx, send.placer, here)
	return r.end(outer, here, all)
}

// hidden returns what asks for the files that listings do not show.
func (r *run) hidden(here *tree, there *listing) *hidden {
	h := &hidden{listing: there, files: here.files, contents: &contents{server: r.server, journal: r.journal, root: r.root, checksums: r.Checksums}}
	for _, rec := range r.written.All() {
		if !rec.Dir && !r.selection.isExcluded(rec.File, false) {
			h.sent = append(h.sent, rec.File)
		}
	}
	return h
}

// scheduler returns what sends files.
func (r *run) scheduler(there *listing, c *contents) *scheduler {
	s := &sender{server: r.server, journal: r.journal, written: r.written, contents: c, refusals: &r.refusals, pace: pace.New(r.Rate), dir: r.Dir}
	return &scheduler{placer: &placer{sender: s, listing: there, modes: r.Modes}, order: r.order}
}

// foretell reports what a run would send.
func (r *run) foretell(d *differences) {
	say := func(a Action, files []*file) {
		for _, f := range files {
			r.journal.Worked(r.journal.of(a, f))
		}
	}
	say(Added, d.fresh)
	say(Replaced, d.changed)
	say(Checked, d.unsure)
}

// end reports what is missing of the tree, and of the files that were to be sent. It returns the
// error of the run.
func (r *run) end(ctx context.Context, here *tree, sent []*file) error {
	r.journal.Flush()
	wanted := make(map[*file]bool)
	for _, f := range sent {
		wanted[f] = true
	}
	for _, f := range here.files {
		if f.failed || wanted[f] && !f.placed {
			r.journal.Tell(r.journal.of(Missing, f))
		}
	}
	return cmp.Or(ctx.Err(), r.journal.Flush())
}
