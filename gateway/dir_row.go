package gateway

import (
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/packed"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

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

// A look is what the rows of a page have in common.
type look struct {
	choice choice
	person bool // the page is for a person, who can follow links with a query
	utc    bool // the times are
	packed bool // the directory is in an archive
}

// fill makes a row of an entry.
func (l look) fill(row *fileRow, e *dirEntry) {
	*row = fileRow{Text: visible.Name(e.name), Kind: kinds[e.kind]}
	if e.more != nil {
		row.Link, row.Target = e.more.link, visible.Name(e.more.target)
	}
	if e.href != "" {
		row.Link = place.At(e.href)
	}
	switch row.Icon = row.Kind; e.kind {
	case kindFolder:
		row.Text += "/"
	case kindFile:
		row.Kind = documentKind(e.name)
		if row.Icon = row.Kind; row.Icon == "image" {
			row.Icon = "picture"
		}
		row.Open = l.opened(row, e.name)
	case kindSpecial, kindEncrypted, kindOther:
		row.Icon = "file"
	}
	if !l.person {
		row.Icon = ""
	}
	if l.choice.Grid && e.isPicture() && e.size <= maxPicture {
		row.Image = row.Link.With("raw")
	}
	if l.choice.Play {
		row.Sound = row.Link.With("raw")
	}
	if e.size >= 0 {
		row.Size, row.Short = strconv.FormatInt(e.size, 10), visible.Size(e.size)
	}
	if t := time.Unix(e.time, 0).UTC(); e.time != noTime && t.Year() < 10000 {
		row.Time = t.Format("2006-01-02T15:04:05")
		row.When = row.Time[:10] + " " + row.Time[11:16]
		if l.utc {
			row.Time += "Z"
		} else if strings.HasSuffix(row.Time, "T00:00:00") { // listings by LIST have old times without an hour
			row.Time = row.Time[:10]
			row.When = row.Time
		}
	}
}

// opened is the link of a browser to what it would only store: the contents of an archive, or a PDF.
func (l look) opened(row *fileRow, name string) place.Link {
	switch {
	case !l.person || l.choice.Page == 0:
	case packed.FormatOf(name) != packed.None && !l.packed: // an archive in an archive is a download
		return row.Link.With("in=")
	case filename.MediaType(name) == "application/pdf":
		return row.Link.With("raw&open")
	}
	return place.Link{}
}

// documentKind is the kind of a document as far as its name says, in a word. Here are more names of
// texts than those that a suffix shows.
func documentKind(name string) string {
	mediaType := filename.MediaType(name)
	word := entry.DocumentWord(name, mediaType)
	if word == "file" && (plaintext.IsText(mediaType) || isReadme(name) || plaintext.FormOf(name, mediaType, "") != plaintext.Flowing) {
		return "text"
	}
	return word
}
