package transfer

import (
	"fmt"
	"strconv"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
)

// articleFiles writes each article of a range to a file, for -O. The transfer's own sink
// is not used.
func articleFiles(t *Transfer, res *fetch.Resource) error {
	group := output.LastSegment(t.Locator, t.URL)
	for article, err := range res.Info.(*nntp.Info).Articles {
		if err != nil {
			return err
		}
		name, err := output.SafeName(fmt.Sprintf("%s.%d", group, article.Number))
		if err != nil {
			return err
		}
		s := t.place.ToFolder(name)
		if err := s.Take(t.incoming(article.Body)); err != nil {
			_ = s.Close()
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// listedArticles is how many articles of a group are listed for people, who read the warning of
// tellOlder. Programs get all: without asking for a part, they must not get one.
const listedArticles = 500

// askArticles requests no more of a newsgroup than is shown: the article of --number, or the newest
// ones. The numbers are those of --number that are not followed yet.
func askArticles(t *Transfer, req *fetch.Request, numbers []int) {
	options, isNews := req.Options.(*nntp.Options)
	if !isNews || options.Articles != "" || !client.IsGroup(req.Locator) {
		return
	}
	o := &t.Op.Output
	switch {
	case len(numbers) > 0:
		options.Articles, options.List = strconv.Itoa(numbers[0]), true
	case o.List && !o.JSON, !o.JSON && !o.Raw && t.place.Browses(t.Sink):
		options.Newest = listedArticles
		t.bounded = true
	}
}

// tellOlder says how many articles of a group were not listed.
func tellOlder(t *Transfer, res *fetch.Resource) {
	if first, last := listing.Span(&res.Attributes); t.bounded && last-first >= listedArticles {
		t.Warn("only the newest %d article numbers are listed; the group has %d to %d; --articles 1- lists all, --articles -N the newest N", listedArticles, first, last)
	}
}

// showArticle shows an article on a terminal. It reports false if the bytes are to be shown as they
// are.
func showArticle(t *Transfer, res *fetch.Resource) (bool, error) {
	t.Sink.UTF8() // which the reader returns
	if filtered, err := t.Sink.Filtered(); !filtered || err != nil {
		return false, err
	}
	return true, t.Sink.Take(mime822.NewReader(t.incoming(res.Body), t.Op.Output.Charset))
}
