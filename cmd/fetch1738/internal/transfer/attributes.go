package transfer

import (
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// attributes shows the attributes of a document, for -I, in lines like those of HTTP.
func (t *Transfer) attributes(ctx context.Context, req *fetch.Request) error {
	found, err := t.ResolverFor(req.Locator).FindAttributes(ctx, req)
	if err != nil {
		return err
	}
	if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Name != "" && found.Size < 0 && found.ModTime.IsZero() {
		return driver.Fail("SIZE", req.Locator, fetch.ErrNotFound, errors.New("this is a directory; its URL ends with a slash"))
	}
	if !t.Op.Ask.Time.Met(found.ModTime) {
		found.Size, found.Header = -1, nil // as curl
	}
	t.Answer.Modified = found.ModTime
	head := listing.Head(found)
	switch {
	case t.Op.Gopher.ListViews:
		head = listing.Views(found)
	case req.Locator.Scheme() == "file":
		head = listing.FileHead(found)
	case client.IsNews(req.Locator):
		head = listing.Fields(found)
	}
	t.Answer.ShownHead = len(head)
	t.Heads.Add(head)
	return t.Sink.Take(strings.NewReader(head))
}
