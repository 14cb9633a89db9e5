package listing

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
)

// article returns the line of an article: number, date, author and subject. It fits the width of the
// listing.
func (l *Listing) article(it *fetch.Item) string {
	columns := cmp.Or(l.Columns, 80)
	date := ""
	if !it.ModTime.IsZero() {
		date = it.ModTime.UTC().Format("2006-01-02")
	}
	author := term.Fit(mime822.Author(Field(it, "From"), l.Charset), max(12, min(columns/4, 30)))
	line := fmt.Sprintf("%7s  %10s  %s  %s", it.Name, date, author, mime822.Text(Field(it, "Subject"), l.Charset))
	return term.SafeLine(strings.TrimRight(line, " "), columns)
}

// group returns the line of a newsgroup: the number of the link, the name and the description.
func (l *Listing) group(it *fetch.Item, number string) string {
	line := fmt.Sprintf("%4s  %-34s  %s", number, it.Name, mime822.Text(Field(it, "Description"), l.Charset))
	return term.SafeLine(strings.TrimRight(line, " "), max(cmp.Or(l.Columns, 80), len(it.Name)+6))
}

// Span returns the first and the last article number of a newsgroup, by the header of its listing.
func Span(a *fetch.Attributes) (first, last int64) {
	for _, f := range a.Header {
		switch n, _ := strconv.ParseInt(f.Value, 10, 64); f.Name {
		case "First":
			first = n
		case "Last":
			last = n
		}
	}
	return first, last
}

// Field returns a header field of an item, or "".
func Field(it *fetch.Item, name string) string {
	if f := entry.Field(it, name); f != nil {
		return *f
	}
	return ""
}
