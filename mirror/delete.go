package mirror

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/removal"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
)

// ErrMaxDelete is in the chain of the error of a run in which [Mirror.MaxDelete] kept files, and in
// that of the [Failed] event of each directory or menu with such files.
var ErrMaxDelete = removal.ErrMaxDelete

// A deletion reports the files of the manifest that are no longer in the tree, and deletes them.
type deletion struct {
	tree      tree
	wider     *gopherTree // what earlier runs have copied with other options; nil if that is no more
	dir       *local.Dir
	manifest  *manifest
	out       *reporter
	delete    bool // Mirror.Delete
	max       int  // Mirror.MaxDelete
	keptFiles bool // files are Kept

	// What is not deleted because of MaxDelete: by decide, before anything is.
	contents map[id]removal.Contents  // of the folders that were listed, by the key of their path
	decision removal.Decision[string] // by the keys of the paths of folders
}

// remove reports files that have disappeared. With Delete it also removes them, unless they were
// modified locally or MaxDelete keeps them. In a gopher tree any menu can list any file, so nothing
// counts as disappeared unless all menus were read to their end, and so were those that an earlier run
// has read with Parent or with another alias.
func (r *deletion) remove(ctx context.Context, s *survey) {
	if s.flat && s.unseen+s.outside > 0 {
		hidden := 0
		for range r.vanished(s) {
			hidden++
		}
		switch {
		case !r.delete || hidden == 0:
		case s.outside > 0:
			r.out.report(Event{Action: Noted, URL: r.tree.start().loc.Redacted(), Size: -1, Err: fmt.Errorf("nothing is deleted: "+
				"%d files are in no menu that was read, but may be in others, which an earlier run has read; use %s, or another directory", hidden, widening(r))})
		case s.unseen == s.unmarked:
			r.failUnmarked(ctx, s, hidden)
		}
		return
	}
	r.decide(s)
	r.reportKept(ctx, s)
	for line := range r.vanished(s) {
		if r.keeps(line) {
			r.keptFiles = true
			r.out.report(Event{Action: Kept, URL: line.URL, File: line.File, Size: line.Size})
		} else {
			r.removeFile(line)
		}
	}
}

// widening names the options of earlier runs that have read more menus.
func widening(r *deletion) string {
	t := r.tree.(*gopherTree)
	var all []string
	if r.wider.within == nil && t.within != nil {
		all = append(all, "Mirror.Parent")
	}
	used := t.allAliases(ManifestLine{})
	for _, name := range r.manifest.start.Aliases {
		if !slices.Contains(used, name) {
			all = append(all, "Mirror.Aliases "+fetch.Printable(name))
		}
	}
	return strings.Join(all, " and ")
}

// removeFile reports a file that has disappeared. With Delete it removes it, unless it was
// modified.
func (r *deletion) removeFile(line ManifestLine) {
	e := Event{Action: Gone, URL: line.URL, File: line.File, Size: line.Size}
	info, err := r.dir.Stat(line.File)
	if r.delete && err == nil && (info == nil || isUnmodified(line, info)) {
		e.Action = Deleted
		if err = r.dir.Remove(line.File); err == nil {
			r.manifest.remove(line.URL)
		}
	}
	if err != nil {
		e.Action, e.Err = Failed, err
	}
	if e.Action == Gone && !r.dir.DryRun {
		line.Gone, line.Time = true, now()
		r.out.write(line)
	}
	r.out.report(e)
}

// vanished yields the files of the manifest that are no longer in the tree. Files in folders that
// were not listed are left out.
func (r *deletion) vanished(s *survey) iter.Seq[ManifestLine] {
	return func(yield func(ManifestLine) bool) {
		for line := range r.manifest.unseen() {
			if line.Gone && !r.delete || s.hides(line.URL) {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

// failUnmarked reports that files are in no menu but were not deleted, because a menu without an
// end mark may be truncated and may have listed them.
func (r *deletion) failUnmarked(ctx context.Context, s *survey, vanished int) {
	start := r.tree.start().loc
	r.out.fail(ctx, start.Redacted(), "", driver.Fail(fetch.OpList, start, fetch.ErrTruncated, fmt.Errorf(
		"%d files are no longer in any menu but were not deleted: %d menus have no end mark and may be truncated; delete the files by hand",
		vanished, s.unmarked)))
}

// decide counts the files that would be deleted.
func (r *deletion) decide(s *survey) {
	if !r.delete || r.max < 0 {
		return
	}
	if r.max == 0 {
		r.contents = s.contents()
	}
	r.decision = removal.Decide(r.max, r.manifest.files(), func(yield func(string, bool) bool) {
		for line := range r.vanished(s) {
			if r.deletes(line) && !yield(r.folderOf(line.URL)) {
				return
			}
		}
	})
}

// contents returns what each folder lists, by the id of the key of its path.
func (s *survey) contents() map[id]removal.Contents {
	all := make(map[id]removal.Contents)
	for f := range s.listed() {
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

// deletes reports whether Delete would remove the file of a line from the disk.
func (r *deletion) deletes(line ManifestLine) bool {
	info, err := r.dir.Stat(line.File)
	return r.delete && err == nil && info != nil && isUnmodified(line, info)
}

// folderOf returns the folder whose listing should have the file: its own, or if that is not in the
// tree, the one above. isEmpty reports whether this listing is no reason to delete the file.
func (r *deletion) folderOf(url string) (dir string, isEmpty bool) {
	own, _, _ := folderOf(r.tree, url)
	key := func(n int) string {
		if n == 0 {
			return keyOf(r.tree.start().path)
		}
		return keyOf(own[:n])
	}
	n, isEmpty := removal.Nearest(len(own), func(n int) removal.Contents { return r.contents[idOf(key(n))] })
	return key(n), isEmpty
}

// keeps reports whether a file is not deleted.
func (r *deletion) keeps(line ManifestLine) bool {
	if !r.decision.KeepsSome() || !r.deletes(line) {
		return false
	}
	_, isEmpty := r.folderOf(line.URL)
	return r.decision.Keeps(isEmpty)
}

// reportKept reports what is kept, and what would delete it.
func (r *deletion) reportKept(ctx context.Context, s *survey) {
	needed := r.decision.Kept // by the next run
	if r.decision.All || r.dir.DryRun {
		needed = r.decision.Gone
	}
	fail := func(l locator.Locator, format string, args ...any) {
		err := removal.Refuse("Mirror.MaxDelete", needed, fmt.Sprintf(format, args...))
		r.out.fail(ctx, l.Redacted(), "", driver.Fail(fetch.OpMirror, l, fetch.ErrTruncated, err))
	}
	if emptied := r.decision.Emptied; len(emptied) > 0 {
		for f := range s.listed() {
			if n := emptied[keyOf(f.path)]; n > 0 {
				fail(f.loc, "lists no files, but the copy has %d", n)
				delete(emptied, keyOf(f.path))
			}
		}
	}
	switch start := r.tree.start().loc; {
	case !r.decision.All:
	case r.max > 0:
		fail(start, "%d files of the copy are no longer listed, more than Mirror.MaxDelete %d", r.decision.Gone, r.max)
	default:
		fail(start, "%d of %d files of the copy are no longer listed, more than half", r.decision.Gone-r.decision.Kept, r.manifest.files())
	}
}
