package listing

import (
	"fmt"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Lines returns a reader of a directory, one line per item: the name, in the bytes of the server, or
// the URL of a link of Prospero. For a link without a URL the line is "# " and its name.
func Lines(res *fetch.Resource) io.Reader {
	line := func(item *fetch.Item) string { return item.Name }
	if _, isProspero := res.Locator.(*locator.Prospero); isProspero {
		line = linkLine
	}
	return &lines{res: res, line: line}
}

// linkLine returns the URL of an item, or its name as a comment if it has none.
func linkLine(item *fetch.Item) string {
	if item.Locator == nil {
		return "# " + stdio.Line(item.Name)
	}
	return item.Locator.Redacted()
}

// Matching returns the Items of a directory whose names match. If no name matches, it yields an error
// of the kind [fetch.ErrNotFound].
func Matching(res *fetch.Resource, p *wildcard.Pattern) iter.Seq2[fetch.Item, error] {
	items := res.Items
	return func(yield func(fetch.Item, error) bool) {
		found := false
		for item, err := range items {
			_, fits := p.Match(item.Name)
			if found = found || fits || err != nil; (fits || err != nil) && !yield(item, err) {
				return
			}
		}
		if !found {
			yield(fetch.Item{}, NoMatch(res, p))
		}
	}
}

// NoMatch returns the error for a directory in which nothing matches.
func NoMatch(res *fetch.Resource, p *wildcard.Pattern) error {
	return fetch.Fail(fetch.OpMatch, res.Locator, fetch.ErrNotFound, fmt.Errorf("no file matches %s", fetch.Printable(p.Name)))
}

// lines reads one line for each item.
type lines struct {
	res  *fetch.Resource
	line func(*fetch.Item) string
	next func() (fetch.Item, error, bool)
	stop func()
	rest string // of the current line
	err  error
}

// Read implements io.Reader.
func (r *lines) Read(p []byte) (int, error) {
	if r.next == nil {
		r.next, r.stop = iter.Pull2(r.res.Items)
	}
	for r.rest == "" {
		if r.err != nil {
			return 0, r.err
		}
		item, err, ok := r.next()
		switch {
		case !ok:
			r.err = io.EOF
		case err != nil:
			r.err = err
		default:
			r.rest = r.line(&item) + "\n"
		}
		if r.err != nil {
			r.stop()
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
