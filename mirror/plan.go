package mirror

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/fetch1738/fetch1738/internal/filename"
)

// plan gives every file its name, compares what there is with what is known, and
// marks what is to be fetched. It returns how much that is.
func (r *run) plan(s *survey) (files int, octets int64) {
	names := claims{dirs: make(map[string]string), files: make(map[shortID]struct{})}
	r.nameFolders(s, &names)
	for _, old := range []bool{true, false} { // what has a name keeps it
		for m, e := range s.wanted(r.tree) {
			if r.manifest.isDone(e.url) != old {
				continue
			}
			known := r.manifest.lookup(e.url)
			e.file = cmp.Or(known.done.File, localPath(e.path))
			if err := names.claim(e.file); err != nil {
				r.failFile(e, err)
				continue
			}
			switch r.compare(e, known) {
			case asItWas:
				r.report(Event{Action: Unchanged, URL: e.url, File: e.file, Size: e.size})
			case toFetch:
				*m |= isToFetch
				files++
				octets += max(0, e.size)
			}
		}
	}
	return files, octets
}

// wanted yields the files that the copy is to have.
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

// fileOf is what a file is called here.
func (r *run) fileOf(e *entry) string {
	return cmp.Or(r.manifest.lookup(e.url).done.File, localPath(e.path))
}

// vanished yields the files of the manifest that the tree does not have any more,
// as far as it was looked at.
func (r *run) vanished(s *survey) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for rec := range r.manifest.unseen() {
			if rec.Gone && !r.Delete || isHidden(s.hidden, rec.File) {
				continue
			}
			if !yield(rec) {
				return
			}
		}
	}
}

// isHidden tells whether a file is in one of some directories.
func isHidden(hidden map[string]bool, file string) bool {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if hidden[dir] {
			return true
		}
		if dir == "." {
			return hidden[""]
		}
	}
}

// localPath is a path of safe names.
func localPath(p []string) string {
	names := make([]string, len(p))
	for i, name := range p {
		names[i] = filename.Component(name)
	}
	return strings.Join(names, "/")
}

// nameFolders gives folders their names, and makes them. Where two would have the
// same, on a system that does not tell letter cases apart, the second fails.
func (r *run) nameFolders(s *survey, names *claims) {
	name := func(f folder) {
		dir := localPath(f.path)
		err := names.claimDir(dir)
		if err == nil && !r.DryRun && dir != "" && len(r.Include) == 0 {
			err = r.root.MkdirAll(dir, 0o777)
		}
		if err != nil {
			r.failFile(&entry{url: strings.TrimSuffix(r.tree.start().loc.Redacted(), "/") + "/" + dir, file: dir, size: -1}, err)
		}
	}
	if s.start&isListed != 0 {
		name(r.tree.start())
	}
	for _, b := range s.batches {
		for m, f := range b.folders(r.tree) {
			if *m&isListed != 0 {
				name(f)
			}
		}
	}
}

// claims are the names given so far, folded.
type claims struct {
	dirs  map[string]string // folded, and how it is written
	files map[shortID]struct{}
}

// A shortID is an id of half the length: should two names ever have the same, the
// second file fails and is told of.
type shortID [8]byte

func shortIDOf(folded string) shortID {
	long := idOf(folded)
	return shortID(long[:])
}

// hasFile reports whether a file has a name.
func (c *claims) hasFile(folded string) bool {
	_, taken := c.files[shortIDOf(folded)]
	return taken
}

// maxPath bounds a file's path in octets: systems open none that is much longer.
const maxPath = 1024

var errPath = fmt.Errorf("a path of more than %d octets", maxPath)

// claim takes a name for a file and those of the directories above it.
func (c *claims) claim(file string) error {
	if len(file) > maxPath {
		return errPath
	}
	folded := fold(file)
	if _, isDir := c.dirs[folded]; isDir || c.hasFile(folded) || fold(Folder) == firstOf(folded) {
		return fmt.Errorf("%s: another file or directory here has that name, but for letter case: %w", file, fs.ErrExist)
	}
	if err := c.claimDir(path.Dir(file)); err != nil {
		return err
	}
	c.files[shortIDOf(folded)] = struct{}{}
	return nil
}

// claimDir takes the name of a directory, and those above it.
func (c *claims) claimDir(dir string) error {
	if len(dir) > maxPath {
		return errPath
	}
	for ; dir != "." && dir != ""; dir = path.Dir(dir) {
		folded := fold(dir)
		written, taken := c.dirs[folded]
		if c.hasFile(folded) || taken && written != dir {
			return fmt.Errorf("%s: another file or directory here has that name, but for letter case: %w", dir, fs.ErrExist)
		}
		if taken {
			break
		}
		c.dirs[folded] = dir
	}
	return nil
}

