package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
)

// ErrMaxDelete is in the chain of the error of a run in which [Mirror.MaxDelete] kept files, and in
// that of the [Failed] event of each directory or menu with such files.
var ErrMaxDelete = errors.New("none of them is deleted")

// fewFiles is the number of files of a copy up to which all of them may be deleted in one run.
const fewFiles = 10

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
	g := r.guard(s)
	g.reportKept(ctx, s)
	for line := range r.vanished(s) {
		if g.keeps(line) {
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

// A guard decides which files that have disappeared are not deleted; see MaxDelete.
type guard struct {
	*deletion
	contents map[id]contents // of the folders that were listed, by the key of their path
	missing  int             // files that Delete would delete
	emptied  map[string]int  // the number of those that a folder keeps, by the key of its path
	kept     int             // their sum
	all      bool            // nothing is deleted
}

// contents says what a listing has.
type contents uint8

const (
	nothing contents = iota + 1
	onlyFolders
	someFiles
)

// guard returns the guard of a run. It counts before anything is deleted.
func (r *deletion) guard(s *survey) *guard {
	g := &guard{deletion: r, emptied: make(map[string]int)}
	if !r.delete || r.max < 0 {
		return g
	}
	if r.max == 0 {
		g.contents = s.contents()
	}
	for line := range r.vanished(s) {
		if !r.deletes(line) {
			continue
		}
		g.missing++
		if dir, empty := g.folderOf(line.URL); empty {
			g.emptied[dir]++
			g.kept++
		}
	}
	if r.max > 0 {
		g.all = g.missing > r.max
	} else if files := r.manifest.files(); files > fewFiles {
		g.all = 2*(g.missing-g.kept) > files
	}
	return g
}

// contents returns what each folder lists, by the id of the key of its path.
func (s *survey) contents() map[id]contents {
	all := make(map[id]contents)
	for f := range s.listed() {
		all[idOf(keyOf(f.path))] = nothing
	}
	for _, b := range s.batches {
		files := b.files
		if b.menu != nil {
			files-- // the menu itself
		}
		c := nothing
		switch {
		case files > 0:
			c = someFiles
		case len(b.blocks) > 0:
			c = onlyFolders
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
// tree, the one above. empty reports whether this listing is no reason to delete the file.
func (g *guard) folderOf(url string) (dir string, empty bool) {
	own, _, _ := folderOf(g.tree, url)
	for n := len(own); n > 0; n-- {
		dir = keyOf(own[:n])
		if c := g.contents[idOf(dir)]; c != 0 {
			return dir, c == nothing || c == onlyFolders && n == len(own)
		}
	}
	dir = keyOf(g.tree.start().path)
	c := g.contents[idOf(dir)]
	return dir, c == nothing || c == onlyFolders && len(own) == 0
}

// keeps reports whether a file is not deleted.
func (g *guard) keeps(line ManifestLine) bool {
	if !g.all && g.kept == 0 || !g.deletes(line) {
		return false
	}
	_, empty := g.folderOf(line.URL)
	return g.all || empty
}

// reportKept reports what is kept, and what would delete it.
func (g *guard) reportKept(ctx context.Context, s *survey) {
	needed := g.kept // by the next run
	if g.all || g.dir.DryRun {
		needed = g.missing
	}
	fail := func(l locator.Locator, format string, args ...any) {
		err := fmt.Errorf("%s; %w; use Mirror.MaxDelete %d or Mirror.MaxDelete -1 to delete them", fmt.Sprintf(format, args...), ErrMaxDelete, needed)
		g.out.fail(ctx, l.Redacted(), "", driver.Fail(fetch.OpMirror, l, fetch.ErrTruncated, err))
	}
	if len(g.emptied) > 0 {
		for f := range s.listed() {
			if n := g.emptied[keyOf(f.path)]; n > 0 {
				fail(f.loc, "lists no files, but the copy has %d", n)
				delete(g.emptied, keyOf(f.path))
			}
		}
	}
	switch start := g.tree.start().loc; {
	case !g.all:
	case g.max > 0:
		fail(start, "%d files of the copy are no longer listed, more than Mirror.MaxDelete %d", g.missing, g.max)
	default:
		fail(start, "%d of %d files of the copy are no longer listed, more than half", g.missing-g.kept, g.manifest.files())
	}
}
