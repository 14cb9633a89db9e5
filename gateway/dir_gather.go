package gateway

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/natural"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// A listing is the entries of a directory, which may still arrive.
type listing struct {
	Choice choice
	Known  bool // all entries are counted before the first one is shown, and sorted
	counts

	out     *response
	cancel  func()                     // ends the access; nil if the listing does not come by and by
	entries iter.Seq2[dirEntry, error] // in the order in which they are shown
	end     func()                     // ends the listing
	more    bool                       // there is a next page
}

// counts are what was counted of a directory: all of it if it is known, otherwise the rows so far.
type counts struct {
	Total    int // entries that were read, also those that the filter leaves out
	Files    int
	Pictures int // of the files
	Sounds   int
	Folders  int
	Bytes    int64
	readme   *dirEntry // a text about the directory; nil if the directory has no such file
}

// count counts an entry.
func (n *counts) count(e *dirEntry) {
	if e.kind == kindFolder {
		n.Folders++
		return
	}
	if n.Files++; e.size > 0 {
		n.Bytes += e.size
	}
	if e.isPicture() {
		n.Pictures++
	}
	if e.isSound() {
		n.Sounds++
	}
	if n.readme == nil && e.more != nil && e.more.at != nil {
		n.readme = e
	}
}

// Summary is what was counted, in words.
func (n *counts) Summary() string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{n.Folders, "folder"}, {n.Files, "file"}} {
		switch c.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+c.noun)
		default:
			parts = append(parts, strconv.Itoa(c.n)+" "+c.noun+"s")
		}
	}
	if n.Files > 0 {
		parts = append(parts, visible.Size(n.Bytes))
	}
	return strings.Join(parts, ", ")
}

// Empty reports whether nothing was counted.
func (n *counts) Empty() bool { return n.Files+n.Folders == 0 }

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
func limits(l *listing) (held int, hasty bool) {
	c := &l.Choice
	switch {
	case c.Order != "":
		return sortedRows, false
	case c.Unsorted:
		return 0, false
	}
	return heldRows, c.Page > 0 && c.Filter == "" && l.cancel != nil
}

// gather reads the beginning of a listing: all of it if it is short, or is to be sorted. A longer one
// is not held, and shown in the order of the server; on a page without an end, the folders in its
// beginning are first. The error is that of a listing without entries. An error in the middle of a
// listing comes after its entries. stop must be called.
func (l *listing) gather(of locator.Locator, entries iter.Seq2[dirEntry, error]) (stop func(), err error) {
	in := &incoming{cancel: l.cancel}
	in.next, in.stop = iter.Pull2(entries)
	l.end = in.end
	filter := strings.ToLower(l.Choice.Filter)
	limit, hasty := limits(l)
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
		l.Total++
		e := p.dirEntry
		if !l.Choice.keeps(&e, filter) {
			continue
		}
		if names += e.textSize(); len(held) == limit || names > heldNames {
			following = &e
			break
		}
		e.name = strings.Clone(e.name) // not the whole line of the listing
		held = append(held, &e)
	}
	if following != nil && l.Choice.Order != "" {
		err := fmt.Errorf("a listing of more than %d entries, or more than %d MiB of names and links, cannot be sorted", sortedRows, heldNames>>20)
		return in.end, driver.Fail(fetch.OpList, of, fetch.ErrTooLarge, err)
	}
	if l.Known = following == nil && !tooLate && !l.Choice.Unsorted; l.Known {
		for _, e := range held {
			l.count(e)
		}
		l.Choice.Page = min(l.Choice.Page, max(1, l.Pages()))
	}
	if l.Known || l.Choice.Page == 0 {
		slices.SortStableFunc(held, l.compare)
	}
	l.entries = in.rest(l, held, following, failure)
	if len(held) > 0 {
		l.out.err = failure
		return in.end, nil
	}
	return in.end, failure
}

// rest are the entries of l that are held, the one after them, and those that the server still sends,
// or the failure that ended the listing.
func (in *incoming) rest(l *listing, held []*dirEntry, following *dirEntry, failure error) iter.Seq2[dirEntry, error] {
	filter := strings.ToLower(l.Choice.Filter)
	return func(yield func(dirEntry, error) bool) {
		for _, e := range held {
			if !yield(*e, nil) {
				return
			}
		}
		if following != nil && !yield(*following, nil) {
			return
		}
		if in.pending != nil {
			l.out.flush()
		}
		for failure == nil {
			p, _ := in.pull(nil)
			if failure = p.err; !p.ok || p.err == nil && l.Choice.keeps(&p.dirEntry, filter) && !yield(p.dirEntry, nil) {
				return
			}
		}
		yield(dirEntry{}, failure)
	}
}

// compare is the order of two entries that are held: folders, files, names with a dot; within them
// the chosen one. Without a choice it is that of the names, if all are known.
func (l *listing) compare(a, b *dirEntry) int {
	if c := cmp.Compare(a.rank(), b.rank()); c != 0 || !l.Known {
		return c
	}
	by, reverse := strings.CutPrefix(l.Choice.Order, "-")
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

// Pages is the number of pages; 0 if it is not known.
func (l *listing) Pages() int {
	switch {
	case !l.Known:
		return 0
	case l.Choice.Page == 0: // all of it
		return 1
	}
	return (l.Files + l.Folders + l.Choice.perPage() - 1) / l.Choice.perPage()
}
