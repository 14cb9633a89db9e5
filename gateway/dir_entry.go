package gateway

import (
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/packed"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
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

var kinds = [...]string{"file", "folder", "link", "special", "encrypted", "other"}

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

// A fileRow is a row of the table. Everything in it is text that is ready to be shown.
type fileRow struct {
	Link   place.Link
	Text   string
	Target string     // of a symbolic link
	Open   place.Link // what is in an archive
	Kind   string
	Icon   string     // its name in directory.html
	Image  place.Link // the address of a picture that can be shown
	Sound  place.Link // and of a sound that can be played
	Size   string     // in bytes; empty if it is not known
	Short  string     // the same for people
	Time   string     // empty if it is not known
	When   string
}

// fill makes a row of an entry.
func (d *directory) fill(row *fileRow, e *dirEntry) {
	*row = fileRow{Text: visible(e.name), Kind: kinds[e.kind]}
	if e.more != nil {
		row.Link, row.Target = e.more.link, visible(e.more.target)
	}
	if e.href != "" {
		row.Link = place.At(e.href)
	}
	switch row.Icon = row.Kind; e.kind {
	case kindFolder:
		row.Text += "/"
	case kindFile:
		row.Kind = documentKind(e.name)
		row.Icon = row.Kind
		row.Open = d.opened(row, e.name)
	case kindSpecial, kindEncrypted, kindOther:
		row.Icon = "file"
	}
	if !d.Person {
		row.Icon = ""
	}
	if d.Choice.Grid && e.isPicture() && e.size <= maxPicture {
		row.Image = row.Link.With("raw")
	}
	if d.Choice.Play {
		row.Sound = row.Link.With("raw")
	}
	if e.size >= 0 {
		row.Size, row.Short = strconv.FormatInt(e.size, 10), sizeText(e.size)
	}
	if t := time.Unix(e.time, 0).UTC(); e.time != noTime && t.Year() < 10000 {
		row.Time = t.Format("2006-01-02T15:04:05")
		row.When = row.Time[:10] + " " + row.Time[11:16]
		if d.UTC {
			row.Time += "Z"
		} else if strings.HasSuffix(row.Time, "T00:00:00") { // listings by LIST have old times without an hour
			row.Time = row.Time[:10]
			row.When = row.Time
		}
	}
}

// opened is the link of a browser to what it would only store: the contents of an archive, or a PDF.
func (d *directory) opened(row *fileRow, name string) place.Link {
	switch {
	case !d.Person || d.Choice.Page == 0:
	case packed.FormatOf(name) != packed.None && d.Archive == nil: // an archive in an archive is a download
		return row.Link.With("in=")
	case filename.MediaType(name) == "application/pdf":
		return row.Link.With("raw&open")
	}
	return place.Link{}
}

// documentKind is the kind of a document as far as its name says, in a word.
func documentKind(name string) string {
	mediaType := filename.MediaType(name)
	kind, _, _ := strings.Cut(mediaType, "/")
	switch {
	case kind == "image":
		return "picture"
	case kind == "audio":
		return "sound"
	case kind == "video":
		return "video"
	case isText(mediaType), isReadme(name), plaintext.FormOf(name, mediaType, "") != plaintext.Flowing:
		return "text"
	}
	switch mediaType {
	case "application/gzip", "application/x-compress", "application/x-bzip2", "application/x-xz", "application/zstd", "application/zip", "application/x-tar", "application/x-iso9660-image":
		return "archive"
	}
	return "file"
}

// isPicture reports whether browsers show the entry as a picture.
func (e *dirEntry) isPicture() bool {
	return (e.kind == kindFile || e.kind == kindLink) && mediaKindOf(filename.MediaType(e.name)) == "image"
}

// isSound reports whether browsers play the entry as a sound.
func (e *dirEntry) isSound() bool {
	return (e.kind == kindFile || e.kind == kindLink) && mediaKindOf(filename.MediaType(e.name)) == "audio"
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
