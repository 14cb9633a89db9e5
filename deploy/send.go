package deploy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// limitations are what the server has turned out not to do.
type limitations struct {
	refused     atomic.Bool // it has not renamed a file, and stored it under its name
	renames     atomic.Bool // it has renamed a file
	removeFirst atomic.Bool // it does not replace a file by renaming another one
	noTime      atomic.Bool // it does not set modification times
	noMode      atomic.Bool // it does not set permissions
	noSize      atomic.Bool // it does not state sizes but in listings
	noRest      atomic.Bool // it does not continue files
	noDirs      atomic.Bool // it is a web server on which directories cannot be created
}

// direct reports whether files are stored under their names, because the server does not rename.
func (l *limitations) direct() bool { return l.refused.Load() && !l.renames.Load() }

// A batch is files of one directory, which one worker sends. They are sent one after the other, and
// then get their names together: the commands for that are sent at once where the server bears it.
type batch struct {
	dir   string
	files []*file
}

const (
	maxBatch  = 32      // files
	fewOctets = 8 << 20 // of a batch of more than one file
	small     = 1 << 20 // the size up to which a file is read once, into memory
	resumable = 64 << 10
)

// makeDirs creates the directories that the server does not have, from the top.
func (r *run) makeDirs(ctx context.Context) {
	if r.site.Web {
		return
	}
	levels := make(map[int]map[string][]string) // by depth and the directory above
	for dir := range r.local {
		if _, ok := r.remote[dir]; ok || dir == "." || r.unlisted[dir] {
			continue
		}
		depth := strings.Count(dir, "/")
		if levels[depth] == nil {
			levels[depth] = make(map[string][]string)
		}
		levels[depth][path.Dir(dir)] = append(levels[depth][path.Dir(dir)], dir)
	}
	for depth := 0; depth < r.Depth; depth++ {
		var aboves []string
		for above := range levels[depth] {
			if _, ok := r.remote[above]; ok { // else it has failed
				aboves = append(aboves, above)
			}
		}
		slices.Sort(aboves)
		made := make([][]string, len(aboves))
		pool.Each(ctx, r.Pool, pool.Indices(len(aboves)), func(i int, _ func() bool) (err error) {
			made[i], err = r.makeDirsIn(ctx, aboves[i], levels[depth][aboves[i]])
			return err
		}, func(i int, err error) { r.fail(ctx, aboves[i], true, err) })
		r.made = append(r.made, slices.Concat(made...)...)
		for _, dir := range slices.Concat(made...) {
			r.remote[dir] = site.Directory{Entries: map[string]site.Entry{}, Exact: r.remote["."].Exact}
		}
	}
}

// makeDirsIn creates directories in one directory, and returns those that exist then.
func (r *run) makeDirsIn(ctx context.Context, above string, dirs []string) (made []string, err error) {
	slices.Sort(dirs)
	edits := make([]fetch.Edit, len(dirs))
	for i, dir := range dirs {
		edits[i] = fetch.Edit{Kind: fetch.EditMakeDir, Name: path.Base(dir)}
	}
	if err := r.edit(ctx, above, edits); err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		if err := edits[i].Err; err != nil {
			if !isDir(ctx, r, dir) {
				r.fail(ctx, dir, true, err)
			}
			continue
		}
		r.record(state.Record{URL: r.site.URL(components(dir), true), File: dir, Size: -1, Dir: true})
		made = append(made, dir)
	}
	return made, nil
}

// isDir reports whether a directory that the server has refused to create exists: another client may
// have created it, or its name begins with a dot and is not listed. It is then listed itself.
func isDir(ctx context.Context, r *run, dir string) bool {
	list := func(dir string) (d site.Directory, err error) {
		err = r.try(ctx, func() error { d, err = r.site.List(ctx, components(dir)); return err })
		return d, err
	}
	r.mu.Lock()
	hidden := r.hidden(dir)
	r.mu.Unlock()
	if above, err := list(path.Dir(dir)); err != nil || !above.Entries[path.Base(dir)].Dir && !hidden {
		return false
	}
	d, err := list(dir)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remote[dir] = d
	return true
}

// send sends the files of a plan: in the groups of Order, and in each the new files first. So a
// page that is replaced finds what it refers to. Once a file has failed, the later groups are not
// sent.
func (r *run) send(ctx context.Context, p *plan) {
	for _, f := range slices.Concat(p.fresh, p.changed) {
		r.refusals.Expect(spotOf(f), f.size)
	}
	type step struct{ files, links []*file } // some servers create only links that lead to something
	groups := make([][2]step, len(r.Order)+1)
	for i, files := range [][]*file{p.fresh, p.changed} {
		for _, f := range files {
			if s := &groups[r.group(f)][i]; f.link == "" {
				s.files = append(s.files, f)
			} else {
				s.links = append(s.links, f)
			}
		}
	}
	for g, steps := range groups {
		if g > 0 && r.hasFailed() {
			r.note("files that Upload.Order puts last are not sent, because others have failed")
			break
		}
		for _, files := range [][]*file{steps[0].files, steps[1].files, steps[0].links, steps[1].links} {
			r.sendAll(ctx, files)
		}
	}
}

