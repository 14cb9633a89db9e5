package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A placer gives files their names that are on the server under temporary ones, after it has checked
// them.
type placer struct {
	*sender
	listing *listing
	modes   bool
}

// place checks the sizes of files of one directory, and renames them. more reports whether an upload
// follows.
func (p *placer) place(ctx context.Context, dir string, all []*file, more func() bool) error {
	files := slices.DeleteFunc(slices.Clone(all), func(f *file) bool { return f.part == "" || f.placed || f.failed })
	if p.way.direct() {
		for _, f := range files {
			p.storeDirect(ctx, f)
		}
		return nil
	}
	if len(files) == 0 {
		return nil
	}
	if err := p.checkParts(ctx, dir, files); err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f *file) bool { return f.failed })
	if len(files) == 0 {
		return nil
	}
	edits, of := p.renames(files)
	err := p.editThen(ctx, dir, edits, more)
	var again []*file
	for i, e := range edits {
		switch f := of[i]; {
		case e.Kind != fetch.EditRename:
		case e.Done && e.Err == nil:
			p.way.renames.Store(true)
			p.done(f)
		case e.Done:
			again = append(again, f)
		}
	}
	if err != nil {
		return p.findPlaced(ctx, dir, files, err)
	}
	if i := slices.IndexFunc(edits, func(e fetch.Edit) bool { return errors.Is(e.Err, fs.ErrNotExist) }); i >= 0 {
		return p.findPlaced(ctx, dir, files, edits[i].Err) // by an earlier attempt, whose connection broke
	}
	for _, f := range again {
		if err := p.placeOther(ctx, f, edits[slices.Index(of, f)]); err != nil {
			return err
		}
	}
	return nil
}

// renames returns the edits that give files their names.
func (p *placer) renames(files []*file) (edits []fetch.Edit, of []*file) {
	for _, f := range files {
		name := path.Base(f.path)
		if !f.isNew && p.way.removeFirst.Load() {
			edits, of = append(edits, fetch.Edit{Kind: fetch.EditRemove, Name: name}), append(of, nil)
		}
		edits, of = append(edits, fetch.Edit{Kind: fetch.EditRename, Name: f.part, To: name}), append(of, f)
	}
	return edits, of
}

// checkParts compares the sizes of complete files with those that the server states, and sets times
// and permissions.
func (p *placer) checkParts(ctx context.Context, dir string, files []*file) error {
	var edits []fetch.Edit
	var of []*file
	add := func(f *file, e fetch.Edit) {
		e.Name = f.part
		edits, of = append(edits, e), append(of, f)
	}
	for _, f := range files {
		if !p.way.noSize.Load() {
			add(f, fetch.Edit{Kind: fetch.EditSize})
		}
		if f.data != nil {
			continue // the remote state has no time and no permissions of its own
		}
		if !p.way.noTime.Load() {
			add(f, fetch.Edit{Kind: fetch.EditTime, Time: f.modified})
		}
		if p.modes && !p.way.noMode.Load() {
			add(f, fetch.Edit{Kind: fetch.EditMode, Mode: f.mode})
		}
	}
	if err := p.edit(ctx, dir, edits); err != nil {
		return err
	}
	sizes, refused := make(map[*file]int64), make(map[*file]error)
	for i, e := range edits {
		unsupported := errors.Is(e.Err, fetch.ErrUnsupported)
		switch f := of[i]; {
		case e.Kind == fetch.EditTime && e.Err != nil:
			p.way.noTime.Store(true)
			p.note("the server does not set modification times; the state keeps them")
		case e.Kind == fetch.EditTime:
			f.timed = true
		case e.Kind == fetch.EditMode && e.Err != nil:
			p.way.noMode.Store(true)
			p.note("the server does not set permissions (SITE CHMOD)")
		case e.Kind == fetch.EditSize && (unsupported || e.Err == nil && e.Size < 0):
			p.way.noSize.Store(true)
		case e.Kind == fetch.EditSize && e.Err != nil: // some servers refuse it for all files
			refused[f] = e.Err
		case e.Kind == fetch.EditSize:
			sizes[f] = e.Size
		}
	}
	return p.compareSizes(ctx, dir, files, sizes, refused)
}

