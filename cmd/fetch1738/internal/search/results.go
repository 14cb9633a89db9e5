package search

import (
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
)

// print prints a line for each result.
func (q *query) print(res *fetch.Resource, isHit func(*fetch.Item) bool) error {
	other := false // the first line is no line of a menu
	for item, err := range res.Items {
		switch {
		case err != nil:
			return err
		case entry.Field(&item, gopher.HeaderError) != nil && q.found.Load() == 0:
			return driver.Fail(fetch.OpMatch, q.t.Locator, fetch.ErrNotFound, fmt.Errorf("the server says: %s", q.decoded(item.Name)))
		case item.Locator == nil:
			if q.said == "" {
				q.said = strings.TrimSpace(q.decoded(item.Name))
				other = entry.Field(&item, gopher.HeaderFault) != nil
			}
			continue
		case !isHit(&item):
			continue
		}
		if err := q.printOne(&item); err != nil {
			return err
		}
		if q.found.Add(1) == int64(q.max) {
			return nil
		}
	}
	if other && q.found.Load() == 0 {
		return driver.Fail(fetch.OpMatch, q.t.Locator, fetch.ErrNotFound, fmt.Errorf("the response is not a list of results: %s", q.said))
	}
	info, isGopher := res.Info.(*gopher.Info)
	q.endless = isGopher && !info.Complete
	return nil
}

// printOne prints a result.
func (q *query) printOne(it *fetch.Item) error {
	if q.json {
		return entry.WriteJSON(q.out, it, q.t.Op.Output.Charset)
	}
	_, err := io.WriteString(q.out, it.Locator.Redacted()+"\t"+stdio.Line(q.title(it))+"\n")
	return err
}

// title returns the title of a result, which may contain control characters.
func (q *query) title(it *fetch.Item) string {
	field := func(name string) string { return mime822.Text(listing.Field(it, name), q.t.Op.Output.Charset) }
	if !entry.IsArticle(it.Locator) {
		if about := field("Description"); about != "" {
			return q.decoded(it.Name) + ": " + about
		}
		return q.decoded(it.Name)
	}
	title := mime822.Author(listing.Field(it, "From"), q.t.Op.Output.Charset) + ": " + field("Subject")
	if !it.ModTime.IsZero() {
		title = it.ModTime.UTC().Format("2006-01-02") + " " + title
	}
	return title
}

// decoded returns a text of the server in UTF-8.
func (q *query) decoded(text string) string { return q.t.Op.Output.Charset.Decode(text) }