// group returns the number of the group of Order that a file belongs to; 0 if it matches none.
func (r *run) group(f *file) int {
	for i, only := range slices.Backward(r.Order) {
		if only.File(components(f.path)) {
			return i + 1
		}
	}
	return 0
}

// sendAll sends files, several batches at once.
func (r *run) sendAll(ctx context.Context, files []*file) {
	batches := r.batches(files)
	// The port of a large file would wait for its checksum, perhaps longer than the server does.
	large := slices.ContainsFunc(files, func(f *file) bool { return f.size > small })
	pool.Each(ctx, r.Pool, pool.Indices(len(batches)), func(i int, more func() bool) error {
		return r.sendBatch(ctx, batches[i], func() bool { return !large && more() })
	}, func(i int, err error) {
		for _, f := range batches[i].files {
			switch {
			case f.placed || f.failed:
			case errors.Is(err, errNoDirectory) && isSaid(r, f.dir()):
				f.failed = true // it is missing at the end
			default:
				r.failFile(ctx, f, err)
			}
		}
	})
}

// batches divides files, so that all workers have something to do.
func (r *run) batches(files []*file) (all []batch) {
	workers := r.Pool.Size()
	if len(files) > 8*workers {
		workers *= 2 // two batches for each, because some take longer than others
	}
	most := min(maxBatch, max(0, len(files)-1)/workers+1)
	slices.SortStableFunc(files, func(a, b *file) int { return strings.Compare(a.dir(), b.dir()) })
	octets := int64(0)
	for _, f := range files {
		last := len(all) - 1
		if last < 0 || all[last].dir != f.dir() || len(all[last].files) == most || octets+f.size > fewOctets {
			all, octets, last = append(all, batch{dir: f.dir()}), 0, last+1
		}
		all[last].files = append(all[last].files, f)
		octets += f.size
	}
	return all
}

// failFile is fail for a file, which is then not placed.
func (r *run) failFile(ctx context.Context, f *file, err error) {
	f.failed = true
	if ctx.Err() == nil {
		r.report(Event{What: Failed, File: f.path, local: f.local, URL: r.site.URL(components(f.path), false), Size: -1, Err: err})
	}
}

