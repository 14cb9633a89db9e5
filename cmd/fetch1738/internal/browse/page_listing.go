package browse

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
)

// wide is the width from which there are columns for sizes and times.
const wide = 70

// formatItems returns a line for each item of a menu, directory or newsgroup.
func (p *page) formatItems(columns int) []string {
	detailed := false
	for _, it := range p.items {
		detailed = detailed || columns >= wide && (it.Size >= 0 || !it.ModTime.IsZero())
	}
	list := &listing.Listing{Charset: p.charset, Detailed: detailed, Columns: max(columns, wide)}
	lines := make([]string, 0, len(p.items))
	for _, it := range p.items {
		number := ""
		if it.Locator != nil {
			number = strconv.Itoa(p.addItem(&it))
		}
		line := list.Line(&it, number)
		if entry.IsArticle(it.Locator) {
			if columns < wide { // there is no room for columns
				line = p.formatArticle(&it)
			}
			line = fmt.Sprintf("%4s %s", number, line)
		}
		lines = append(lines, term.SafeLine(line, 4*max(columns, wide))) // not a screen for a name
	}
	return lines
}

// formatArticle returns the subject and the author of an article, or its number if it has neither.
func (p *page) formatArticle(it *fetch.Item) string {
	var known []string
	for _, name := range []string{"Subject", "From"} {
		if text := mime822.Text(listing.Field(it, name), p.charset); text != "" {
			known = append(known, text)
		}
	}
	return stdio.Line(cmp.Or(strings.Join(known, ", "), it.Name))
}

// addItem adds the link of an item. A mirror is also one of the link before it.
func (p *page) addItem(it *fetch.Item) int {
	l := link{name: stdio.Line(p.charset.Decode(it.Name)), to: it.Locator, kind: it.Kind}
	if plus := entry.Field(it, gopher.HeaderPlus); plus != nil && *plus == "?" {
		l.to = client.WithForm(l.to)
	}
	n := len(p.links)
	if entry.Field(it, gopher.HeaderMirror) != nil && n > 0 {
		p.links[n-1].mirrors = append(p.links[n-1].mirrors, l.to)
	}
	return p.add(l)
}
