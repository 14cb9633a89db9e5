package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/sync/removal"
	"github.com/fetch1738/fetch1738/locator"
)

// ErrMaxDelete is in the chain of the error of a run in which [Mirror.MaxDelete] kept files, and in
// that of the [Failed] event of each directory or menu with such files.
var ErrMaxDelete = removal.ErrMaxDelete

// remove reports files that have disappeared. With Delete it also removes them, unless they were
// modified locally or MaxDelete keeps them. In a gopher tree any menu can list any file, so nothing
// counts as disappeared unless all menus were read to their end, and so were those that an earlier run
// has read with Parent or with another alias.
func (r *run) remove(ctx context.Context, s *survey) {
	if s.flat && s.unseen+s.outside > 0 {
		hidden := 0
		for range r.vanished(s) {
			hidden++
		}
		switch {
		case !r.Delete || hidden == 0:
		case s.outside > 0:
			r.report(Event{Action: Noted, URL: r.tree.start().loc.Redacted(), Size: -1, Err: fmt.Errorf("nothing is deleted: "+
				"%d files are in no menu that was read, but may be in others, which an earlier run has read; use %s, or another directory", hidden, widening(r))})
		case s.unseen == s.unmarked:
			r.failUnmarked(ctx, s, hidden)
		}
		return
	}
	d := r.decide(s)
	d.reportKept(ctx, s)
	for rec := range r.vanished(s) {
		if d.keeps(rec) {
			r.whole = false // the incomplete files may still be in the tree, too
			r.report(Event{Action: Kept, URL: rec.URL, File: rec.File, Size: rec.Size})
		} else {
			r.removeFile(rec)
		}
	}
}

// widening names the options of earlier runs that have read more menus.
func widening(r *run) string {
	t := r.tree.(*gopherTree)
	var all []string
	if r.wider.part == nil && t.part != nil {
		all = append(all, "Mirror.Parent")
	}
	used := t.names(Record{})
	for _, name := range r.manifest.start.Aliases {
		if !slices.Contains(used, name) {
			all = append(all, "Mirror.Aliases "+fetch.Printable(name))
		}
	}
	return strings.Join(all, " and ")
}

// removeFile reports a file that has disappeared. With Delete it removes it, unless it was
// modified.
func (r *run) removeFile(rec Record) {
	e := Event{Action: Gone, URL: rec.URL, File: rec.File, Size: rec.Size}
	info, err := r.stat(rec.File)
	if r.Delete && err == nil && (info == nil || isUnmodified(rec, info)) {
		e.Action = Deleted
		if err = r.unlink(rec.File); err == nil {
			r.manifest.remove(rec.URL)
		}
	}
	if err != nil {
		e.Action, e.Err = Failed, err
	}
	if e.Action == Gone && !r.DryRun {
		rec.Gone, rec.Time = true, now()
		r.record(rec)
	}
	r.report(e)
}

// missing returns why a listing may lack files of the directory, or nil: it has names only, or the
// command for it has an argument that is no option, such as a pattern.
func missing(info *ftp.Info, options any) error {
	given, _ := options.(*ftp.Options)
	switch {
	case info.Names:
		return ErrNames
	case given == nil:
		return nil
	}
	for i, word := range strings.Fields(given.ListCommand) {
		if i > 0 && word[0] != '-' && word != "." {
			return errPart
		}
	}
	return nil
}

// A deletion decides which files that have disappeared are not deleted; see MaxDelete.
type deletion struct {
	*run
	contents map[id]removal.Contents  // of the folders that were listed, by the key of their path
	decision removal.Decision[string] // by the keys of the paths of folders
}

// decide counts the files that would be deleted, before any is.
func (r *run) decide(s *survey) *deletion {
	d := &deletion{run: r}
	if !r.Delete || r.MaxDelete < 0 {
		return d
	}
	if r.MaxDelete == 0 {
		d.contents = s.contents(r.tree)
	}
	d.decision = removal.Decide(r.MaxDelete, r.manifest.files(), func(yield func(string, bool) bool) {
		for rec := range r.vanished(s) {
			if r.deletes(rec) && !yield(d.folderOf(rec.URL)) {
				return
			}
		}
	})
	return d
}

// contents returns what each folder lists, by the id of the key of its path.
func (s *survey) contents(t tree) map[id]removal.Contents {
	all := make(map[id]removal.Contents)
	for f := range s.listed(t) {
		all[idOf(keyOf(f.path))] = removal.Nothing
	}
	for _, b := range s.batches {
		files := b.files
		if b.menu != nil {
			files-- // the menu itself
		}
		c := removal.Nothing
		switch {
		case files > 0:
			c = removal.Files
		case len(b.blocks) > 0:
			c = removal.OnlyFolders
		}
		dir := idOf(keyOf(b.in.path))
		all[dir] = max(all[dir], c)
	}
	return all
}

// deletes reports whether Delete would remove the file of a record from the disk.
func (r *run) deletes(rec Record) bool {
	info, err := r.stat(rec.File)
	return r.Delete && err == nil && info != nil && isUnmodified(rec, info)
}

// folderOf returns the folder whose listing should have the file: its own, or if that is not in the
// tree, the one above. isEmpty reports whether this listing is no reason to delete the file.
func (d *deletion) folderOf(url string) (dir string, isEmpty bool) {
	own, _, _ := folderOf(d.tree, url)
	key := func(n int) string {
		if n == 0 {
			return keyOf(d.tree.start().path)
		}
		return keyOf(own[:n])
	}
	n, isEmpty := removal.Nearest(len(own), func(n int) removal.Contents { return d.contents[idOf(key(n))] })
	return key(n), isEmpty
}

// keeps reports whether a file is not deleted.
func (d *deletion) keeps(rec Record) bool {
	if !d.decision.KeepsSome() || !d.deletes(rec) {
		return false
	}
	_, isEmpty := d.folderOf(rec.URL)
	return d.decision.Keeps(isEmpty)
}

// reportKept reports what is kept, and what would delete it.
func (d *deletion) reportKept(ctx context.Context, s *survey) {
	needed := d.decision.Kept // by the next run
	if d.decision.All || d.DryRun {
		needed = d.decision.Gone
	}
	fail := func(l locator.Locator, format string, args ...any) {
		err := removal.Refuse("Mirror.MaxDelete", needed, fmt.Sprintf(format, args...))
		d.fail(ctx, l.Redacted(), "", driver.Fail(fetch.OpMirror, l, fetch.ErrTruncated, err))
	}
	if emptied := d.decision.Emptied; len(emptied) > 0 {
		for f := range s.listed(d.tree) {
			if n := emptied[keyOf(f.path)]; n > 0 {
				fail(f.loc, "lists no files, but the copy has %d", n)
				delete(emptied, keyOf(f.path))
			}
		}
	}
	switch start := d.tree.start().loc; {
	case !d.decision.All:
	case d.MaxDelete > 0:
		fail(start, "%d files of the copy are no longer listed, more than Mirror.MaxDelete %d", d.decision.Gone, d.MaxDelete)
	default:
		fail(start, "%d of %d files of the copy are no longer listed, more than half", d.decision.Gone-d.decision.Kept, d.manifest.files())
	}
}
