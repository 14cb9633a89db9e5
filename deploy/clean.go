package deploy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/fetch1738/fetch1738/internal/sync/removal"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A cleaner deletes from the server what runs have put there, and the tree has no more.
type cleaner struct {
	*comparer
	selection
	tree      *tree
	root      folder
	deletes   bool // Upload.Delete
	maxDelete int
}

// clean reports the files that runs have sent, and that the tree has no more. With Delete
// it deletes those that the server lists as it did after they were sent. If anything has failed,
// nothing is deleted.
func (c *cleaner) clean(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	here := maps.Clone(c.tree.skipped) // earlier runs may have sent what links lead to
	for _, f := range c.tree.files {
		here[f.path] = true
	}
	c.adopt(ctx, here)
	var gone []state.Line
	files := 0
	for _, rec := range c.All() {
		if rec.Dir || rec.Found {
			continue
		}
		if files++; !here[rec.File] && !c.isExcluded(rec.File, false) && c.isKnown(path.Dir(rec.File)) {
			if c.isThere(ctx, rec) {
				gone = append(gone, rec)
			}
		}
	}
	kept := c.decide(ctx, gone, files)
	byDir := make(map[string][]state.Line)
	for _, rec := range gone {
		switch {
		case !c.deletes:
			c.tell(Gone, rec)
		case kept(rec.File):
			c.tell(Kept, rec)
		case c.dryRun:
			c.tell(Deleted, rec)
		default:
			byDir[path.Dir(rec.File)] = append(byDir[path.Dir(rec.File)], rec)
		}
	}
	c.deleteAll(ctx, byDir)
	if c.deletes && !c.dryRun && !c.HasFailed() {
		c.deleteDirs(ctx)
	}
}

// tell reports an event about a file of the state.
func (c *cleaner) tell(a Action, rec state.Line) {
	e := c.at(a, rec.File, false)
	e.URL, e.Size = rec.URL, rec.Size
	c.Tell(e)
}

// adopt finds the files that a run has sent, and renamed, but was killed before it recorded that,
// if the tree has them no more: the part is not there, and the file has the content that was sent.
func (c *cleaner) adopt(ctx context.Context, here map[string]bool) {
	for _, rec := range c.Parts() {
		t, ok := c.entry(rec.File)
		_, part := c.entry(path.Join(path.Dir(rec.File), rec.Part))
		if !c.deletes || c.dryRun || !ok || part || here[rec.File] || t.Size != rec.Size || rec.SHA256 == "" {
			continue
		}
		sum := sha256.New()
		err := c.try(ctx, func() error {
			sum.Reset()
			res, err := c.Content(ctx, components(rec.File), 0, 0)
			if err != nil {
				return err
			}
			defer res.Close()
			_, err = io.Copy(sum, res.Body)
			return err
		})
		if err != nil {
			c.fail(ctx, rec.File, false, err)
		} else if hex.EncodeToString(sum.Sum(nil)) == rec.SHA256 {
			rec.Stored, rec.Part, rec.Time = t.Modified, "", time.Time{}
			c.record(rec)
		}
	}
}

// isKnown reports whether Dir is known to have no file in a folder that it does not have: a folder
// that could not be read may have it.
func (c *cleaner) isKnown(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := c.tree.dirs[dir]; ok {
			return true
		}
		local := cmp.Or(c.renamed[dir], dir)
		if _, err := c.root.Lstat(local); err == nil && (local != dir || !c.tree.moved[dir]) {
			return false // not read, or not entered
		}
	}
	return true
}

// isThere reports whether the server has a file as a run has left it. If it has no such file, the
// record is dropped; if the file has changed since, it is reported.
func (c *cleaner) isThere(ctx context.Context, rec state.Line) bool {
	t, ok := c.entry(rec.File)
	if c.Web {
		var err error
		if t, ok, err = c.Look(ctx, components(rec.File)); err != nil {
			c.fail(ctx, rec.File, false, err)
			return false
		}
	}
	switch {
	case ok && c.isAsSent(rec, t):
		return true
	case ok && c.isShifted(ctx, rec, t):
		rec.Stored = t.Modified
		c.record(rec)
		return true
	case ok:
		e := c.at(Gone, rec.File, false)
		e.URL, e.Size, e.Err = rec.URL, rec.Size, errors.New("not as it was sent; it is kept")
		c.Tell(e)
	case !c.HasFailed() && (c.Web || c.lacks(path.Dir(rec.File))): // a server in trouble may not list what it has
		c.drop(rec)
	}
	return false
}

