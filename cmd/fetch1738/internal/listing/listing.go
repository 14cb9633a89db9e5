// Package listing formats directories, menus and newsgroups for people and for programs.
package listing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A Listing formats a directory or menu, of any scheme.
type Listing struct {
	Charset    charset.Charset         // of the names
	JSON       bool                    // one object per line
	Detailed   bool                    // with sizes and times
	References bool                    // print the URLs of the links after the items
	Columns    int                     // width of the lines about news; 0 means 80
	Amount     func(size int64) string // formats a size; nil means in bytes

	w          io.Writer
	number     int             // of the last link
	drawn      charset.Charset // the one of a picture among the names so far
	references strings.Builder
}

// maxReferences is the maximum size in bytes of the URLs kept until the end of a listing.
const maxReferences = 1 << 20

// Read returns a reader of the formatted listing of a resource, in UTF-8. The caller must close it.
func (l *Listing) Read(res *fetch.Resource) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(w)
		l.w = out
		err := l.write(res)
		w.CloseWithError(errors.Join(err, out.Flush()))
	}()
	return r
}

// write writes one line for each item.
func (l *Listing) write(res *fetch.Resource) error {
	write := l.text
	if l.JSON {
		write = l.json
	}
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if err := write(&item); err != nil {
			return err
		}
	}
	if l.references.Len() == 0 {
		return ftp.UnreadError(res)
	}
	_, err := fmt.Fprintf(l.w, "\nReferences\n\n%s", l.references.String())
	return err
}

// refer keeps the URL of the last link for the References.
func (l *Listing) refer(url string) {
	if l.references.Len() >= maxReferences {
		return
	}
	fmt.Fprintf(&l.references, "%4d. %s\n", l.number, url)
	if l.references.Len() >= maxReferences {
		l.references.WriteString("      (truncated; use --json to list all)\n")
	}
}

// text writes the line of an item for people.
func (l *Listing) text(it *fetch.Item) error {
	number := ""
	if it.Locator != nil {
		l.number++
		number = fmt.Sprint(l.number)
		if l.References {
			l.refer(it.Locator.Redacted())
		}
	}
	_, err := fmt.Fprintln(l.w, l.Line(it, number))
	return err
}

// Line returns an item for people: number, kind, size, time and name. The number of an item that is
// only text is "". An article of a newsgroup has the number that is its name.
func (l *Listing) Line(it *fetch.Item, number string) string {
	what := ""
	switch {
	case entry.IsArticle(it.Locator):
		return l.article(it)
	case entry.IsNews(it.Locator): // a group
		return l.group(it, number)
	case it.Locator != nil:
		what = entry.Word(it)
	case entry.Field(it, gopher.HeaderError) != nil:
		what = "error"
	}
	line := fmt.Sprintf("%4s %-6s", number, what)
	if l.Detailed {
		size, when := "", ""
		if it.Size >= 0 {
			if size = fmt.Sprint(it.Size); l.Amount != nil {
				size = l.Amount(it.Size)
			}
		}
		if !it.ModTime.IsZero() {
			when = it.ModTime.UTC().Format("2006-01-02 15:04")
		}
		line = strings.TrimRight(line, " ")
		line += fmt.Sprintf("%*s %16s ", max(len(size)+1, sizeEnd-len(line)), size, when) // a long word takes room from the size
	}
	return strings.TrimRight(line+" "+stdio.Line(l.charsetOf(it).Decode(it.Name))+l.suffix(it), " ")
}

// sizeEnd is the column at which the sizes of a listing end.
const sizeEnd = 21

// suffix returns a remark that is printed after the name of an item, or "".
func (l *Listing) suffix(it *fetch.Item) string {
	switch plus, target := entry.Field(it, gopher.HeaderPlus), entry.Field(it, fetch.HeaderLink); {
	case target != nil && *target != "":
		return " -> " + stdio.Line(l.Charset.Decode(*target))
	case entry.Field(it, gopher.HeaderMirror) != nil:
		return " (mirror)"
	case plus != nil && *plus == "?":
		return " (form)"
	}
	return ""
}

// json writes an item for programs, as one JSON object per line.
func (l *Listing) json(it *fetch.Item) error {
	return entry.WriteJSON(l.w, it, l.charsetOf(it))
}

// charsetOf returns the charset of a name. If none is set, the names tell. A line of a picture of CP437
// often tells too little, so it has the charset of such a line above it. A link does not belong to the
// picture: its name may be one of a file.
func (l *Listing) charsetOf(it *fetch.Item) charset.Charset {
	if l.Charset.Name() != "" {
		return l.Charset
	}
	switch c := charset.Guess([]byte(it.Name)); {
	case c.Name() == "CP437":
		l.drawn = c
	case c.Name() == "windows-1252" && it.Locator == nil:
		return l.drawn
	}
	return l.Charset
}

// Pick returns the n-th link of a listing, counted from 1, and the mirrors listed after it. Of a
// newsgroup it returns the article with the number n.
func Pick(items iter.Seq2[fetch.Item, error], n int) (chosen *fetch.Item, mirrors []locator.Locator, err error) {
	links := 0
	for item, err := range items {
		switch {
		case err != nil:
			return nil, nil, err
		case item.Locator == nil:
			if chosen != nil {
				return chosen, mirrors, nil
			}
			continue
		}
		links++
		switch {
		case chosen != nil && entry.Field(&item, gopher.HeaderMirror) == nil:
			return chosen, mirrors, nil
		case chosen != nil:
			mirrors = append(mirrors, item.Locator)
		case entry.IsArticle(item.Locator) && item.Name == strconv.Itoa(n), !entry.IsArticle(item.Locator) && links == n:
			chosen = &item
		}
	}
	switch {
	case chosen != nil:
	case links == 0:
		err = localerr.Usagef("--number %d: the listing has no such entry", n)
	default:
		err = localerr.Usagef("--number %d: the listing has only %d links", n, links)
	}
	return chosen, mirrors, err
}
