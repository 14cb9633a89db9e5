package mirror

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

// plan names every file, compares the listings with the manifest, and marks the files to fetch. It
// returns their number and known total size.
func (r *run) plan(ctx context.Context, s *survey) (files int, octets int64) {
	names := naming.NewClaims(Folder)
	r.nameFolders(ctx, s, names)
	var shift site.Shift
	for _, old := range []bool{true, false} { // files that have a name keep it
		for m, e := range s.wanted(r.tree) {
			if ctx.Err() != nil {
				return 0, 0
			}
			if r.manifest.isDone(e.url) != old {
				continue
			}
			known := r.manifest.lookup(e.url)
			e.file = r.fileOf(e)
			if old && r.box == nil {
				r.reportChanged(e.path, e.url, true)
			}
			if e.local && e.size >= 0 && e.size == known.done.Size {
				shift.Add(known.done.Modified, e.modified)
			}
			if err := names.File(e.file); err != nil && (r.box == nil || e.file != r.box.Name) {
				r.failFile(e, err)
				continue
			}
			switch r.compare(e, known) {
			case upToDate:
				r.report(Event{Action: Unchanged, URL: e.url, File: e.file, Size: e.size})
			case toFetch:
				*m |= isToFetch
				files++
				octets += max(0, e.size)
			}
		}
	}
	if r.shift = shift.By(); r.shift != 0 {
		n, k := r.keepShifted(s)
		return files - n, octets - k
	}
	return files, octets
}

// keepShifted compares the files to fetch once more, after all have shown that the server lists
// other times than before. It returns how many files are not to be fetched, and their size.
func (r *run) keepShifted(s *survey) (files int, octets int64) {
	for m, e := range s.wanted(r.tree) {
		known := r.manifest.lookup(e.url)
		if *m&isToFetch == 0 || known.done.SHA256 == "" {
			continue
		}
		if e.file = r.fileOf(e); r.compare(e, known) == upToDate {
			*m &^= isToFetch
			r.report(Event{Action: Unchanged, URL: e.url, File: e.file, Size: e.size})
			files++
			octets += e.size
		}
	}
	return files, octets
}

// wanted yields the files that belong in the copy.
func (s *survey) wanted(t tree) iter.Seq2[*mark, *entry] {
	return func(yield func(*mark, *entry) bool) {
		for _, b := range s.batches {
			for m, e := range b.entries(t) {
				if *m&isWanted != 0 && !yield(m, e) {
					return
				}
			}
		}
	}
}

// listed yields the folders that were listed without an error.
func (s *survey) listed(t tree) iter.Seq[folder] {
	return func(yield func(folder) bool) {
		if s.start&isListed != 0 && !yield(t.start()) {
			return
		}
		for _, b := range s.batches {
			for m, f := range b.folders(t) {
				if *m&isListed != 0 && !yield(f) {
					return
				}
			}
		}
	}
}

// fileOf returns the local path of an entry.
func (r *run) fileOf(e *entry) string {
	if r.box != nil {
		return r.box.File(e.path[0], e.url+" "+e.id)
	}
	return cmp.Or(r.manifest.lookup(e.url).done.File, r.naming.Path(e.path))
}

