package listing

import (
	"fmt"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
)

// Links returns a reader of the URLs of a directory of links, one per line. For a link without a
// URL the line is "# " and its name.
func Links(res *fetch.Resource) io.Reader { return &linkList{res: res} }

type linkList struct {
	res  *fetch.Resource
	next func() (fetch.Item, error, bool)
	stop func()
	line []byte
	err  error
}

// Read implements io.Reader.
func (r *linkList) Read(p []byte) (int, error) {
	if r.next == nil {
		r.next, r.stop = iter.Pull2(r.res.Items)
	}
	for len(r.line) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		item, err, ok := r.next()
		switch {
		case !ok:
			r.err = io.EOF
		case err != nil:
			r.err = err
		case item.Locator == nil:
			r.line = fmt.Appendf(nil, "# %s\n", stdio.Line(item.Name))
		default:
			r.line = []byte(item.Locator.Redacted() + "\n")
		}
		if r.err != nil {
			r.stop()
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}