// compareSizes fails the files whose parts have not their size. What the server does not state, or
// has refused to state, is taken from a listing.
func (p *placer) compareSizes(ctx context.Context, dir string, files []*file, sizes map[*file]int64, refused map[*file]error) error {
	var listed *site.Directory
	for _, f := range files {
		n, ok := sizes[f]
		if !ok && !f.failed {
			if listed == nil {
				d, err := p.list(ctx, dir)
				if err != nil {
					return err
				}
				listed = &d
			}
			t, there := listed.Entries[f.part]
			if n = t.Size; !there && refused[f] != nil {
				p.failFile(ctx, f, refused[f])
			} else if !there {
				n = 0
			}
		}
		if !f.failed && n >= 0 && n != f.size {
			p.discardPart(f)
			p.failFile(ctx, f, driver.Fail("STOR", p.At(components(f.path), false), fetch.ErrTruncated, fmt.Errorf("the server says that it has %d of %d bytes", n, f.size)))
		}
		if (n < 0 || p.contents.checksums) && !f.failed { // neither SIZE nor the listing states it
			switch err := p.contents.check(ctx, f, f.part); {
			case errors.Is(err, errOtherContent):
				p.discardPart(f)
				p.failFile(ctx, f, err)
			case err != nil:
				return err
			}
		}
	}
	return nil
}

// placeOther gives a file its name on a server that has refused to rename its part. If it is not
// known that the server does not rename, storing the file under its name proves it.
func (p *placer) placeOther(ctx context.Context, f *file, refused fetch.Edit) error {
	e, _ := errors.AsType[*fetch.Error](refused.Err)
	final := e != nil && e.Code >= 500 // a server that is busy may still rename
	switch {
	case p.way.direct(), errors.Is(refused.Err, fetch.ErrUnsupported), final && e.Op == "RNFR" && p.has(ctx, f.dir(), f.part):
		p.storeDirect(ctx, f)
		return nil
	case e == nil || e.Op != "RNTO":
	case !f.isNew || final && p.has(ctx, f.dir(), path.Base(f.path)):
		return p.replace(ctx, f, refused)
	case final:
		p.storeDirect(ctx, f)
		return nil
	}
	p.failFile(ctx, f, refused.Err)
	return nil
}

// replace gives a file a name that another one has, on a server that has refused to rename the part.
func (p *placer) replace(ctx context.Context, f *file, refused fetch.Edit) error {
	edits := removeAndRename(f)
	if err := p.edit(ctx, f.dir(), edits[:1]); err != nil {
		return err
	}
	if e, _ := errors.AsType[*fetch.Error](refused.Err); edits[0].Err != nil && e.Code < 500 {
		p.failFile(ctx, f, refused.Err)
		return nil
	}
	if edits[0].Err == nil {
		p.note("the server does not replace a file by renaming another one (RNTO): the old file is deleted first, so it is missing for a moment")
		if err := p.edit(ctx, f.dir(), edits[1:]); err != nil {
			return err
		}
	}
	if !edits[1].Done || edits[1].Err != nil { // neither is permitted, or the old file is gone
		p.storeDirect(ctx, f)
		return nil
	}
	p.way.removeFirst.Store(true)
	p.way.renames.Store(true)
	p.done(f)
	return nil
}

// removeAndRename returns the edits that delete a file, and give its name to its part.
func removeAndRename(f *file) []fetch.Edit {
	return []fetch.Edit{
		{Kind: fetch.EditRemove, Name: path.Base(f.path)},
		{Kind: fetch.EditRename, Name: f.part, To: path.Base(f.path)},
	}
}

// has reports whether the server has a name in a directory: by SIZE, or if it has no such command, by the
// listing.
func (p *placer) has(ctx context.Context, dir, name string) bool {
	edits := []fetch.Edit{{Kind: fetch.EditSize, Name: name}}
	err := p.edit(ctx, dir, edits)
	if err != nil || !errors.Is(edits[0].Err, fetch.ErrUnsupported) {
		return err == nil && edits[0].Err == nil
	}
	left, _ := p.listing.left(ctx, dir)(name)
	return left
}

// findPlaced finds out which files have their names after the connection broke while they were
// renamed, and renames the others once more. broken is the error of the connection.
func (p *placer) findPlaced(ctx context.Context, dir string, files []*file, broken error) error {
	d, err := p.list(ctx, dir)
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
		case there && (t.Size < 0 || t.Size == f.size), !there && p.listing.hides(f.path):
			p.done(f) // verify looks at it again
		default:
			p.failFile(ctx, f, broken)
		}
	}
	if len(left) == 0 {
		return nil
	}
	edits, of := p.renames(left)
	if err := p.edit(ctx, dir, edits); err != nil {
		return err
	}
	for i, e := range edits {
		switch {
		case of[i] == nil:
		case e.Err != nil:
			if err := p.placeOther(ctx, of[i], e); err != nil {
				return err
			}
		default:
			p.way.renames.Store(true)
			p.done(of[i])
		}
	}
	return nil
}
