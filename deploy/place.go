package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// placeOther gives a file its name on a server that has refused to rename its part. If it is not
// known that the server does not rename, storing the file under its name proves it.
func (r *run) placeOther(ctx context.Context, f *file, refused fetch.Edit) error {
	e, _ := errors.AsType[*fetch.Error](refused.Err)
	final := e != nil && e.Code >= 500 // a server that is busy may still rename
	switch {
	case r.way.direct(), errors.Is(refused.Err, fetch.ErrUnsupported), final && e.Op == "RNFR" && r.has(ctx, f.dir(), f.part):
		r.storeDirect(ctx, f)
		return nil
	case e == nil || e.Op != "RNTO":
	case !f.isNew || final && r.has(ctx, f.dir(), path.Base(f.path)):
		return r.replace(ctx, f, refused)
	case final:
		r.storeDirect(ctx, f)
		return nil
	}
	r.failFile(ctx, f, refused.Err)
	return nil
}

// replace gives a file a name that another one has, on a server that has refused to rename the part.
func (r *run) replace(ctx context.Context, f *file, refused fetch.Edit) error {
	edits := []fetch.Edit{
		{Kind: fetch.EditRemove, Name: path.Base(f.path)},
		{Kind: fetch.EditRename, Name: f.part, To: path.Base(f.path)},
	}
	if err := r.edit(ctx, f.dir(), edits[:1]); err != nil {
		return err
	}
	if e, _ := errors.AsType[*fetch.Error](refused.Err); edits[0].Err != nil && e.Code < 500 {
		r.failFile(ctx, f, refused.Err)
		return nil
	}
	if edits[0].Err == nil {
		r.note("the server does not replace a file by renaming another one (RNTO): the old file is deleted first, so it is missing for a moment")
		if err := r.edit(ctx, f.dir(), edits[1:]); err != nil {
			return err
		}
	}
	if !edits[1].Done || edits[1].Err != nil { // neither is permitted, or the old file is gone
		r.storeDirect(ctx, f)
		return nil
	}
	r.way.removeFirst.Store(true)
	r.way.renames.Store(true)
	r.done(f)
	return nil
}

// has reports whether the server has a name in a directory: by SIZE, or if it has no such command, by the
// listing.
func (r *run) has(ctx context.Context, dir, name string) bool {
	edits := []fetch.Edit{{Kind: fetch.EditSize, Name: name}}
	err := r.edit(ctx, dir, edits)
	if err != nil || !errors.Is(edits[0].Err, fetch.ErrUnsupported) {
		return err == nil && edits[0].Err == nil
	}
	left, _ := leftIn(ctx, r, dir)(name)
	return left
}

// storeDirect stores a file under its name, on a server that has not renamed its part, or not taken
// it. If that succeeds, it is done with all that follow, unless the server renames others. The part is
// removed with those that are of no use. The user is told first, because half a file may remain.
func (r *run) storeDirect(ctx context.Context, f *file) {
	if f.part == "" {
		r.note("the server has refused to store a file under a temporary name (STOR): such files are stored under their names, so they are incomplete until they have been sent")
	} else {
		r.note("the server has refused to rename a file (RNFR, RNTO): files that it does not rename are stored under their names, so they are incomplete until they have been sent")
	}
	f.part, f.timed, f.direct = "", false, true
	if err := r.sendFile(ctx, f, nil); err != nil {
		r.failFile(ctx, f, refused(ctx, r, f, err))
		return
	}
	r.refusals.Stored()
	r.way.refused.Store(true)
}

// findPlaced finds out which files have their names after the connection broke while they were
// renamed, and renames the others once more. broken is the error of the connection.
func (r *run) findPlaced(ctx context.Context, dir string, files []*file, broken error) error {
	var d site.Directory
	err := r.try(ctx, func() (err error) { d, err = r.site.List(ctx, components(dir)); return err })
	if err != nil {
		return broken
	}
	var left []*file
	for _, f := range files {
		t, there := d.Entries[path.Base(f.path)]
		switch _, part := d.Entries[f.part]; {
		case f.placed:
		case part:
			left = append(left, f)
		case there && (t.Size < 0 || t.Size == f.size), !there && r.hidden(f.path):
			r.done(f) // verify looks at it again
		default:
			r.failFile(ctx, f, broken)
		}
	}
	if len(left) == 0 {
		return nil
	}
	edits, of := r.renames(left)
	if err := r.edit(ctx, dir, edits); err != nil {
		return err
	}
	for i, e := range edits {
		switch {
		case of[i] == nil:
		case e.Err != nil:
			if err := r.placeOther(ctx, of[i], e); err != nil {
				return err
			}
		default:
			r.way.renames.Store(true)
			r.done(of[i])
		}
	}
	return nil
}

