package transfer

import (
	"context"
	"errors"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// findHead returns the attributes of a document, for -I, as lines like those of HTTP.
func findHead(ctx context.Context, from *fetch1738.Resolver, o *plan.Operation, req *fetch.Request) (head string, modified time.Time, err error) {
	found, err := from.FindAttributes(ctx, req)
	if err != nil {
		return "", time.Time{}, err
	}
	if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Name != "" && found.Size < 0 && found.ModTime.IsZero() {
		return "", time.Time{}, driver.Fail("SIZE", req.Locator, fetch.ErrNotFound, errors.New("this is a directory; its URL ends with a slash"))
	}
	if !o.Ask.Time.Met(found.ModTime) {
		found.Size, found.Header = -1, nil // as curl
	}
	head = listing.Head(found)
	switch {
	case o.Gopher.ListViews:
		head = listing.Views(found)
	case req.Locator.Scheme() == "file":
		head = listing.FileHead(found)
	case entry.IsNews(req.Locator):
		head = listing.Fields(found)
	}
	return head, found.ModTime, nil
}
