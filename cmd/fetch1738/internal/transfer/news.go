package transfer

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/mime822"
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

// showNews shows an article or a listing on a terminal. It reports false if the bytes
// are to be shown as they are.
func showNews(t *Transfer, res *fetch.Resource) (bool, error) {
	if filtered, err := t.Sink.Filtered(); !filtered || err != nil {
		return false, err
	}
	switch {
	case res.MediaType == "message/rfc822":
		return true, t.Sink.Take(mime822.NewReader(t.incoming(res.Body)))
	case res.Items == nil:
		return false, nil
	}
	columns := t.Sink.Columns()
	for item, err := range res.Items {
		if err != nil {
			return true, err
		}
		if err := t.Sink.Take(strings.NewReader(listing.Article(item, columns) + "\n")); err != nil {
			return true, err
		}
	}
	return true, nil
}
