package gateway

import (
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/atom"
)

// atom sends the newest articles of a group as a feed, the newest first. Its links have the name
// that the client used for the gateway.
func (v newsPages) atom(posts []*article.Post) error {
	v.out.kind = "atom"
	if v.out.err != nil {
		return v.out.err
	}
	base, here := v.req.origin(), v.req.linkTo(v.req.loc)
	feed := &atom.Feed{
		ID: v.req.loc.String(), Title: groupName(v.req.loc),
		Links: []atom.Link{atom.Self(base + here.With("atom").Path), atom.Page(base + here.Path)},
	}
	seen := make(map[string]bool)
	var updated, last time.Time // of the feed; of the article before
	for _, p := range posts {
		e := atom.Entry{
			ID: "mid:" + url.PathEscape(strings.Trim(p.ID, "<>")), Title: p.Subject, Author: &atom.Person{Name: p.From},
			Page: atom.Page(base + p.Link.Path),
		}
		if p.ID == "" {
			e.ID = strings.TrimSuffix(feed.ID, "/") + "/" + p.Number
		}
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		date := p.Date
		if date.IsZero() { // every entry needs a date: that of its neighbour is near
			date = last
		}
		if last = date; date.After(updated) {
			updated = date
		}
		e.Updated = atom.Time(date)
		feed.Entries = append([]atom.Entry{e}, feed.Entries...)
	}
	feed.Updated = atom.Time(updated)
	v.out.feed(v.req, feed)
	return nil
}