func firstOf(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

// fold is s with letters that differ in case only made the same.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// verdict is what is to be done about a file.
type verdict uint8

const (
	toFetch verdict = iota
	asItWas
	refused // which has been told of
)

// compare finds out whether a file has to be fetched.
func (r *run) compare(e *entry, known known) verdict {
	info := r.stat(e.file)
	if known.done.SHA256 == "" {
		if info == nil || known.begun.File == e.file {
			return toFetch
		}
		if r.adopt(e, info) {
			return asItWas
		}
		r.failFile(e, fmt.Errorf("%s: is there already, and is not this mirror's: %w", e.file, fs.ErrExist))
		return refused
	}
	switch {
	case info == nil || !isAsLeft(known.done, info):
		return toFetch
	case r.NewOnly && e.sum == "", e.same(known.done) && !known.done.Unsure:
		if newlyMarked := e.end == marked && !known.done.Marked; known.done.Gone || newlyMarked {
			known.done.Gone = false
			known.done.Marked = known.done.Marked || newlyMarked
			r.note(known.done)
		}
		return asItWas
	}
	return toFetch
}

// same tells whether a listing says that a file is the one of a record.
func (e *entry) same(done Record) bool {
	switch {
	case e.id != "":
		return e.id == done.ID
	case e.sum != "":
		return e.sum == done.SHA256
	}
	return !e.modified.IsZero() && sameTime(e.modified, done.Modified) && (e.size < 0 || e.size == done.Size)
}

// sameTime compares two times of a listing. As a file grows old its time loses
// the hours in the listings of FTP.
func sameTime(listed, before time.Time) bool {
	listed, before = listed.UTC(), before.UTC()
	midnight := listed.Truncate(24*time.Hour) == listed
	return listed.Equal(before) || midnight && listed.Equal(before.Truncate(24*time.Hour))
}

// stat is what is at a file's place; nil if nothing is.
func (r *run) stat(file string) fs.FileInfo {
	if r.root == nil {
		return nil
	}
	info, err := r.root.Lstat(file)
	if err != nil {
		return nil
	}
	return info
}

// isAsLeft tells whether a file is as the mirror left it. Some file systems
// count time in steps of two seconds.
func isAsLeft(done Record, info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == done.Size &&
		(done.Modified.IsZero() || info.ModTime().Sub(done.Modified).Abs() <= 2*time.Second)
}

// adopt takes a file for this mirror's that is all that a listing says of it.
func (r *run) adopt(e *entry, info fs.FileInfo) bool {
	if e.modified.IsZero() || e.size < 0 || !isAsLeft(Record{Size: e.size, Modified: e.modified}, info) {
		return false
	}
	sum, err := r.sumOf(e.file)
	if err != nil {
		return false
	}
	r.note(Record{URL: e.url, File: e.file, Size: e.size, Modified: e.modified, ID: e.id, SHA256: sum, Time: now()})
	return true
}

// note writes a line of the manifest about what needs no fetching.
func (r *run) note(rec Record) {
	if err := r.manifest.add(rec); err != nil {
		r.report(Event{Action: Failed, URL: rec.URL, File: rec.File, Size: -1, Err: err})
	}
}

// remove tells of files that have disappeared, and removes them if that is
// wanted and nobody has changed them here. Where any menu can lead anywhere,
// nothing has disappeared as long as one was not read to its end.
func (r *run) remove(ctx context.Context, s *survey) {
	hidden := 0
	for rec := range r.vanished(s) {
		if s.flat && s.unseen > 0 {
			hidden++
		} else {
			r.removeFile(rec)
		}
	}
	if r.Delete && hidden > 0 && s.unseen == s.unmarked {
		r.failUnmarked(ctx, s, hidden)
	}
}

func (r *run) removeFile(rec Record) {
	e := Event{Action: Gone, URL: rec.URL, File: rec.File, Size: rec.Size}
	info := r.stat(rec.File)
	if r.Delete && (info == nil || isAsLeft(rec, info)) {
		e.Action = Deleted
		if err := r.unlink(rec.File); err != nil {
			e.Action, e.Err = Failed, err
		} else {
			r.manifest.forget(rec.URL)
		}
	}
	if e.Action == Gone && !r.DryRun {
		rec.Gone, rec.Time = true, now()
		r.note(rec)
	}
	r.report(e)
}

// failFile is fail of what goes wrong on this side.
func (r *run) failFile(e *entry, err error) {
	r.note(Record{URL: e.url, File: e.file, Size: -1, Time: now(), Error: err.Error()})
	r.report(Event{Action: Failed, URL: e.url, File: e.file, Size: e.size, Err: err})
}
