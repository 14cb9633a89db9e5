package crawl

import (
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/locator"
)

// maxPage is how much of a page is read for links, in octets.
const maxPage = 2 << 20

// readHTML reads the links of a page: the attributes href and src.
func (j *job) readHTML(res *fetch.Resource) error {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	base := res.Locator
	for t := range hypertext.Tokens(string(text)) {
		for _, attribute := range []string{"href", "src"} {
			ref := t.Value(attribute)
			if ref == "" {
				continue
			}
			l, err := hypertext.Resolve(base, ref)
			switch {
			case err != nil:
			case t.Name == "base":
				base = l
			default:
				j.addReference(l)
			}
		}
	}
	return err
}

// addReference adds the link of a page, if it is in scope.
func (j *job) addReference(l locator.Locator) {
	if why := j.run.Skips(l); why != "" {
		j.found.skip(why)
		return
	}
	j.add(l)
}
