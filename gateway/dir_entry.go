package gateway

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A dirEntry is an entry of a directory, without what takes much memory.
type dirEntry struct {
	name string
	href string // relative to the page
	size int64  // in bytes; -1 if it is not known
	time int64  // in seconds since 1970; noTime if it is not known
	kind kind
	more *entryMore // what few entries have
}

const noTime = math.MinInt64

// entryMore is the part of a dirEntry that is empty for most.
type entryMore struct {
	link   place.Link      // if the entry has no href
	target string          // of a symbolic link
	at     locator.Locator // of a text about the directory
}

// A kind is what an entry is.
type kind uint8

const (
	kindFile kind = iota
	kindFolder
	kindLink
	kindSpecial
	kindOther
)

var kinds = [...]string{"file", "folder", "link", "special", "other"}

// entries are the items of a listing as entries.
func (v directoryPages) entries(items iter.Seq2[fetch.Item, error]) iter.Seq2[dirEntry, error] {
	base, here := "", "./"
	if at, path := place.Of(v.loc), v.r.URL.EscapedPath(); !v.native && strings.HasSuffix(at, "/") && strings.HasSuffix(path, "/") {
		base = v.h.Prefix + at
		if strings.Contains(path, "/./") { // rclone takes only what is below this path for a file
			here = strings.ReplaceAll(path, "/./", "/%2E/")
		}
	}
	return func(yield func(dirEntry, error) bool) {
		for item, err := range items {
			if err != nil {
				yield(dirEntry{}, err)
				return
			}
			if !yield(v.entry(base, here, &item), nil) {
				return
			}
		}
	}
}

// entry is an item as an entry. base is the path of the page if links can be relative to it; they
// then begin with here.
func (v directoryPages) entry(base, here string, item *fetch.Item) dirEntry {
	e := dirEntry{name: item.Name, size: item.Size, time: noTime}
	if !item.ModTime.IsZero() {
		e.time = item.ModTime.Unix()
	}
	var more entryMore
	switch item.Kind {
	case fetch.KindDocument:
	case fetch.KindDirectory, fetch.KindMenu:
		e.kind = kindFolder
	default:
		e.kind = kindOther
	}
	for _, field := range item.Header {
		switch field.Name {
		case fetch.HeaderLink:
			e.kind, more.target = kindLink, field.Value
		case fetch.HeaderSpecial:
			e.kind = kindSpecial
		}
	}
	if e.kind == kindFolder { // what servers call the size of a directory is not that of its files
		e.size = -1
	}
	if e.kind != kindSpecial && item.Name != "" {
		more.link = v.linkTo(item.Locator)
		if name, below := strings.CutPrefix(more.link.Path, base); below && base != "" && name != "" {
			e.href, more.link = here+name, place.Link{}
		}
	}
	if (e.kind == kindFile || e.kind == kindLink) && e.size != 0 && isReadme(e.name) {
		more.at = item.Locator
	}
	if more != (entryMore{}) {
		e.more = new(entryMore)
		*e.more = more
	}
	return e
}

// fill makes a row of the entry.
func (e *dirEntry) fill(row *fileRow) {
	*row = fileRow{Href: e.href, Text: visible(e.name), Kind: kinds[e.kind]}
	if e.more != nil {
		row.Link, row.Target = e.more.link, visible(e.more.target)
	}
	if e.kind == kindFolder {
		row.Text += "/"
	}
	if e.size >= 0 {
		row.Size, row.Short = strconv.FormatInt(e.size, 10), sizeText(e.size)
	}
	if t := time.Unix(e.time, 0).UTC(); e.time != noTime && t.Year() < 10000 {
		row.Time = t.Format("2006-01-02T15:04:05Z")
		row.When = row.Time[:10] + " " + row.Time[11:16]
		if strings.HasSuffix(row.Time, "T00:00:00Z") { // listings by LIST have old times without an hour
			row.Time = row.Time[:10]
			row.When = row.Time
		}
	}
}

// rank is the place of the entry among the others: folders, files, and names with a dot.
func (e *dirEntry) rank() int {
	switch {
	case strings.HasPrefix(e.name, "."):
		return 2
	case e.kind == kindFolder:
		return 0
	}
	return 1
}

const (
	heldRows   = 500     // files that wait until the folders have been shown
	sortedRows = 100_000 // of a listing that is sorted
)

// foldersFirst yields folders as they arrive, then the others, then those whose names begin with a
// dot. Of each it holds only the first heldRows; if there are more, they go in the order of the
// server.
func foldersFirst(entries iter.Seq2[dirEntry, error]) iter.Seq2[dirEntry, error] {
	return func(yield func(dirEntry, error) bool) {
		var held [3][]dirEntry
		through := [3]bool{true}
		release := func(rank int) bool {
			for _, e := range held[rank] {
				if !yield(e, nil) {
					return false
				}
			}
			held[rank], through[rank] = nil, true
			return true
		}
		for e, err := range entries {
			if err != nil {
				if release(1) && release(2) {
					yield(dirEntry{}, err)
				}
				return
			}
			rank := e.rank()
			if !through[rank] && len(held[rank]) < heldRows {
				held[rank] = append(held[rank], e)
				continue
			}
			if !release(rank) || !yield(e, nil) {
				return
			}
		}
		_ = release(1) && release(2)
	}
}

// sorted reads the whole listing and sorts it. An error in the middle comes after the entries that
// were received.
func (d *directory) sorted() (iter.Seq2[dirEntry, error], error) {
	var all []*dirEntry
	var failure error
	for e, err := range d.entries {
		if failure = err; err != nil {
			break
		}
		if len(all) == sortedRows {
			err := fmt.Errorf("a listing of more than %d entries cannot be sorted", sortedRows)
			return nil, fetch.Fail(fetch.OpList, d.v.loc, fetch.ErrTooLarge, err)
		}
		d.notice(e)
		e.name = strings.Clone(e.name) // not the whole line of the listing
		all = append(all, &e)
	}
	by, reverse := strings.CutPrefix(d.order, "-")
	if !reverse {
		by = d.order
	}
	slices.SortStableFunc(all, func(a, b *dirEntry) int {
		if c := cmp.Compare(a.rank(), b.rank()); c != 0 {
			return c
		}
		c := 0
		switch by {
		case "size":
			c = cmp.Compare(a.size, b.size)
		case "time":
			c = cmp.Compare(a.time, b.time)
		}
		c = cmp.Or(c, strings.Compare(a.name, b.name))
		if reverse {
			return -c
		}
		return c
	})
	return func(yield func(dirEntry, error) bool) {
		for _, e := range all {
			if !yield(*e, nil) {
				return
			}
		}
		if failure != nil {
			yield(dirEntry{}, failure)
		}
	}, nil
}