// verify lists the directories again in which files were placed or directories created. What the
// server does not list under its name, with its size, has failed, and so has what is in a directory
// that it does not list; of the rest the state gets the times that the server lists.
func (r *run) verify(ctx context.Context, p *plan) {
	var placed []*file
	dirs := make(map[string]bool)
	for _, f := range slices.Concat(p.fresh, p.changed) {
		if f.placed {
			placed, dirs[f.dir()] = append(placed, f), true
		}
	}
	for _, dir := range r.made {
		dirs[path.Dir(dir)] = true
	}
	if len(dirs) == 0 || ctx.Err() != nil {
		return
	}
	if r.site.Web {
		for _, f := range placed {
			delete(r.remote[f.dir()].Entries, path.Base(f.path))
		}
		r.statAll(ctx, placed)
	} else {
		var list []string
		for dir := range dirs {
			delete(r.remote, dir)
			list = append(list, dir)
		}
		slices.Sort(list)
		r.listAll(ctx, list)
		r.findHidden(ctx)
		r.verifyDirs(ctx, placed)
		verifyRenames(ctx, r, placed)
	}
	failTwins(ctx, r, placed)
	for _, f := range placed {
		if _, listed := r.remote[f.dir()]; !listed || f.failed || ctx.Err() != nil {
			continue // reported
		}
		t, ok := r.entryOf(f.path)
		switch {
		case !ok:
			r.failFile(ctx, f, driver.Fail(fetch.OpMirror, r.site.At(components(f.path), false), fetch.ErrNotFound, r.missing("file", f.path)))
		case t.Size >= 0 && t.Size != f.size && f.link == "":
			r.failFile(ctx, f, driver.Fail(fetch.OpMirror, r.site.At(components(f.path), false), fetch.ErrTruncated, fmt.Errorf("the server lists %d of %d bytes", t.Size, f.size)))
		case f.timed && r.comparable(f) && !t.Modified.Equal(f.modified.UTC().Truncate(time.Second)):
			// Another client has changed it since, or the server keeps another time: the next run compares
			// the content.
		default:
			r.remember(f, t)
		}
	}
}

// verifyDirs fails the directories that the run has created and that the server does not list under
// their names, and the files that were placed below them.
func (r *run) verifyDirs(ctx context.Context, placed []*file) {
	for _, dir := range r.made {
		above, listed := r.remote[path.Dir(dir)]
		if !listed || above.Entries[path.Base(dir)].Dir || !above.IsWhole() || r.hidden(dir) || ctx.Err() != nil {
			continue
		}
		err := driver.Fail(fetch.OpMirror, r.site.At(components(dir), true), fetch.ErrNotFound, r.missing("directory", dir))
		r.fail(ctx, dir, true, err)
		for _, f := range placed {
			if strings.HasPrefix(f.path, dir+"/") {
				f.failed = true // it is missing at the end
			}
		}
	}
}

// verifyRenames looks for files whose parts are still listed: some servers reply 250 to RNTO and do
// nothing. If the file has other content than was sent, it is deleted, and the part renamed again; if
// that does nothing either, the file is stored under its name.
func verifyRenames(ctx context.Context, r *run, placed []*file) {
	again := make(map[string]bool)
	for _, f := range placed {
		_, left := r.remote[f.dir()].Entries[f.part]
		if !left || f.part == "" || f.failed || ctx.Err() != nil {
			continue
		}
		check := func() error { return r.checkContent(ctx, f, path.Base(f.path)) }
		err := r.try(ctx, check)
		if errors.Is(err, errOtherContent) {
			r.note("the server has replied that a file was renamed (RNTO), but has not done it: the old file is deleted first, so it is missing for a moment")
			again[f.dir()] = true
			if err = renameAgain(ctx, r, f); err == nil {
				err = r.try(ctx, check)
			}
		}
		r.discardPart(f)
		switch {
		case errors.Is(err, errOtherContent):
			r.storeDirect(ctx, f)
		case err != nil:
			r.failFile(ctx, f, err)
		}
	}
	if len(again) > 0 {
		r.listAll(ctx, slices.Sorted(maps.Keys(again)))
		r.findHidden(ctx)
	}
}

// renameAgain deletes a file, and gives its name to its part.
func renameAgain(ctx context.Context, r *run, f *file) error {
	return r.edit(ctx, f.dir(), []fetch.Edit{
		{Kind: fetch.EditRemove, Name: path.Base(f.path)},
		{Kind: fetch.EditRename, Name: f.part, To: path.Base(f.path)},
	})
}

// failTwins fails the files that a server has under a name that another one of them differs from in case
// only: if it lists that under this name, it has the content of either.
func failTwins(ctx context.Context, r *run, placed []*file) {
	for _, f := range placed {
		if _, ok := r.entryOf(f.path); ok {
			continue
		}
		for name := range r.remote[f.dir()].Entries {
			if !strings.EqualFold(name, path.Base(f.path)) {
				continue
			}
			i := slices.IndexFunc(r.files, func(g *file) bool { return g.path == path.Join(f.dir(), name) && !g.failed })
			if g := r.files[max(i, 0)]; i >= 0 {
				r.record(state.Record{URL: r.site.URL(components(g.path), false), File: g.path, Size: g.size}) // not complete
				r.failFile(ctx, g, driver.Fail(fetch.OpMirror, r.site.At(components(g.path), false), fetch.ErrNotFound, fmt.Errorf("it may have been replaced by %q, because the server ignores case; rename one of them", path.Base(f.path))))
			}
		}
	}
}

// missing returns why a file or directory that the server has taken is not in its listing.
func (r *run) missing(what, name string) error {
	base := path.Base(name)
	for other := range r.remote[path.Dir(name)].Entries {
		if sameName(other, base) && other != base {
			return fmt.Errorf("the server has taken the %s, but lists it as %q; rename it, or use Mirror.Exclude", what, other)
		}
	}
	return fmt.Errorf("the server has taken the %s, but does not list it: it may not be able to hold a %[1]s of this name; rename it, or use Mirror.Exclude", what)
}
