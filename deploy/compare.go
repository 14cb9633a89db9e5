package deploy

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/locator"
)

// differences are the files that the server does not have as they are here.
type differences struct {
	fresh, changed []*file
	unsure         []*file // whose content has to be compared with that on the server; in a dry run only
	octets         int64
}

func (d *differences) add(f *file) {
	d.octets += f.size
	if f.isNew {
		d.fresh = append(d.fresh, f)
	} else {
		d.changed = append(d.changed, f)
	}
}

// A comparison is the result of compare.
type comparison uint8

const (
	same comparison = iota // reported, or failed
	toSend
	toCheck // the content on the server decides
)

// A comparer compares the tree with the server and the state.
type comparer struct {
	*listing
	*written
	contents *contents
	start    locator.Locator
	newOnly  bool
	shift    time.Duration // by how much the server lists times later than in the previous run
}

// compareAll compares all files. The contents of those that are in doubt are compared, but for a dry
// run.
func (c *comparer) compareAll(ctx context.Context, files []*file) *differences {
	d := &differences{}
	var unsure []*file
	for _, f := range files {
		if f.failed {
			continue
		}
		switch c.compare(ctx, f) {
		case toSend:
			d.add(f)
		case toCheck:
			unsure = append(unsure, f)
		}
	}
	if c.dryRun {
		d.unsure = unsure
	} else {
		c.checkAll(ctx, unsure, d)
	}
	return d
}

// compare decides what to do with a file by the listing and the state. The local content is read
// only if its time has changed since it was sent, or may change within the precision of the time.
func (c *comparer) compare(ctx context.Context, f *file) comparison {
	if i := strings.IndexAny(f.path, "\r\n\x00"); i >= 0 {
		f.failed = true
		e := c.of(Failed, f)
		e.URL = c.URL(nil, true)
		c.failAs(e, driver.Fail(fetch.OpCheck, c.start, fetch.ErrBadURL, fmt.Errorf("%q: a name with the byte %02X cannot be sent", f.path, f.path[i])))
		return same
	}
	t, ok := c.entry(f.path)
	rec, sent := c.Known(f.path)
	if f.isNew = !ok; f.isNew {
		return toSend
	}
	if t.Dir && !(t.Other && f.link != "") || t.Other && f.link == "" {
		c.failFile(ctx, f, driver.Fail(fetch.OpMirror, c.At(components(f.path), false), fetch.ErrExists, errors.New("the server has a directory, link or device of this name; it is not replaced")))
		return same
	}
	switch {
	case c.newOnly, f.link != "" && t.Other:
		c.unchanged(f)
		return same
	case t.Size >= 0 && t.Size != f.size:
		return toSend
	case sent && rec.Size == f.size:
		if rec.Modified.Equal(f.modified) && rec.Time.Sub(f.modified) > racy {
			f.sum = rec.SHA256
		} else if err := c.contents.root.sum(f); err != nil {
			c.failFile(ctx, f, err)
			return same
		}
		switch {
		case f.sum != rec.SHA256:
			return toSend
		case t.Size >= 0 && c.isAsSent(rec, t) && !c.contents.checksums && !c.Unfinished(f.path):
			c.remember(f, t.Modified)
			c.unchanged(f)
			return same
		}
	case !sent && t.Size == f.size && c.lists(f.path, t, f.modified) && !c.contents.checksums:
		if c.contents.root.sum(f) == nil && !c.dryRun {
			c.remember(f, t.Modified)
		}
		c.unchanged(f)
		return same
	}
	return toCheck
}

// findShift returns by how much the server lists times later than it did after the files were sent.
func findShift(l *listing, all []state.Line) time.Duration {
	var shift site.Shift
	for _, rec := range all {
		t, ok := l.entry(rec.File)
		if ok && !rec.Dir && rec.Size == t.Size && !l.Web && !l.isExact(rec.File) {
			shift.Add(rec.Stored, t.Modified)
		}
	}
	return shift.By()
}

// skew is by how much the clock of a server may be ahead.
const skew = 10 * time.Minute

// isShifted reports whether a file has another time in the listing only because the server lists
// other times for all files. It must not have been written since it was sent: its time is long before
// that in any time zone, or the server says so in UTC (MDTM).
func (c *comparer) isShifted(ctx context.Context, rec state.Line, t site.Entry) bool {
	if c.shift == 0 || c.isExact(rec.File) || rec.SHA256 == "" || rec.Size != t.Size || t.Modified.Sub(rec.Stored) != c.shift {
		return false
	}
	if site.IsBefore(t.Modified, rec.Time) {
		return true
	}
	now, ok, err := c.Look(ctx, components(rec.File))
	if err != nil || !ok || t.Modified.Sub(now.Modified).Abs() < time.Minute { // MDTM may have local times, too
		return false
	}
	return site.IsInUTC(t.Modified, now.Modified) && now.Modified.Before(rec.Time.Add(skew))
}

// isOnlyShifted is isShifted for a file that is still the one that was sent.
func (c *comparer) isOnlyShifted(ctx context.Context, f *file) bool {
	rec, sent := c.Known(f.path)
	t, _ := c.entry(f.path)
	return sent && f.sum == rec.SHA256 && !c.contents.checksums && !c.Unfinished(f.path) && c.isShifted(ctx, rec, t)
}

// checkAll compares the content of files with that on the server, and adds those that differ to d.
func (c *comparer) checkAll(ctx context.Context, files []*file, d *differences) {
	differs := make([]bool, len(files))
	c.each(ctx, len(files), func(i int, _ func() bool) error {
		f := files[i]
		err := c.try(ctx, func() (err error) {
			c.Tell(c.of(Started, f))
			if !c.isOnlyShifted(ctx, f) {
				ctx, part := c.watch(ctx, f, 0)
				defer part.End()
				differs[i], err = c.contents.differ(ctx, f, path.Base(f.path))
			}
			return err
		})
		if err == nil {
			c.Worked(c.of(Checked, f))
		}
		return err
	}, func(i int, err error) {
		c.failFile(ctx, files[i], err)
	})
	for i, f := range files {
		switch {
		case f.failed || ctx.Err() != nil:
		case differs[i]:
			f.sum = "" // with Checksums it may be that of older content
			d.add(f)
		default:
			t, _ := c.entry(f.path)
			if c.contents.root.sum(f) == nil {
				c.remember(f, t.Modified)
			}
			c.unchanged(f)
		}
	}
}
