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
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// sameName reports whether two names may be the same on a server that changes names: they differ
// only in case, or in characters that are not letters or digits.
func sameName(a, b string) bool {
	plain := func(s string) string {
		return strings.ToLower(strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return -1
		}, s))
	}
	return plain(a) == plain(b)
}

// few is the number of files up to which all may be deleted in one run.
const few = 10

// removeObsolete reports the files that runs have sent, and that the tree has no more. With Delete
// it deletes those that the server lists as it did after they were sent. If anything has failed,
// nothing is deleted.
func (r *run) removeObsolete(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	here := maps.Clone(r.skipped) // earlier runs may have sent what links lead to
	for _, f := range r.files {
		here[f.path] = true
	}
	r.adopt(ctx, here)
	var missing []state.Record
	files := 0
	for _, rec := range r.state.All() {
		if rec.Dir || rec.Found {
			continue
		}
		if files++; !here[rec.File] && !r.isExcluded(rec.File, false) && r.isKnown(path.Dir(rec.File)) {
			if r.isThere(ctx, rec) {
				missing = append(missing, rec)
			}
		}
	}
	kept := r.guard(ctx, missing, files)
	byDir := make(map[string][]state.Record)
	for _, rec := range missing {
		switch {
		case !r.Delete:
			r.report(Event{What: Gone, File: rec.File, URL: rec.URL, Size: rec.Size})
		case kept(rec):
			r.report(Event{What: Kept, File: rec.File, URL: rec.URL, Size: rec.Size})
		case r.DryRun:
			r.report(Event{What: Deleted, File: rec.File, URL: rec.URL, Size: rec.Size})
		default:
			byDir[path.Dir(rec.File)] = append(byDir[path.Dir(rec.File)], rec)
		}
	}
	r.deleteAll(ctx, byDir)
	if r.Delete && !r.DryRun && !r.hasFailed() {
		r.removeDirs(ctx)
	}
}

// adopt finds the files that a run has sent, and renamed, but was killed before it recorded that,
// if the tree has them no more: the part is not there, and the file has the content that was sent.
func (r *run) adopt(ctx context.Context, here map[string]bool) {
	for _, rec := range r.state.Parts() {
		t, ok := r.entryOf(rec.File)
		_, part := r.entryOf(path.Join(path.Dir(rec.File), rec.Part))
		if !r.Delete || r.DryRun || !ok || part || here[rec.File] || t.Size != rec.Size || rec.SHA256 == "" {
			continue
		}
		sum := sha256.New()
		err := r.try(ctx, func() error {
			sum.Reset()
			res, err := r.site.Content(ctx, components(rec.File), 0, 0)
			if err != nil {
				return err
			}
			defer res.Close()
			_, err = io.Copy(sum, res.Body)
			return err
		})
		if err != nil {
			r.fail(ctx, rec.File, false, err)
		} else if hex.EncodeToString(sum.Sum(nil)) == rec.SHA256 {
			rec.Stored, rec.Part, rec.Time = t.Modified, "", time.Time{}
			r.record(rec)
		}
	}
}

// isKnown reports whether Dir is known to have no file in a folder that it does not have: a folder
// that could not be read may have it.
func (r *run) isKnown(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := r.local[dir]; ok {
			return true
		}
		local := cmp.Or(r.renamed[dir], dir)
		if _, err := r.root.Lstat(local); err == nil && (local != dir || !r.left[dir]) {
			return false // not read, or not entered
		}
	}
	return true
}

// isThere reports whether the server has a file as a run has left it. If it has no such file, the
// record is dropped; if the file has changed since, it is reported.
func (r *run) isThere(ctx context.Context, rec state.Record) bool {
	t, ok := r.entryOf(rec.File)
	if r.site.Web {
		var err error
		if t, ok, err = r.site.Look(ctx, components(rec.File)); err != nil {
			r.fail(ctx, rec.File, false, err)
			return false
		}
	}
	dir := path.Dir(rec.File)
	switch {
	case ok && r.isAsSent(rec, t, &file{path: rec.File}):
		return true
	case ok && r.isShifted(ctx, rec, t):
		rec.Stored = t.Modified
		r.record(rec)
		return true
	case ok:
		r.report(Event{What: Gone, File: rec.File, URL: rec.URL, Size: rec.Size, Err: errors.New("not as it was sent; it is kept")})
	case !r.hasFailed() && (r.site.Web || r.isGone(dir)): // a server in trouble may not list what it has
		rec.Gone = true
		r.record(rec)
	}
	return false
}

