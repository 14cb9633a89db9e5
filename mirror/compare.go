package mirror

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

// A comparison names every file of a survey and compares it with the manifest and with what is in the
// directory.
type comparison struct {
	found    *survey
	dir      *local.Dir
	manifest *manifest
	names    *namer
	out      *reporter
	newOnly  bool          // Mirror.NewOnly
	folders  bool          // create folders, although they may have no files
	shift    time.Duration // by how much the server lists times later than in the previous run
}

// markChanged marks the files to fetch. It returns their number and known total size.
func (c *comparison) markChanged(ctx context.Context) (files int, octets int64) {
	claims := naming.NewClaims(Folder)
	c.nameFolders(claims)
	box := c.names.box
	var shift site.Shift
	for _, old := range []bool{true, false} { // files that have a name keep it
		for m, e := range c.found.wanted() {
			if ctx.Err() != nil {
				return 0, 0
			}
			if c.manifest.isDone(e.url) != old {
				continue
			}
			known := c.manifest.lookup(e.url)
			e.file = c.names.fileOf(e)
			if old {
				c.names.reportChanged(e.path, e.url, true)
			}
			if e.local && e.size >= 0 && e.size == known.done.Size {
				shift.Add(known.done.Modified, e.modified)
			}
			if err := claims.File(e.file); err != nil && (box == nil || e.file != box.Name) {
				c.out.failFile(e.url, e.file, e.size, err)
				continue
			}
			if c.mustFetch(e, known) {
				*m |= isToFetch
				files++
				octets += max(0, e.size)
			}
		}
	}
	if c.shift = shift.By(); c.shift != 0 {
		n, k := c.keepShifted()
		return files - n, octets - k
	}
	return files, octets
}

// keepShifted compares the files to fetch once more, after all have shown that the server lists
// other times than before. It returns how many files are not to be fetched, and their size.
func (c *comparison) keepShifted() (files int, octets int64) {
	for m, e := range c.found.wanted() {
		known := c.manifest.lookup(e.url)
		if *m&isToFetch == 0 || known.done.SHA256 == "" {
			continue
		}
		if e.file = c.names.fileOf(e); !c.mustFetch(e, known) {
			*m &^= isToFetch
			files++
			octets += e.size
		}
	}
	return files, octets
}

// nameFolders names the folders and creates them. If two names differ in letter case only, the
// second folder fails.
func (c *comparison) nameFolders(claims *naming.Claims) {
	for f := range c.found.listed() {
		dir := c.names.Path(f.path)
		c.names.nameFolder(f, dir)
		err := claims.Dir(dir)
		if err == nil && c.folders && !c.dir.DryRun && dir != "" {
			err = c.dir.PlaceError(c.dir.Root.MkdirAll(dir, 0o777))
		}
		if err != nil {
			c.out.failFile(strings.TrimSuffix(c.found.tree.start().loc.Redacted(), "/")+"/"+dir, dir, -1, err)
		}
	}
}

// mustFetch reports whether a file must be fetched. Otherwise it reports that the file is unchanged, or
// why it cannot be fetched, and brings its line in the manifest up to date.
func (c *comparison) mustFetch(e *entry, known known) bool {
	done, unchanged := known.done, Event{Action: Unchanged, URL: e.url, File: e.file, Size: e.size}
	if box := c.names.box; box != nil {
		if done.SHA256 == "" || e.id != done.ID || box.Lost {
			return true
		}
		c.out.report(unchanged) // mail readers may have moved it
		return false
	}
	info, err := c.dir.Stat(e.file)
	if err != nil {
		c.out.failFile(e.url, e.file, e.size, err)
		return false
	}
	switch compare(e, known, info, c.newOnly, c.shift) {
	case toFetch:
		return true
	case isShifted:
		if setListed(c.dir, c.manifest, e, done) != nil {
			return true
		}
	case foreign:
		if !c.adopt(e, info) {
			c.out.failFile(e.url, e.file, e.size, naming.Existsf("%s: exists, and is not overwritten because this mirror did not create it", e.file))
			return false
		}
	case upToDate:
		if newlyMarked := e.end == marked && !done.Marked; done.Gone || newlyMarked {
			done.Gone, done.Marked = false, done.Marked || newlyMarked
			c.out.write(done)
		}
	}
	c.out.report(unchanged)
	return false
}

// adopt records an existing file as copied if its size and time are those in the listing.
func (c *comparison) adopt(e *entry, info fs.FileInfo) bool {
	if e.modified.IsZero() || e.size < 0 || !isUnmodified(ManifestLine{Size: e.size, Modified: e.modified}, info) {
		return false
	}
	sum, err := c.dir.Sum(e.file, -1)
	if err != nil {
		return false
	}
	c.out.write(ManifestLine{URL: e.url, File: e.file, Size: e.size, Modified: e.modified, ID: e.id, SHA256: sum, Time: now()})
	c.names.reportChanged(e.path, e.url, false)
	return true
}

// An outcome is the result of compare.
type outcome uint8

const (
	toFetch   outcome = iota
	upToDate          // the copy is that of the file
	isShifted         // it is, but the listing has another time
	foreign           // there is a file that this mirror has not created
)

// compare compares a file of a listing with the lines of the manifest and the local file. A nil info
// means that there is no such file. shift is by how much the server lists times later than before.
func compare(e *entry, known known, info fs.FileInfo, newOnly bool, shift time.Duration) outcome {
	done := known.done
	switch {
	case done.SHA256 == "":
		if info == nil || known.begun.File == e.file {
			return toFetch
		}
		return foreign
	case info == nil || !isUnmodified(done, info):
		return toFetch
	case newOnly && e.sum == "", e.same(done) && !done.Unsure:
		return upToDate
	case e.isShifted(done, shift):
		return isShifted
	}
	return toFetch
}

// same reports whether the file of a listing is the one that a line describes.
func (e *entry) same(done ManifestLine) bool {
	switch {
	case e.id != "":
		return e.id == done.ID
	case e.sum != "":
		return e.sum == done.SHA256
	}
	return !e.modified.IsZero() && site.SameTime(e.modified, done.Modified) && (e.size < 0 || e.size == done.Size)
}

// isShifted reports whether a file has another time in the listing only because the server shifts
// all times. It was modified long before it was fetched, so it was not written since. If the exact
// time is known, that decides when it is fetched.
func (e *entry) isShifted(done ManifestLine, by time.Duration) bool {
	return by != 0 && e.local && e.size == done.Size && e.modified.Sub(done.Modified) == by &&
		site.IsBefore(e.modified, done.Time) && done.Exact.IsZero()
}

// setListed gives a file that has not changed the time in the listing, and records that.
func setListed(d *local.Dir, m *manifest, e *entry, done ManifestLine) error {
	if d.DryRun {
		return nil
	}
	if err := local.SetTime(d.Root, e.file, e.modified); err != nil {
		return err
	}
	done.Modified, done.Gone = e.modified, false
	return m.add(done)
}
