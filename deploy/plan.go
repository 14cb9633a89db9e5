package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A plan says what to send.
type plan struct {
	fresh, changed []*file
	files          int
	octets         int64
	checks         []*file // whose content has to be compared with that on the server; in a dry run only
}

// survey lists the directories of the server that the tree has, or that a run has created. Others
// are not looked at.
func (r *run) survey(ctx context.Context) error {
	if r.site.Web {
		return nil
	}
	wanted := map[int][]string{}
	for dir := range r.places() {
		if dir != "." {
			depth := strings.Count(dir, "/")
			wanted[depth] = append(wanted[depth], dir)
		}
	}
	if err := r.listTop(ctx); err != nil {
		return err
	}
	for depth := 0; len(wanted[depth]) > 0; depth++ {
		var dirs []string
		for _, dir := range wanted[depth] {
			if above, ok := r.remote[path.Dir(dir)]; ok && (above.Entries[path.Base(dir)].Dir || !above.IsWhole() || path.Base(dir)[0] == '.') {
				dirs = append(dirs, dir)
			}
		}
		slices.Sort(dirs)
		r.listAll(ctx, dirs)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// places yields the paths of all directories of the tree and of the state.
func (r *run) places() map[string]bool {
	all := make(map[string]bool)
	for dir := range r.local {
		all[dir] = true
	}
	for _, rec := range r.state.All() {
		dir := rec.File
		if !rec.Dir {
			dir = path.Dir(dir)
		}
		for ; dir != "." && !all[dir] && !r.isExcluded(dir, true); dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	return all
}

// listTop lists the directory of the URL, once.
func (r *run) listTop(ctx context.Context) error {
	if _, ok := r.remote["."]; ok {
		return nil
	}
	top, err := r.listStart(ctx)
	if err != nil {
		r.fail(ctx, ".", true, pool.Over(err))
		return err
	}
	r.remote["."] = top
	return nil
}

// listStart lists the directory of the URL. If it does not exist, it is created, but for a dry run.
func (r *run) listStart(ctx context.Context) (d site.Directory, err error) {
	list := func() error { d, err = r.site.List(ctx, nil); return err }
	err = r.try(ctx, list)
	if errors.Is(err, fs.ErrNotExist) || isRefused(err) {
		if r.DryRun {
			return site.Directory{}, nil
		}
		err = r.try(ctx, func() error { d, err = r.site.Create(ctx); return err })
	}
	if err == nil {
		r.report(Event{What: Listed, URL: r.site.URL(nil, true), Size: -1, Files: d.Files()})
	}
	return d, err
}

// listAll lists directories, several at once.
func (r *run) listAll(ctx context.Context, dirs []string) {
	lists := make([]*site.Directory, len(dirs))
	pool.Each(ctx, r.Pool, pool.Indices(len(dirs)), func(i int, _ func() bool) error {
		return r.try(ctx, func() error {
			d, err := r.site.List(ctx, components(dirs[i]))
			if err == nil {
				lists[i] = &d
				r.report(Event{What: Listed, URL: r.site.URL(components(dirs[i]), true), Size: -1, Files: d.Files()})
			}
			return err
		})
	}, func(i int, err error) {
		if t, _ := r.entryOf(dirs[i]); t.Dir || !errors.Is(err, fs.ErrNotExist) {
			r.fail(ctx, dirs[i], true, err)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.unlisted[dirs[i]] = true
		}
	})
	for i, d := range lists {
		if d != nil {
			r.remote[dirs[i]] = *d
		}
	}
}

// plan compares the tree with the server and the state.
func (r *run) plan(ctx context.Context) *plan {
	p := &plan{}
	var checks []*file
	if r.site.Web {
		r.statAll(ctx, r.files)
	} else {
		r.findHidden(ctx)
	}
	r.shift = r.findShift()
	for _, f := range r.files {
		if f.failed {
			continue
		}
		switch r.compare(ctx, f) {
		case toSend:
			p.add(f)
		case toCheck:
			checks = append(checks, f)
		}
	}
	if r.DryRun {
		p.checks = checks
	} else {
		r.checkAll(ctx, checks, p)
	}
	p.files = len(p.fresh) + len(p.changed)
	return p
}

func (p *plan) add(f *file) {
	p.octets += f.size
	if f.isNew {
		p.fresh = append(p.fresh, f)
	} else {
		p.changed = append(p.changed, f)
	}
}

// A comparison is the result of compare.
type comparison uint8

const (
	same comparison = iota // reported, or failed
	toSend
	toCheck // the content on the server decides
)

// entryOf returns what the server has under the path of a file.
func (r *run) entryOf(name string) (site.Entry, bool) {
	t, ok := r.remote[path.Dir(name)].Entries[path.Base(name)]
	return t, ok
}

// compare decides what to do with a file by the listing and the state. The local content is read
// only if its time has changed since it was sent, or may change within the precision of the time.
func (r *run) compare(ctx context.Context, f *file) comparison {
	if i := strings.IndexAny(f.path, "\r\n\x00"); i >= 0 {
		f.failed = true
		r.report(Event{What: Failed, File: f.path, URL: r.site.URL(nil, true), Size: f.size,
			Err: driver.Fail(fetch.OpCheck, r.Start, fetch.ErrBadURL, fmt.Errorf("%q: a name with the byte %02X cannot be sent", f.path, f.path[i]))})
		return same
	}
	t, ok := r.entryOf(f.path)
	rec, sent := r.state.Known(f.path)
	if f.isNew = !ok; f.isNew {
		return toSend
	}
	if t.Dir && !(t.Other && f.link != "") || t.Other && f.link == "" {
		f.failed = true
		r.fail(ctx, f.path, false, driver.Fail(fetch.OpMirror, r.site.At(components(f.path), false), fetch.ErrExists, errors.New("the server has a directory, link or device of this name; it is not replaced")))
		return same
	}
	switch {
	case r.NewOnly, f.link != "" && t.Other:
		r.unchanged(f)
		return same
	case t.Size >= 0 && t.Size != f.size:
		return toSend
	case sent && rec.Size == f.size:
		if rec.Modified.Equal(f.modified) && rec.Time.Sub(f.modified) > racy {
			f.sum = rec.SHA256
		} else if err := r.sumOf(f); err != nil {
			f.failed = true
			r.fail(ctx, f.path, false, err)
			return same
		}
		switch {
		case f.sum != rec.SHA256:
			return toSend
		case t.Size >= 0 && r.isAsSent(rec, t, f) && !r.Checksums && !r.state.Unfinished(f.path):
			r.remember(f, t)
			r.unchanged(f)
			return same
		}
	case !sent && t.Size == f.size && r.comparable(f) && t.Modified.Equal(f.modified.UTC().Truncate(time.Second)) && !r.Checksums:
		if r.sumOf(f) == nil && !r.DryRun {
			r.remember(f, t)
		}
		r.unchanged(f)
		return same
	}
	return toCheck
}

// racy is how long after its modification a file may be modified again without another time.
const racy = 2 * time.Second

// isAsSent reports whether the server lists a file as it did when a run sent it.
func (r *run) isAsSent(rec state.Record, t site.Entry, f *file) bool {
	if t.Size >= 0 && t.Size != rec.Size || rec.SHA256 == "" {
		return false
	}
	if !rec.Stored.IsZero() {
		return t.Modified.Equal(rec.Stored)
	}
	return t.Modified.IsZero() && r.hidden(f.path) || r.comparable(f) && t.Modified.Equal(rec.Modified.UTC().Truncate(time.Second))
}

// findShift returns by how much the server lists times later than it did after the files were sent.
func (r *run) findShift() time.Duration {
	var shift site.Shift
	for _, rec := range r.state.All() {
		t, ok := r.entryOf(rec.File)
		if ok && !rec.Dir && rec.Size == t.Size && !r.site.Web && !r.remote[path.Dir(rec.File)].Exact {
			shift.Add(rec.Stored, t.Modified)
		}
	}
	return shift.By()
}

// skew is by how much the clock of a server may be ahead.
const skew = 10 * time.Minute

// isShifted reports whether a file has another time in the listing only because the server lists
// other times for all files. It must not have been written since it was sent: its time is long before
// that in any time zone, or the server says so in UTC (MDTM).
func (r *run) isShifted(ctx context.Context, rec state.Record, t site.Entry) bool {
	exact := r.remote[path.Dir(rec.File)].Exact
	if r.shift == 0 || exact || rec.SHA256 == "" || rec.Size != t.Size || t.Modified.Sub(rec.Stored) != r.shift {
		return false
	}
	if site.IsBefore(t.Modified, rec.Time) {
		return true
	}
	now, ok, err := r.site.Look(ctx, components(rec.File))
	if err != nil || !ok || t.Modified.Sub(now.Modified).Abs() < time.Minute { // MDTM may have local times, too
		return false
	}
	return site.IsInUTC(t.Modified, now.Modified) && now.Modified.Before(rec.Time.Add(skew))
}

// isOnlyShifted is isShifted for a file that is still the one that was sent.
func (r *run) isOnlyShifted(ctx context.Context, f *file) bool {
	rec, sent := r.state.Known(f.path)
	t, _ := r.entryOf(f.path)
	return sent && f.sum == rec.SHA256 && !r.Checksums && !r.state.Unfinished(f.path) && r.isShifted(ctx, rec, t)
}

// comparable reports whether times in the listing are those of files, in UTC to the second.
func (r *run) comparable(f *file) bool { return r.remote[f.dir()].Exact }

// unchanged reports a file that need not be sent.
func (r *run) unchanged(f *file) {
	f.placed = true
	r.report(Event{What: Unchanged, File: f.path, URL: r.site.URL(components(f.path), false), Size: f.size})
}

// remember records what is known about a complete file, if that is new.
func (r *run) remember(f *file, t site.Entry) {
	rec := state.Record{
		URL: r.site.URL(components(f.path), false), File: f.path, Size: f.size, Modified: f.modified, Stored: t.Modified, SHA256: f.sum,
	}
	old, ok := r.state.Known(f.path)
	rec.Found = old.Found || !ok && !r.state.Unfinished(f.path)
	stale := old.Time.Sub(f.modified) <= racy && time.Since(f.modified) > racy // its next line will be believed without reading the file
	if ok && !stale && old.SHA256 == rec.SHA256 && old.Modified.Equal(rec.Modified) && old.Stored.Equal(rec.Stored) {
		return
	}
	r.record(rec)
}

// record adds a line to the state. An error of that ends the run: a later one would not know what this
// one has sent.
func (r *run) record(rec state.Record) {
	r.recorded.Store(true)
	if err := r.state.Add(rec); err != nil {
		r.report(Event{What: Failed, File: rec.File, URL: rec.URL, Size: -1, Err: pool.Over(err)})
	}
}

// checkAll compares the content of files with that on the server, and adds those that differ to p.
func (r *run) checkAll(ctx context.Context, files []*file, p *plan) {
	differs := make([]bool, len(files))
	pool.Each(ctx, r.Pool, pool.Indices(len(files)), func(i int, _ func() bool) error {
		f := files[i]
		e := Event{What: Started, File: f.path, local: f.local, URL: r.site.URL(components(f.path), false), Size: f.size}
		err := r.try(ctx, func() (err error) {
			e.What = Started
			r.report(e)
			if !r.isOnlyShifted(ctx, f) {
				ctx, part := watch(ctx, r, f, 0)
				defer part.End()
				differs[i], err = r.differsFrom(ctx, f, path.Base(f.path))
			}
			return err
		})
		if e.What = Checked; err == nil {
			r.report(e)
		}
		return err
	}, func(i int, err error) {
		files[i].failed = true
		r.fail(ctx, files[i].path, false, err)
	})
	for i, f := range files {
		switch {
		case f.failed || ctx.Err() != nil:
		case differs[i]:
			f.sum = "" // with Checksums it may be that of older content
			p.add(f)
		default:
			t, _ := r.entryOf(f.path)
			if r.sumOf(f) == nil {
				r.remember(f, t)
			}
			r.unchanged(f)
		}
	}
}

// differsFrom compares a file with that which the server has under a name in its directory, by a
// checksum if the server has one and that is wanted, else by its bytes.
func (r *run) differsFrom(ctx context.Context, f *file, name string) (bool, error) {
	if r.Checksums && !r.site.Web {
		if same, known, err := r.sameSum(ctx, f, name); known || err != nil {
			return !same, err
		}
	}
	var ours io.Reader = bytes.NewReader(f.data)
	if f.data == nil {
		src, err := r.open(f)
		if err != nil {
			return false, err
		}
		defer src.Close()
		ours = src
	}
	res, err := r.site.Content(ctx, append(components(f.dir()), name), 0, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, err
	}
	defer res.Close()
	equal, err := equalBytes(ours, res.Body)
	return !equal, err
}

// equalBytes reports whether two readers have the same bytes. The error is that of theirs.
func equalBytes(ours, theirs io.Reader) (bool, error) {
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(theirs, b)
		m, ours := io.ReadFull(ours, a)
		switch ended := err == io.EOF || err == io.ErrUnexpectedEOF; {
		case err != nil && !ended:
			return false, err
		case ours != nil && ours != io.EOF && ours != io.ErrUnexpectedEOF:
			return false, ours
		case !bytes.Equal(a[:m], b[:n]):
			return false, nil
		case ended:
			return true, nil
		}
	}
}

// statAll finds out what a web server has.
func (r *run) statAll(ctx context.Context, files []*file) {
	found := make([]*site.Entry, len(files))
	pool.Each(ctx, r.Pool, pool.Indices(len(files)), func(i int, _ func() bool) error {
		return r.try(ctx, func() error {
			t, ok, err := r.site.Look(ctx, components(files[i].path))
			if ok {
				found[i] = &t
			}
			return err
		})
	}, func(i int, err error) {
		files[i].failed = true
		r.fail(ctx, files[i].path, false, err)
	})
	for i, t := range found {
		if t != nil {
			r.addEntry(files[i].path, *t)
		}
	}
}

// addEntry notes an entry of the server.
func (r *run) addEntry(name string, t site.Entry) {
	dir := path.Dir(name)
	d, ok := r.remote[dir]
	if !ok || d.Entries == nil {
		d.Entries = make(map[string]site.Entry)
		r.remote[dir] = d
	}
	d.Entries[path.Base(name)] = t
}

// hidden reports whether a listing may not show a file: many servers leave out names with a dot at
// the beginning.
func (r *run) hidden(name string) bool {
	return !r.remote[path.Dir(name)].Exact && path.Base(name)[0] == '.'
}

// findHidden asks for the sizes of files that listings do not show.
func (r *run) findHidden(ctx context.Context) {
	byDir := make(map[string][]string)
	ask := func(name string) {
		if _, listed := r.entryOf(name); !listed && r.hidden(name) && r.remote[path.Dir(name)].Entries != nil {
			byDir[path.Dir(name)] = append(byDir[path.Dir(name)], path.Base(name))
		}
	}
	for _, f := range r.files {
		ask(f.path)
	}
	for _, rec := range r.state.All() {
		if !rec.Dir && !r.isExcluded(rec.File, false) {
			ask(rec.File)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		names := byDir[dir]
		slices.Sort(names)
		edits := make([]fetch.Edit, 0, len(names))
		for _, name := range slices.Compact(names) {
			edits = append(edits, fetch.Edit{Kind: fetch.EditSize, Name: name})
		}
		if err := r.edit(ctx, dir, edits); err != nil {
			r.fail(ctx, dir, true, err)
			continue
		}
		for _, e := range edits {
			if e.Err == nil {
				r.addEntry(path.Join(dir, e.Name), site.Entry{Size: e.Size})
			}
		}
	}
	for _, f := range r.files {
		// Some servers refuse SIZE for all files, by the same reply as for one that they do not have.
		if _, found := r.entryOf(f.path); !found && f.placed && f.link == "" && slices.Contains(byDir[f.dir()], path.Base(f.path)) {
			if err := r.try(ctx, func() error { return r.checkContent(ctx, f, path.Base(f.path)) }); err == nil {
				r.addEntry(f.path, site.Entry{Size: f.size})
			}
		}
	}
}

// edit performs edits in a directory, and retries those that have no results.
func (r *run) edit(ctx context.Context, dir string, edits []fetch.Edit) error {
	return r.editThen(ctx, dir, edits, nil)
}

// editThen is like edit. more reports whether an upload follows; if nil, none does.
func (r *run) editThen(ctx context.Context, dir string, edits []fetch.Edit, more func() bool) error {
	return r.try(ctx, func() error {
		var left []fetch.Edit
		var at []int
		for i, e := range edits {
			if !e.Done {
				left, at = append(left, e), append(at, i)
			}
		}
		err := r.site.Edit(ctx, components(dir), left, more)
		for i, e := range left {
			edits[at[i]] = e
		}
		return err
	})
}

// reportPlan reports what a run would do.
func (r *run) reportPlan(p *plan) {
	say := func(what What, files []*file) {
		for _, f := range files {
			r.report(Event{What: what, File: f.path, URL: r.site.URL(components(f.path), false), Size: f.size})
		}
	}
	say(Added, p.fresh)
	say(Replaced, p.changed)
	say(Checked, p.checks)
}

// isRefused reports whether a server has refused a directory: some say so of one that does not
// exist.
func isRefused(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Op == "CWD" && e.Code >= 500
}
