package crawl

import (
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// maxToken limits a tag or text, in octets.
const maxToken = 1 << 20

// readHTML reads the links of a page: the attributes href and src.
func (j *job) readHTML(res *fetch.Resource) error {
	base, err := url.Parse(res.Locator.String())
	if err != nil {
		return nil // only absolute links could be read; there is hardly such a page
	}
	z := html.NewTokenizer(res.Body)
	z.SetMaxBuf(maxToken)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF && err != html.ErrBufferExceeded {
				return err
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			isBase := string(name) == "base"
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if string(key) != "href" && string(key) != "src" {
					continue
				}
				to, err := base.Parse(strings.TrimSpace(string(value)))
				switch {
				case err != nil:
				case isBase:
					base = to
				default:
					j.addReference(to)
				}
			}
		}
	}
}

// addReference adds the link of a page.
func (j *job) addReference(to *url.URL) {
	to.Fragment = ""
	ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(to.String())
	if err != nil {
		return
	}
	if why := j.run.inScope(ref.Locator); why != "" {
		j.skip(why)
		return
	}
	j.add(ref.Locator)
}
