package deploy

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/mirror/internal/site"
)

// placeOther gives a file its name on a server that has refused to rename its part.
func (r *run) placeOther(ctx context.Context, f *file, refused fetch.Edit) error {
	e, _ := errors.AsType[*fetch.Error](refused.Err)
	switch {
	case errors.Is(refused.Err, fetch.ErrUnsupported), e != nil && e.Op == "RNFR" && r.hasPart(ctx, f):
		r.storeDirect(ctx, f)
		return nil
	case !f.isNew && e != nil && e.Op == "RNTO":
		edits := []fetch.Edit{
			{Kind: fetch.EditRemove, Name: path.Base(f.path)},
			{Kind: fetch.EditRename, Name: f.part, To: path.Base(f.path)},
		}
		if err := r.edit(ctx, f.dir(), edits[:1]); err != nil {
			return err
		}
		if edits[0].Err != nil {
			break
		}
		if err := r.edit(ctx, f.dir(), edits[1:]); err != nil {
			return err
		}
		if edits[1].Err != nil { // the old file is gone
			r.storeDirect(ctx, f)
			return nil
		}
		r.way.removeFirst.Store(true)
		r.note("the server does not replace a file by renaming another one (RNTO): the old file is deleted first, so it is missing for a moment")
		r.done(f)
		return nil
	}
	r.failFile(ctx, f, refused.Err)
	return nil
}

// hasPart reports whether the server states a size of the part of a file, so that it is there.
func (r *run) hasPart(ctx context.Context, f *file) bool {
	edits := []fetch.Edit{{Kind: fetch.EditSize, Name: f.part}}
	return r.edit(ctx, f.dir(), edits) == nil && edits[0].Err == nil
}

// storeDirect stores a file under its name, as all that follow, on a server that has not renamed
// its part.
func (r *run) storeDirect(ctx context.Context, f *file) {
	r.way.direct.Store(true)
	r.note("the server does not rename files (RNFR, RNTO): they are stored under their names, so a file is incomplete until it has been sent")
	r.discardPart(f)
	f.part, f.timed = "", false
	if err := r.sendFile(ctx, f, nil); err != nil {
		r.failFile(ctx, f, err)
	}
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
			r.done(of[i])
		}
	}
	return nil
}

// verify lists the directories again in which files were placed. What the server does not list
// under its name, with its size, has failed; of the rest the state gets the times that the server
// lists.
func (r *run) verify(ctx context.Context, p *plan) {
	var placed []*file
	dirs := make(map[string]bool)
	for _, f := range slices.Concat(p.fresh, p.changed) {
		if f.placed {
			placed, dirs[f.dir()] = append(placed, f), true
		}
	}
	if len(placed) == 0 || ctx.Err() != nil {
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
	}
	for _, f := range placed {
		if _, listed := r.remote[f.dir()]; !listed || f.failed || ctx.Err() != nil {
			continue // reported
		}
		t, ok := r.entryOf(f.path)
		switch {
		case !ok:
			r.failFile(ctx, f, fetch.Fail(fetch.OpMirror, r.site.At(components(f.path), false), fetch.ErrNotFound, r.missing(f)))
		case t.Size >= 0 && t.Size != f.size && f.link == "":
			r.failFile(ctx, f, fetch.Fail(fetch.OpMirror, r.site.At(components(f.path), false), fetch.ErrTruncated, fmt.Errorf("the server lists %d of %d bytes", t.Size, f.size)))
		case f.timed && r.comparable(f) && !t.Modified.Equal(f.modified.UTC().Truncate(time.Second)):
			// Another client has changed it since, or the server keeps another time: the next run compares
			// the content.
		default:
			r.remember(f, t)
		}
	}
}

// missing returns why a file that the server has taken is not in its listing.
func (r *run) missing(f *file) error {
	name := path.Base(f.path)
	for other := range r.remote[f.dir()].Entries {
		if sameName(other, name) && other != name {
			return fmt.Errorf("the server has taken the file, but lists it as %q; rename it, or use Mirror.Exclude", other)
		}
	}
	return errors.New("the server has taken the file, but does not list it: it may not be able to hold a file of this name; rename it, or use Mirror.Exclude")
}
