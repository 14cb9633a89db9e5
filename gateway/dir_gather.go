package gateway

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/natural"
)

// keeps reports whether the page shows an entry at all.
func (d *directory) keeps(e *dirEntry, filter string) bool {
	if d.Choice.Grid && e.kind != kindFolder && !e.isPicture() {
		return false
	}
	if d.Choice.Play && !e.isSound() {
		return false
	}
	return filter == "" || strings.Contains(strings.ToLower(visible(e.name)), filter)
}

// patience is how long a browser waits for the rest of a listing, after its first entry, before it
// gets a page in the order of the server.
const patience = 300 * time.Millisecond

// A pulled is an entry of a listing, or why there is not one.
type pulled struct {
	dirEntry
	err error
	ok  bool
}

// incoming are the entries of a listing that the server still sends. It is used by one goroutine.
type incoming struct {
	next    func() (dirEntry, error, bool)
	stop    func()
	cancel  func()      // ends the access; nil if nothing does
	pending chan pulled // of an entry that came too late; nil if nothing is awaited
}

// pull returns the next entry. It reports false if late is readable before the entry has come, which
// is then the result of the next call.
func (in *incoming) pull(late <-chan time.Time) (p pulled, inTime bool) {
	if in.pending == nil && late == nil {
		p.dirEntry, p.err, p.ok = in.next()
		return p, true
	}
	if in.pending == nil {
		pending := make(chan pulled, 1)
		in.pending = pending
		go func() {
			var p pulled
			p.dirEntry, p.err, p.ok = in.next()
			pending <- p
		}()
	}
	select {
	case p = <-in.pending:
		in.pending = nil
		return p, true
	case <-late:
		return p, false
	}
}

// end ends the listing. Nothing of it is read afterwards.
func (in *incoming) end() {
	if in.pending != nil {
		in.cancel()
		<-in.pending
		in.pending = nil
	}
	in.stop()
}

// limits are how many entries are held, and whether the page begins without the rest of the listing if
// that takes longer than a person waits. What is sorted or searched is read to its end.
func limits(d *directory) (held int, hasty bool) {
	c := &d.Choice
	switch {
	case c.Order != "":
		return sortedRows, false
	case c.Unsorted:
		return 0, false
	}
	return heldRows, c.Page > 0 && c.Filter == "" && d.cancel != nil
}

// gather reads the beginning of a listing: all of it if it is short, or is to be sorted. A longer one
// is not held, and shown in the order of the server; on a page without an end, the folders in its
// beginning are first. The error is that of a listing without entries. An error in the middle of a
// listing comes after its entries. stop must be called.
func (d *directory) gather(entries iter.Seq2[dirEntry, error]) (stop func(), err error) {
	in := &incoming{cancel: d.cancel}
	in.next, in.stop = iter.Pull2(entries)
	d.end = in.end
	filter := strings.ToLower(d.Choice.Filter)
	limit, hasty := limits(d)
	var held []*dirEntry
	var failure error
	var following *dirEntry // the first entry that is not held
	var late <-chan time.Time
	tooLate, names := false, 0
	for {
		p, inTime := in.pull(late)
		if tooLate = !inTime; tooLate {
			break
		}
		if failure = p.err; !p.ok || p.err != nil {
			break
		}
		if late == nil && hasty {
			late = time.After(patience)
		}
		d.Total++
		e := p.dirEntry
		if !d.keeps(&e, filter) {
			continue
		}
		if names += e.textSize(); len(held) == limit || names > heldNames {
			following = &e
			break
		}
		e.name = strings.Clone(e.name) // not the whole line of the listing
		held = append(held, &e)
	}
	if following != nil && d.Choice.Order != "" {
		err := fmt.Errorf("a listing of more than %d entries, or more than %d MiB of names and links, cannot be sorted", sortedRows, heldNames>>20)
		return in.end, driver.Fail(fetch.OpList, d.v.loc, fetch.ErrTooLarge, err)
	}
	if d.Known = following == nil && !tooLate && !d.Choice.Unsorted; d.Known {
		for _, e := range held {
			d.count(e)
		}
		d.Choice.Page = min(d.Choice.Page, max(1, d.Pages()))
	}
	if d.Known || d.Choice.Page == 0 {
		slices.SortStableFunc(held, d.compare)
	}
	d.entries = in.rest(d, held, following, failure)
	if len(held) > 0 {
		d.v.err = failure
		return in.end, nil
	}
	return in.end, failure
}

// rest are the entries of d that are held, the one after them, and those that the server still sends,
// or the failure that ended the listing.
func (in *incoming) rest(d *directory, held []*dirEntry, following *dirEntry, failure error) iter.Seq2[dirEntry, error] {
	filter := strings.ToLower(d.Choice.Filter)
	return func(yield func(dirEntry, error) bool) {
		for _, e := range held {
			if !yield(*e, nil) {
				return
			}
		}
		if following != nil && !yield(*following, nil) {
			return
		}
		if in.pending != nil && d.v.flush != nil {
			d.v.flush()
		}
		for failure == nil {
			p, _ := in.pull(nil)
			if failure = p.err; !p.ok || p.err == nil && d.keeps(&p.dirEntry, filter) && !yield(p.dirEntry, nil) {
				return
			}
		}
		yield(dirEntry{}, failure)
	}
}

// compare is the order of two entries that are held: folders, files, names with a dot; within them
// the chosen one. Without a choice it is that of the names, if all are known.
func (d *directory) compare(a, b *dirEntry) int {
	if c := cmp.Compare(a.rank(), b.rank()); c != 0 || !d.Known {
		return c
	}
	by, reverse := strings.CutPrefix(d.Choice.Order, "-")
	c := 0
	switch by {
	case "size":
		c = cmp.Compare(a.size, b.size)
	case "time":
		c = cmp.Compare(a.time, b.time)
	}
	if c = cmp.Or(c, natural.Compare(a.name, b.name)); reverse {
		return -c
	}
	return c
}
