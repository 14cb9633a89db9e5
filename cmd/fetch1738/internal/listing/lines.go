package listing

import (
	"cmp"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
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
			r.err = cmp.Or(ftp.UnreadError(r.res), io.EOF)
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
