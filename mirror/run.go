package mirror

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
	"github.com/fetch1738/fetch1738/mirror/internal/mailbox"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
	"github.com/fetch1738/fetch1738/mirror/internal/request"
	"github.com/fetch1738/fetch1738/mirror/internal/selector"
)

// The limit in bytes of all listings together, menus included, is the greater of maxListings and
// perEntry times the maximum number of entries.
const (
	maxListings = 256 << 20
	perEntry    = 256
)

// A run is one call of Mirror.Run.
type run struct {
	*Mirror
	tree     tree
	wider    *gopherTree  // what earlier runs have copied with other options; nil if that is no more
	box      *mailbox.Box // nil if each article is a file
	filter   filter.Filter
	dir      *local.Dir
	manifest *manifest
	naming   naming.Naming
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
			g.within = selector.Below(g.at.Selector)
		}
	}
	box, err := newBox(m.Mailbox, m.Start, t, m.Delete)
	if err != nil {
		return nil, err
	}
	f, err := filter.New(m.Include, m.Exclude)
	if err != nil {
		return nil, err
	}
	return &run{Mirror: m, tree: t, filter: f, box: box}, nil
}

// openRun opens the directory, the manifest and the mailbox of a run.
func openRun(ctx context.Context, m *Mirror) (*run, error) {
	r, err := newRun(m)
	if err != nil {
		return nil, err
	}
	if r.dir, err = local.Open(disk.Of(ctx), m.Dir, m.DryRun); err != nil {
		return nil, err
	}
	if m.DryRun {
		r.manifest, err = viewManifest(r.dir.Root)
	} else {
		r.manifest, err = openManifest(r.dir.Inner)
	}
	if err == nil {
		err = r.begin()
	}
	if err == nil && r.box != nil && !m.DryRun {
		err = openBox(r.box, r.dir, r.manifest)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close closes what openRun has opened.
func (r *run) close() (err error) {
	if r.manifest != nil {
		err = r.manifest.close()
	}
	return errors.Join(err, r.dir.Close())
}

// begin records the start URL in the manifest, or checks it. Each of two trees in one directory
// would count the files of the other as gone. It also chooses how files are named.
func (r *run) begin() error {
	word := r.manifest.start.Names // also that of a run that copied nothing, but may have created folders
	at := naming.Place{Disk: r.dir.Disk, Root: r.dir.Root, Inner: r.dir.Inner, Folder: Folder, IsCopy: !r.manifest.isEmpty() || word != "", Word: word}
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
	first := ManifestLine{URL: start, File: file, Size: -1, Time: now(), ManifestStart: ManifestStart{Start: true, Names: r.naming.Word()}}
	if g, ok := r.tree.(*gopherTree); ok {
		first.Parent, first.Aliases = r.Parent || was.Parent, g.allAliases(was)
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

// perform performs the run.
func (r *run) perform(outer context.Context) (Summary, error) {
	ctx, stop := context.WithCancel(outer)
	defer stop()
	entries := int64(max(1, cmp.Or(r.MaxEntries, DefaultMaxEntries)))
	q := &request.Sender{
		Fetcher: r.Fetcher, Options: r.Options, Hidden: !r.NoHidden, Retry: r.Retry,
		Pool: pool.New(cmp.Or(r.Connections, DefaultConnections), r.Wait), Pace: pace.New(r.Rate),
		Listings: max(maxListings, perEntry*entries),
	}
	out := newReporter(r.Report, r.manifest, q.Pool, stop)
	w := &walk{
		lister: &lister{requests: q, tree: r.tree, wider: r.wider, filter: r.filter, dir: r.dir, manifest: r.manifest, max: entries},
		naming: r.naming, out: out, depth: max(1, cmp.Or(r.Depth, DefaultDepth)), deeper: r.Depth != 0, deletes: r.Delete,
	}
	found, err := w.listAll(ctx, r.From)
	whole := false
	if err == nil {
		whole = r.update(ctx, found, q, out)
	} else {
		_, err = pool.Unmark(err)
	}
	err = cmp.Or(outer.Err(), out.events.Flush(), err)
	out.sum.Octets = q.Octets.Load()
	if found != nil && !out.events.IsOver() && outer.Err() == nil && !r.DryRun {
		err = cmp.Or(err, r.tidy(whole))
	}
	return out.sum, err
}

// update brings the copy up to date with what was found. It reports whether all files are known that
// are no longer in the tree.
func (r *run) update(ctx context.Context, found *survey, q *request.Sender, out *reporter) (whole bool) {
	n := &namer{Naming: r.naming, box: r.box, manifest: r.manifest, out: out}
	c := &comparison{
		found: found, dir: r.dir, manifest: r.manifest, names: n, out: out,
		newOnly: r.NewOnly, folders: len(r.Include) == 0,
	}
	files, octets := c.markChanged(ctx)
	d := &deletion{tree: r.tree, wider: r.wider, dir: r.dir, manifest: r.manifest, out: out, delete: r.Delete, max: r.MaxDelete}
	if ctx.Err() == nil {
		d.remove(ctx, found)
		out.report(Event{Action: Planned, Size: -1, Files: files, Octets: octets})
		(&copier{requests: q, dir: r.dir, manifest: r.manifest, names: n, out: out, whole: r.Whole}).fetchAll(ctx, found)
	}
	return found.unseen+found.outside == 0 && !d.keptFiles
}

// tidy rewrites the manifest, and removes the parts that are not in it. After an interruption, or a
// failure that has ended the run, both are left alone, because the next run needs them. whole says
// that what is not marked as seen is no longer in the tree.
func (r *run) tidy(whole bool) error {
	if whole {
		r.manifest.dropUnlisted()
	}
	return errors.Join(r.dir.RemoveParts(r.manifest.parts()), r.manifest.rewrite(r.dir.Inner)) // in this order, see rewrite
}