// isGone reports whether it is certain that the server has no more in a directory than it lists.
func (r *run) isGone(dir string) bool {
	if d, ok := r.remote[dir]; ok {
		return d.IsWhole()
	}
	above, ok := r.remote[path.Dir(dir)]
	if !ok && dir != "." {
		return r.isGone(path.Dir(dir))
	}
	_, there := above.Entries[path.Base(dir)]
	return ok && !there && above.IsWhole()
}

// guard returns a function that reports which files are not deleted, and complains about them:
// those of a folder that has no files any more, or all, if they are too many.
func (r *run) guard(ctx context.Context, missing []state.Record, files int) (kept func(state.Record) bool) {
	none := func(state.Record) bool { return false }
	switch {
	case !r.Delete || len(missing) == 0:
		return none
	case r.hasFailed():
		r.note("nothing is deleted, because something has failed")
		return func(state.Record) bool { return true }
	case r.MaxDelete < 0:
		return none
	}
	complain := func(dir string, format string, args ...any) {
		err := fmt.Errorf("%s; %w; use Mirror.MaxDelete %d or Mirror.MaxDelete -1 to delete them", fmt.Sprintf(format, args...), r.ErrKept, len(missing))
		r.fail(ctx, dir, true, driver.Fail(fetch.OpMirror, r.site.At(components(dir), true), fetch.ErrTruncated, err))
	}
	all := func(state.Record) bool { return true }
	if r.MaxDelete > 0 {
		if len(missing) <= r.MaxDelete {
			return none
		}
		complain(".", "%d files would be deleted, and Mirror.MaxDelete is %d", len(missing), r.MaxDelete)
		return all
	}
	hasFolders := make(map[string]bool)
	for dir := range r.local {
		if dir != "." {
			hasFolders[path.Dir(dir)] = true
		}
	}
	emptied := make(map[string]int)
	keeps := make(map[string]bool) // files of emptied folders
	for _, rec := range missing {
		if dir, empty := r.emptied(rec.File, hasFolders); empty {
			emptied[dir]++
			keeps[rec.File] = true
		}
	}
	if files > few && 2*(len(missing)-len(keeps)) > files {
		complain(".", "%d of %d files would be deleted", len(missing), files)
		return all
	}
	for _, dir := range slices.Sorted(maps.Keys(emptied)) {
		complain(dir, "the folder here has no files, but %d were sent from it", emptied[dir])
	}
	return func(rec state.Record) bool { return keeps[rec.File] }
}

// emptied returns the folder here that should have a file: its own, or the nearest one above it
// that exists. empty reports whether what that has is no reason to delete the file, as with a disk
// that is not mounted, or a site that was not built.
func (r *run) emptied(name string, hasFolders map[string]bool) (dir string, empty bool) {
	own := path.Dir(name)
	for dir = own; ; dir = path.Dir(dir) {
		if files, ok := r.local[dir]; ok || dir == "." {
			return dir, ok && files == 0 && (dir == own || !hasFolders[dir])
		}
	}
}

