package gateway

import (
	"iter"
	"math"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/file/filename"
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

// textSize is how many bytes the texts of the entry take.
func (e *dirEntry) textSize() int {
	n := len(e.name) + len(e.href)
	if e.more != nil {
		n += len(e.more.link.Path) + len(e.more.target)
	}
	return n
}

// A kind is what an entry is.
type kind uint8

const (
	kindFile kind = iota
	kindFolder
	kindLink
	kindSpecial
	kindEncrypted
	kindOther
)

var kinds = [...]string{"file", entry.Folder, entry.Link, entry.Special, "encrypted", "other"}

// entriesOf are the items of a listing as entries.
func entriesOf(q *request, items iter.Seq2[fetch.Item, error]) iter.Seq2[dirEntry, error] {
	base, here := "", "./"
	if at, path := place.Of(q.loc), q.r.URL.EscapedPath(); !q.native && strings.HasSuffix(at, "/") && strings.HasSuffix(path, "/") {
		base = q.prefix + at
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
			if !yield(entryOf(q, base, here, &item), nil) {
				return
			}
		}
	}
}

// entryOf is an item as an entry. base is the path of the page if links can be relative to it; they
// then begin with here.
func entryOf(q *request, base, here string, item *fetch.Item) dirEntry {
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
		more.link = q.linkTo(item.Locator)
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

// isPicture reports whether browsers show the entry as a picture.
func (e *dirEntry) isPicture() bool {
	return (e.kind == kindFile || e.kind == kindLink) && place.KindOfType(filename.MediaType(e.name)) == "image"
}

// isSound reports whether browsers play the entry as a sound.
func (e *dirEntry) isSound() bool {
	return (e.kind == kindFile || e.kind == kindLink) && place.KindOfType(filename.MediaType(e.name)) == "audio"
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

// isReadme reports whether a file has the usual name of a text about its directory.
func isReadme(name string) bool {
	switch strings.ToLower(name) {
	case "readme", "readme.txt", "readme.md", "readme.1st", "read.me", "00readme", "00readme.txt", "!readme", "!readme.txt":
		return true
	}
	return false
}