// decide returns a function that reports which files are not deleted, and reports why: those of a
// folder that has no files any more, or all, if they are too many.
func (c *cleaner) decide(ctx context.Context, gone []state.Line, files int) (kept func(name string) bool) {
	if !c.deletes || len(gone) == 0 {
		return func(string) bool { return false }
	}
	if c.HasFailed() {
		c.note("nothing is deleted, because something has failed")
		return func(string) bool { return true }
	}
	contents := c.tree.contents()
	folderOf := func(name string) (dir string, isEmpty bool) {
		dirs := components(path.Dir(name))
		at := func(n int) string { return cmp.Or(strings.Join(dirs[:n], "/"), ".") }
		n, isEmpty := removal.Nearest(len(dirs), func(n int) removal.Contents { return contents(at(n)) })
		return at(n), isEmpty
	}
	d := removal.Decide(c.maxDelete, files, func(yield func(string, bool) bool) {
		for _, rec := range gone {
			if !yield(folderOf(rec.File)) {
				return
			}
		}
	})
	refuse := func(dir, format string, args ...any) {
		err := removal.Refuse("Upload.MaxDelete", len(gone), fmt.Sprintf(format, args...))
		c.fail(ctx, dir, true, driver.Fail(fetch.OpMirror, c.At(components(dir), true), fetch.ErrTruncated, err))
	}
	switch {
	case d.All && c.maxDelete > 0:
		refuse(".", "%d files would be deleted, and Upload.MaxDelete is %d", len(gone), c.maxDelete)
	case d.All:
		refuse(".", "%d of %d files would be deleted", len(gone), files)
	default:
		for _, dir := range slices.Sorted(maps.Keys(d.Emptied)) {
			refuse(dir, "the folder here has no files, but %d were sent from it", d.Emptied[dir])
		}
	}
	return func(name string) bool {
		_, isEmpty := folderOf(name)
		return d.Keeps(isEmpty)
	}
}

// deleteAll deletes files, by directory.
func (c *cleaner) deleteAll(ctx context.Context, byDir map[string][]state.Line) {
	dirs := slices.Sorted(maps.Keys(byDir))
	c.each(ctx, len(dirs), func(i int, _ func() bool) error {
		return c.deleteIn(ctx, dirs[i], byDir[dirs[i]])
	}, func(i int, err error) { c.fail(ctx, dirs[i], true, err) })
}

// deleteIn deletes files of one directory. It returns an error if not every edit has a
// result.
func (c *cleaner) deleteIn(ctx context.Context, dir string, recs []state.Line) error {
	edits := make([]fetch.Edit, len(recs))
	for i, rec := range recs {
		edits[i] = fetch.Edit{Kind: fetch.EditRemove, Name: path.Base(rec.File)}
		if c.Web {
			edits[i].Err = c.try(ctx, func() error { return c.Remove(ctx, components(rec.File)) })
		}
	}
	var err error
	if !c.Web {
		err = c.edit(ctx, dir, edits)
	}
	leftOf := c.left(ctx, dir)
	left := func(name string) bool { is, _ := leftOf(name); return is }
	for i, rec := range recs {
		switch e := edits[i]; {
		case err != nil && !e.Done:
		case e.Err != nil && (!errors.Is(e.Err, fs.ErrNotExist) || left(e.Name)):
			c.fail(ctx, rec.File, false, e.Err)
		default:
			c.drop(rec)
			c.tell(Deleted, rec)
		}
	}
	return err
}

// deleteDirs deletes the directories that runs have created, and that the tree has no more, from
// the bottom. Those that are not empty, or may have files that the listing hides, are kept; not every server
// does that by itself.
func (c *cleaner) deleteDirs(ctx context.Context) {
	for _, rec := range slices.Backward(c.All()) {
		_, here := c.tree.dirs[rec.File]
		if !rec.Dir || here || c.isExcluded(rec.File, true) || !c.isKnown(rec.File) || ctx.Err() != nil {
			continue
		}
		var d site.Directory
		err := c.try(ctx, func() (err error) { d, err = c.ListAll(ctx, components(rec.File)); return err })
		if len(d.Entries) > 0 || !d.IsWhole() || d.Hides || err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		edits := []fetch.Edit{{Kind: fetch.EditRemoveDir, Name: path.Base(rec.File)}}
		if err := c.edit(ctx, path.Dir(rec.File), edits); err == nil && edits[0].Err == nil || errors.Is(err, fs.ErrNotExist) {
			c.drop(rec)
		}
	}
}

// deleteParts deletes the temporary files that no later run would continue.
func deleteParts(ctx context.Context, p *placer, t *tree) {
	files := make(map[string]*file)
	for _, f := range t.files {
		files[f.path] = f
	}
	useless := p.parts
	for _, rec := range p.Parts() {
		f := files[rec.File]
		if f == nil || f.placed || f.size < resumable || f.sum != "" && state.PartName(f.sum, path.Base(f.path)) != rec.Part {
			useless = append(useless, rec)
		}
	}
	for _, rec := range useless {
		if ctx.Err() != nil || !state.IsPart(rec.Part) {
			continue
		}
		dir, edits := path.Dir(rec.File), []fetch.Edit{{Kind: fetch.EditRemove, Name: rec.Part}}
		err := p.Edit(ctx, components(dir), edits, nil)
		if err == nil && edits[0].Err != nil {
			if left, isListed := p.listing.left(ctx, dir)(rec.Part); !isListed && !(left && p.has(ctx, dir, rec.Part)) {
				edits[0].Err = nil // it may have got its name; nodeftpd says "Permission denied" then
			}
		}
		if err == nil && edits[0].Err == nil || errors.Is(err, fs.ErrNotExist) {
			p.drop(rec)
			continue
		}
		p.fail(ctx, path.Join(dir, rec.Part), false, fmt.Errorf("a temporary file could not be deleted; the next run tries again: %w", cmp.Or(err, edits[0].Err)))
	}
}