// deleteAll deletes files, by directory.
func (r *run) deleteAll(ctx context.Context, byDir map[string][]state.Record) {
	var dirs []string
	for dir := range byDir {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	pool.Each(ctx, r.Pool, pool.Indices(len(dirs)), func(i int, _ func() bool) error {
		return r.deleteIn(ctx, dirs[i], byDir[dirs[i]])
	}, func(i int, err error) { r.fail(ctx, dirs[i], true, err) })
}

// deleteIn deletes files of one directory. It returns an error if not every edit has a
// result.
func (r *run) deleteIn(ctx context.Context, dir string, recs []state.Record) error {
	edits := make([]fetch.Edit, len(recs))
	for i, rec := range recs {
		edits[i] = fetch.Edit{Kind: fetch.EditRemove, Name: path.Base(rec.File)}
		if r.site.Web {
			edits[i].Err = r.try(ctx, func() error { return r.site.Remove(ctx, components(rec.File)) })
		}
	}
	var err error
	if !r.site.Web {
		err = r.edit(ctx, dir, edits)
	}
	leftOf := leftIn(ctx, r, dir)
	left := func(name string) bool { is, _ := leftOf(name); return is }
	for i, rec := range recs {
		switch e := edits[i]; {
		case err != nil && !e.Done:
		case e.Err != nil && (!errors.Is(e.Err, fs.ErrNotExist) || left(e.Name)):
			r.fail(ctx, rec.File, false, e.Err)
		default:
			rec.Gone = true
			r.record(rec)
			r.report(Event{What: Deleted, File: rec.File, URL: rec.URL, Size: rec.Size})
		}
	}
	return err
}

// leftIn returns a function that reports whether the server may still have a file of which it has
// said that it does not exist: vsftpd gives the same reply to DELE if the user may not delete the
// file. isListed says that it is sure.
func leftIn(ctx context.Context, r *run, dir string) func(name string) (left, isListed bool) {
	if r.site.Web {
		return func(string) (bool, bool) { return false, false }
	}
	list := sync.OnceValues(func() (d site.Directory, err error) {
		err = r.try(ctx, func() error { d, err = r.site.List(ctx, components(dir)); return err })
		return d, err
	})
	return func(name string) (bool, bool) {
		d, err := list()
		_, there := d.Entries[name]
		return there || d.Partial || r.hidden(path.Join(dir, name)) || err != nil && !errors.Is(err, fs.ErrNotExist), there
	}
}

// removeDirs deletes the directories that runs have created, and that the tree has no more, from
// the bottom. Those that are not empty, or may have files that the listing hides, are kept; not every server
// does that by itself.
func (r *run) removeDirs(ctx context.Context) {
	for _, rec := range slices.Backward(r.state.All()) {
		_, here := r.local[rec.File]
		if !rec.Dir || here || r.isExcluded(rec.File, true) || !r.isKnown(rec.File) || ctx.Err() != nil {
			continue
		}
		var d site.Directory
		err := r.try(ctx, func() (err error) { d, err = r.site.ListAll(ctx, components(rec.File)); return err })
		if len(d.Entries) > 0 || !d.IsWhole() || d.Hides || err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		edits := []fetch.Edit{{Kind: fetch.EditRemoveDir, Name: path.Base(rec.File)}}
		if err := r.edit(ctx, path.Dir(rec.File), edits); err == nil && edits[0].Err == nil || errors.Is(err, fs.ErrNotExist) {
			rec.Gone = true
			r.record(rec)
		}
	}
}

// removeParts deletes the temporary files that no later run would continue.
func (r *run) removeParts(ctx context.Context) {
	files := make(map[string]*file)
	for _, f := range r.files {
		files[f.path] = f
	}
	useless := r.clear
	for _, rec := range r.state.Parts() {
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
		err := r.site.Edit(ctx, components(dir), edits, nil)
		if err == nil && edits[0].Err != nil {
			if left, isListed := leftIn(ctx, r, dir)(rec.Part); !isListed && !(left && r.has(ctx, dir, rec.Part)) {
				edits[0].Err = nil // it may have got its name; nodeftpd says "Permission denied" then
			}
		}
		if err == nil && edits[0].Err == nil || errors.Is(err, fs.ErrNotExist) {
			rec.Gone = true
			r.record(rec)
			continue
		}
		r.fail(ctx, path.Join(path.Dir(rec.File), rec.Part), false, fmt.Errorf("a temporary file could not be deleted; the next run tries again: %w", cmp.Or(err, edits[0].Err)))
	}
}
