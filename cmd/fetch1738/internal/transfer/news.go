package transfer

import (
	"fmt"
	"io"
	"strconv"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
)

// articleFiles writes each article of a range to a file of a place, for -O. incoming wraps each body.
func articleFiles(place *output.Place, group string, res *fetch.Resource, incoming func(io.Reader) io.Reader) error {
	for article, err := range res.Info.(*nntp.Info).Articles {
		if err != nil {
			return err
		}
		name, err := output.SafeName(fmt.Sprintf("%s.%d", group, article.Number))
		if err != nil {
			return err
		}
		s := place.ToFolder(name)
		if err := s.Take(incoming(article.Body)); err != nil {
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
// older. Programs get all: without asking for a part, they must not get one.
const listedArticles = 500

// askArticles requests no more of a newsgroup than is shown: the article of --number, or the newest
// ones, for which it reports true. The numbers are those of --number that are not followed yet; shows
// says that a listing is shown to a user.
func askArticles(o *plan.Output, req *fetch.Request, numbers []int, shows bool) (newest bool) {
	options, isNews := req.Options.(*nntp.Options)
	if !isNews || options.Articles != "" || !entry.IsGroup(req.Locator) {
		return false
	}
	switch {
	case len(numbers) > 0:
		options.Articles, options.List = strconv.Itoa(numbers[0]), true
	case o.List && !o.JSON, !o.JSON && !o.Raw && shows:
		options.Newest = listedArticles
		return true
	}
	return false
}

// older returns how many articles of a group were not listed, as a warning, or "".
func older(res *fetch.Resource) string {
	first, last := listing.Span(&res.Attributes)
	if last-first < listedArticles {
		return ""
	}
	return fmt.Sprintf("only the newest %d article numbers are listed; the group has %d to %d; --articles 1- lists all, --articles -N the newest N", listedArticles, first, last)
}

// showArticle shows an article on a terminal. It reports false if the bytes are to be shown as they
// are.
func showArticle(s *output.Sink, c charset.Charset, body io.Reader) (bool, error) {
	s.UTF8() // which the reader returns
	if filtered, err := s.Filtered(); !filtered || err != nil {
		return false, err
	}
	return true, s.Take(mime822.NewReader(body, c))
}