// vanished yields the files of the manifest that are no longer in the tree. Files in folders that
// were not listed are left out.
func (r *run) vanished(s *survey) iter.Seq[ManifestLine] {
	return func(yield func(ManifestLine) bool) {
		for line := range r.manifest.unseen() {
			if line.Gone && !r.Delete || s.hides(r.tree, line.URL) {
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

// hides reports whether a file of the manifest is not known to be gone: it is below a folder that was
// not listed, or it, or a folder above it, is left out of a listing because its name begins with a
// dot. The path on the server decides: files keep the names here that earlier runs have given them.
func (s *survey) hides(t tree, url string) bool {
	dir, name, known := folderOf(t, url)
	for n := len(dir); known && n >= 0; n-- {
		if n < len(dir) {
			name = dir[n]
		}
		if key := keyOf(dir[:n]); s.hidden[key] || s.dotless[key] && strings.HasPrefix(name, ".") {
			return true
		}
	}
	return !known
}

// folderOf returns the path on the server of the folder whose listing has the file of a URL, and the
// name of the file in it. If the URL is not one of the tree, it reports false.
func folderOf(t tree, url string) (dir []string, name string, ok bool) {
	if _, flat := t.(*newsTree); flat {
		return nil, "", true
	}
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		return nil, "", false
	}
	at, err := t.place(fetch.Item{Locator: ref.Locator})
	switch {
	case err != nil:
		return nil, "", false
	case at.dir: // a menu is listed in its own folder
		return at.path, "", true
	}
	last := len(at.path) - 1
	return at.path[:last], at.path[last], true
}

// keyOf returns the key of a path on the server in maps. No name in a listing has NUL.
func keyOf(p []string) string { return strings.Join(p, "\x00") }

// nameFolders names the folders and creates them. If two names differ in letter case only, the
// second folder fails.
func (r *run) nameFolders(ctx context.Context, s *survey, names *naming.Claims) {
	name := func(f folder) {
		dir := r.naming.Path(f.path)
		r.nameFolder(f, dir)
		err := names.Dir(dir)
		if err == nil && !r.DryRun && dir != "" && len(r.Include) == 0 {
			err = placeError(ctx, r, r.root.MkdirAll(dir, 0o777))
		}
		if err != nil {
			r.failFile(&entry{url: strings.TrimSuffix(r.tree.start().loc.Redacted(), "/") + "/" + dir, file: dir, size: -1}, err)
		}
	}
	for f := range s.listed(r.tree) {
		name(f)
	}
}

// verdict is the result of compare.
type verdict uint8

const (
	toFetch verdict = iota
	upToDate
	refused // and reported
)

// compare decides whether a file must be fetched.
func (r *run) compare(e *entry, known known) verdict {
	if r.box != nil {
		if known.done.SHA256 != "" && e.id == known.done.ID && !r.box.Lost {
			return upToDate // mail readers may have moved it
		}
		return toFetch
	}
	info, err := r.stat(e.file)
	if err != nil {
		r.failFile(e, err)
		return refused
	}
	if known.done.SHA256 == "" {
		if info == nil || known.begun.File == e.file {
			return toFetch
		}
		if r.adopt(e, info) {
			return upToDate
		}
		r.failFile(e, naming.Existsf("%s: exists, and is not overwritten because this mirror did not create it", e.file))
		return refused
	}
	switch {
	case info == nil || !isUnmodified(known.done, info):
		return toFetch
	case r.NewOnly && e.sum == "", e.same(known.done) && !known.done.Unsure:
		if newlyMarked := e.end == marked && !known.done.Marked; known.done.Gone || newlyMarked {
			known.done.Gone = false
			known.done.Marked = known.done.Marked || newlyMarked
			r.record(known.done)
		}
		return upToDate
	case e.isShifted(known.done, r.shift) && r.setListed(e, known.done) == nil:
		return upToDate
	}
	return toFetch
}

// isShifted reports whether a file has another time in the listing only because the server shifts
// all times. It was modified long before it was fetched, so it was not written since. If the exact
// time is known, that decides when it is fetched.
func (e *entry) isShifted(done ManifestLine, by time.Duration) bool {
	return by != 0 && e.local && e.size == done.Size && e.modified.Sub(done.Modified) == by &&
		site.IsBefore(e.modified, done.Time) && done.Exact.IsZero()
}

// setListed gives a file that has not changed the time in the listing, and records that.
func (r *run) setListed(e *entry, done ManifestLine) error {
	if r.DryRun {
		return nil
	}
	if err := setTime(r.root, e.file, e.modified); err != nil {
		return err
	}
	done.Modified, done.Gone = e.modified, false
	return r.manifest.add(done)
}

// same reports whether the file of a listing is the one described by a record.
func (e *entry) same(done ManifestLine) bool {
	switch {
	case e.id != "":
		return e.id == done.ID
	case e.sum != "":
		return e.sum == done.SHA256
	}
	return !e.modified.IsZero() && site.SameTime(e.modified, done.Modified) && (e.size < 0 || e.size == done.Size)
}

// stat returns the information about a local file, or nil if it does not exist. An error means that
// this is not known.
func (r *run) stat(file string) (fs.FileInfo, error) {
	if r.root == nil {
		return nil, nil
	}
	info, err := r.root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// isUnmodified reports whether a file is unmodified since the mirror wrote it. Some file systems
// store times in steps of two seconds.
func isUnmodified(done ManifestLine, info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == done.Size &&
		(done.Modified.IsZero() || info.ModTime().Sub(done.Modified).Abs() <= 2*time.Second)
}

// adopt records an existing file as copied if its size and time are those in the listing.
func (r *run) adopt(e *entry, info fs.FileInfo) bool {
	if e.modified.IsZero() || e.size < 0 || !isUnmodified(ManifestLine{Size: e.size, Modified: e.modified}, info) {
		return false
	}
	sum, err := r.sumOf(e.file)
	if err != nil {
		return false
	}
	r.record(ManifestLine{URL: e.url, File: e.file, Size: e.size, Modified: e.modified, ID: e.id, SHA256: sum, Time: now()})
	r.reportChanged(e.path, e.url, false)
	return true
}

// record adds a line to the manifest.
func (r *run) record(line ManifestLine) {
	if err := r.manifest.add(line); err != nil {
		r.report(Event{Action: Failed, URL: line.URL, File: line.File, Size: -1, Err: err})
	}
}

// failFile is fail for a local error.
func (r *run) failFile(e *entry, err error) {
	r.record(ManifestLine{URL: e.url, File: e.file, Size: -1, Time: now(), Error: err.Error()})
	r.report(Event{Action: Failed, URL: e.url, File: e.file, Size: e.size, Err: err})
}