// sendBatch sends the files of a batch and gives them their names. If it returns an error that says
// that there are too many connections, it is called again.
func (r *run) sendBatch(ctx context.Context, b batch, more func() bool) error {
	if _, ok := r.remote[b.dir]; !ok && !r.site.Web {
		return driver.Fail(fetch.OpMirror, r.site.At(components(b.dir), true), fetch.ErrNotFound, errNoDirectory)
	}
	for i, f := range b.files {
		if f.part != "" || f.placed || f.failed {
			continue
		}
		if !f.tried {
			r.refusals.Try(f.size)
			f.tried = true
		}
		if isHopeless(r, f) {
			f.failed = true // it is missing at the end
			continue
		}
		r.report(Event{What: Started, File: f.path, URL: r.site.URL(components(f.path), false), Size: f.size})
		more := func() bool { // not after a large file: it would be sent again if the server does not bear it
			return f.size < resumable && i < len(b.files)-1 && b.files[i+1].size < resumable
		}
		err := r.sendFile(ctx, f, more)
		switch {
		case err == nil:
			r.refusals.Stored()
		case r.Pool.Crowded(err):
			return err
		case refusesPart(r, f, err):
			r.storeDirect(ctx, f)
		case err != nil:
			r.failFile(ctx, f, refused(ctx, r, f, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return r.place(ctx, b, more)
}

// sendFile stores a file on the server, under a temporary name if it can be renamed.
func (r *run) sendFile(ctx context.Context, f *file, more func() bool) error {
	if f.link != "" {
		return r.sendLink(ctx, f)
	}
	src, body, err := r.content(f)
	if err != nil {
		return err
	}
	defer src.Close()
	name, begun := path.Base(f.path), false
	if !r.site.Web && !f.direct && !r.way.direct() {
		name = state.PartName(f.sum, path.Base(f.path))
		if begun = r.state.Begun(f.path, name); !begun {
			r.record(state.Record{URL: r.site.URL(components(f.path), false), File: f.path, Size: f.size, Modified: f.modified, SHA256: f.sum, Part: name})
		}
	} else if f.data == nil { // without a checksum: if this is the last line about it, it is not complete
		r.record(state.Record{URL: r.site.URL(components(f.path), false), File: f.path, Size: f.size})
	}
	first := true
	err = r.try(ctx, func() error {
		at, err := r.resumeAt(ctx, f, name, body, begun || !first)
		if first = false; err != nil || at == f.size && at > 0 {
			return err
		}
		return put(ctx, r, f, name, body, at, more)
	})
	f.part = name
	if file, ok := src.(disk.File); ok {
		if changed := f.unchanged(file); changed != nil {
			r.discardPart(f) // it may have other content than its name says
			err = cmp.Or(err, changed)
		}
	}
	if err != nil {
		f.part = ""
		return err
	}
	if name != path.Base(f.path) {
		return nil
	}
	f.part = ""
	if r.Checksums {
		if err := r.try(ctx, func() error { return r.checkContent(ctx, f, name) }); err != nil {
			return err
		}
	}
	r.done(f)
	return nil
}

// content opens a file to send, and computes its checksum. A small file is read at once, so that
// what is sent is what the checksum is of.
func (r *run) content(f *file) (io.Closer, content, error) {
	if f.data != nil {
		return io.NopCloser(nil), bytes.NewReader(f.data), nil
	}
	src, err := r.open(f)
	if err != nil {
		return nil, nil, err
	}
	if f.size > small {
		if err = r.sumOf(f); err == nil {
			return src, src, nil
		}
	} else if data, failed := io.ReadAll(io.LimitReader(src, f.size+1)); failed == nil {
		if err = f.unchanged(src); err == nil {
			sum := sha256.Sum256(data)
			f.sum = hex.EncodeToString(sum[:])
			return src, bytes.NewReader(data), nil
		}
	} else {
		err = failed
	}
	src.Close()
	return nil, nil, err
}

// content is what is sent of a file.
type content interface {
	io.ReadSeeker
	io.ReaderAt
}

// sendLink creates a link, in place of one that is there.
func (r *run) sendLink(ctx context.Context, f *file) error {
	if r.site.Web {
		return driver.Fail(fetch.OpMirror, r.site.At(components(f.path), false), fetch.ErrUnsupported, errors.New("a web server has no links; see Upload.Links"))
	}
	edits := []fetch.Edit{{Kind: fetch.EditLink, Name: path.Base(f.path), To: f.link}}
	if err := r.edit(ctx, f.dir(), edits); err != nil || edits[0].Err != nil {
		return errors.Join(err, edits[0].Err)
	}
	f.sum = strings.Repeat("0", 64)
	r.done(f)
	return nil
}

// place checks the sizes of the files of a batch, and renames them.
func (r *run) place(ctx context.Context, b batch, more func() bool) error {
	var files []*file
	for _, f := range b.files {
		if f.part != "" && !f.placed && !f.failed {
			files = append(files, f)
		}
	}
	if r.way.direct() {
		for _, f := range files {
			r.storeDirect(ctx, f)
		}
		return nil
	}
	if len(files) == 0 {
		return nil
	}
	if err := r.checkParts(ctx, b.dir, files); err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f *file) bool { return f.failed })
	if len(files) == 0 {
		return nil
	}
	edits, of := r.renames(files)
	err := r.editThen(ctx, b.dir, edits, more)
	var again []*file
	for i, e := range edits {
		switch f := of[i]; {
		case e.Kind != fetch.EditRename:
		case e.Done && e.Err == nil:
			r.way.renames.Store(true)
			r.done(f)
		case e.Done:
			again = append(again, f)
		}
	}
	if err != nil {
		return r.findPlaced(ctx, b.dir, files, err)
	}
	if i := slices.IndexFunc(edits, func(e fetch.Edit) bool { return errors.Is(e.Err, fs.ErrNotExist) }); i >= 0 {
		return r.findPlaced(ctx, b.dir, files, edits[i].Err) // by an earlier attempt, whose connection broke
	}
	for _, f := range again {
		if err := r.placeOther(ctx, f, edits[slices.Index(of, f)]); err != nil {
			return err
		}
	}
	return nil
}

// renames returns the edits that give files their names.
func (r *run) renames(files []*file) (edits []fetch.Edit, of []*file) {
	for _, f := range files {
		name := path.Base(f.path)
		if !f.isNew && r.way.removeFirst.Load() {
			edits, of = append(edits, fetch.Edit{Kind: fetch.EditRemove, Name: name}), append(of, nil)
		}
		edits, of = append(edits, fetch.Edit{Kind: fetch.EditRename, Name: f.part, To: name}), append(of, f)
	}
	return edits, of
}

// checkParts compares the sizes of complete files with those that the server states, and sets times
// and permissions.
func (r *run) checkParts(ctx context.Context, dir string, files []*file) error {
	var edits []fetch.Edit
	var of []*file
	add := func(f *file, e fetch.Edit) {
		e.Name = f.part
		edits, of = append(edits, e), append(of, f)
	}
	for _, f := range files {
		if !r.way.noSize.Load() {
			add(f, fetch.Edit{Kind: fetch.EditSize})
		}
		if f.data != nil {
			continue // the remote state has no time and no permissions of its own
		}
		if !r.way.noTime.Load() {
			add(f, fetch.Edit{Kind: fetch.EditTime, Time: f.modified})
		}
		if r.Modes && !r.way.noMode.Load() {
			add(f, fetch.Edit{Kind: fetch.EditMode, Mode: f.mode})
		}
	}
	if err := r.edit(ctx, dir, edits); err != nil {
		return err
	}
	sizes, refused := make(map[*file]int64), make(map[*file]error)
	for i, e := range edits {
		unsupported := errors.Is(e.Err, fetch.ErrUnsupported)
		switch f := of[i]; {
		case e.Kind == fetch.EditTime && e.Err != nil:
			r.way.noTime.Store(true)
			r.note("the server does not set modification times; the state keeps them")
		case e.Kind == fetch.EditTime:
			f.timed = true
		case e.Kind == fetch.EditMode && e.Err != nil:
			r.way.noMode.Store(true)
			r.note("the server does not set permissions (SITE CHMOD)")
		case e.Kind == fetch.EditSize && (unsupported || e.Err == nil && e.Size < 0):
			r.way.noSize.Store(true)
		case e.Kind == fetch.EditSize && e.Err != nil: // some servers refuse it for all files
			refused[f] = e.Err
		case e.Kind == fetch.EditSize:
			sizes[f] = e.Size
		}
	}
	return r.compareSizes(ctx, dir, files, sizes, refused)
}

// compareSizes fails the files whose parts have not their size. What the server does not state, or
// has refused to state, is taken from a listing.
func (r *run) compareSizes(ctx context.Context, dir string, files []*file, sizes map[*file]int64, refused map[*file]error) error {
	var listed *site.Directory
	for _, f := range files {
		n, ok := sizes[f]
		if !ok && !f.failed {
			if listed == nil {
				var d site.Directory
				if err := r.try(ctx, func() (err error) { d, err = r.site.List(ctx, components(dir)); return err }); err != nil {
					return err
				}
				listed = &d
			}
			t, there := listed.Entries[f.part]
			if n = t.Size; !there && refused[f] != nil {
				r.failFile(ctx, f, refused[f])
			} else if !there {
				n = 0
			}
		}
		if !f.failed && n >= 0 && n != f.size {
			r.discardPart(f)
			r.failFile(ctx, f, driver.Fail("STOR", r.site.At(components(f.path), false), fetch.ErrTruncated, fmt.Errorf("the server says that it has %d of %d bytes", n, f.size)))
		}
		if (n < 0 || r.Checksums) && !f.failed { // neither SIZE nor the listing states it
			switch err := r.checkContent(ctx, f, f.part); {
			case errors.Is(err, errOtherContent):
				r.discardPart(f)
				r.failFile(ctx, f, err)
			case err != nil:
				return err
			}
		}
	}
	return nil
}

var errOtherContent = errors.New("the server has other content than was sent")

// checkContent fails if the server has under a name another content than was sent.
func (r *run) checkContent(ctx context.Context, f *file, name string) error {
	differs, err := r.differsFrom(ctx, f, name)
	if err == nil && differs {
		return driver.Fail("STOR", r.site.At(components(f.path), false), fetch.ErrTruncated, errOtherContent)
	}
	return err
}

// discardPart has the temporary file deleted at the end, so that the next run sends the file from
// its start.
func (r *run) discardPart(f *file) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear = append(r.clear, state.Record{URL: r.site.URL(components(f.path), false), File: f.path, Part: f.part})
}

// done records that a file has its name on the server.
func (r *run) done(f *file) {
	again := f.placed // it was not renamed, whatever the server said
	f.placed = true
	url := r.site.URL(components(f.path), false)
	if f.part != "" && r.state.Begun(f.path, f.part) {
		r.record(state.Record{URL: url, File: f.path, Part: f.part, Gone: true})
	}
	if f.data != nil {
		return
	}
	r.record(state.Record{URL: url, File: f.path, Size: f.size, Modified: f.modified, SHA256: f.sum})
	if again {
		return
	}
	what := Replaced
	if f.isNew {
		what = Added
	}
	r.report(Event{What: what, File: f.path, URL: url, Size: f.size})
}
