package gateway

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/ansi"
	"github.com/fetch1738/fetch1738/gateway/internal/atom"
	"github.com/fetch1738/fetch1738/gateway/internal/dated"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A menu with at least minDated dated documents is a journal. Its feed has at most maxEntries of them.
const (
	minDated   = 2
	maxEntries = 100
)

// A datedItem is a document of a menu with a date in its name.
type datedItem struct {
	date  time.Time
	title string // as the server sent it
	at    *locator.Gopher
}

// datedOf is the document that an item of a menu is, if its name or its selector has a date.
func datedOf(it *fetch.Item, dates *dated.Finder) (d datedItem, ok bool) {
	l, ok := it.Locator.(*locator.Gopher)
	if !ok || strings.IndexByte("1278T", l.Type) >= 0 {
		return d, false
	}
	date, title, ok := dates.Find(ansi.Plain(it.Name), l.Selector)
	return datedItem{date, title, l}, ok
}

// feed sends the newest documents of a journal, the newest first. Those of a day are in the order of the
// menu.
func (v gopherPages) feed(res *fetch.Resource) error {
	v.out.kind = "atom"
	var found []datedItem
	var dates dated.Finder
	var names strings.Builder // of which the charset is detected
	seen := make(map[string]bool)
	rows := 0
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if rows++; rows > maxMenuRows {
			break
		}
		d, ok := datedOf(&item, &dates)
		if !ok || seen[d.at.String()] {
			continue
		}
		seen[d.at.String()] = true
		found = append(found, d)
		names.WriteString(d.title + "\n")
	}
	if len(found) < minDated {
		return &failure{Status: http.StatusNotFound, Text: "This menu has no feed: a feed needs at least two documents with a date in their names."}
	}
	slices.SortStableFunc(found, func(a, b datedItem) int { return b.date.Compare(a.date) })
	c, err := charset.Named(v.req.query.Get("charset"))
	if err != nil || c.Name() == "" {
		c = charset.Guess([]byte(names.String()))
	}
	v.sendDated(found[:min(len(found), maxEntries)], c)
	return nil
}

// sendDated sends documents, whose names are in a charset, as a feed.
func (v gopherPages) sendDated(found []datedItem, c charset.Charset) {
	base, here, title := v.req.origin(), v.req.linkTo(v.req.loc), place.Heading(v.req.loc)
	feed := &atom.Feed{
		ID: v.req.loc.String(), Title: title, Author: &atom.Person{Name: title}, Updated: atom.Time(found[0].date),
		Links: []atom.Link{atom.Self(base + here.With("atom").Path), atom.Page(base + here.Path)},
	}
	for _, d := range found {
		feed.Entries = append(feed.Entries, atom.Entry{
			ID: d.at.String(), Title: visible.Name(c.Decode(d.title)), Updated: atom.Time(d.date), Page: atom.Page(base + v.req.linkTo(d.at).Path),
		})
	}
	v.out.feed(v.req, feed)
}
