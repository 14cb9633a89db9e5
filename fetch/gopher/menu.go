package gopher

import (
	"context"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Menu reads the octets of a menu, as a [fetch.Resource.Body] gave them, as the
// Items that the Resource would have given; l is the menu's Locator. It is for
// who wants both.
func Menu(r io.Reader, l locator.Locator, limits fetch.Limits) (iter.Seq2[fetch.Item, error], error) {
	item, err := itemOf(&fetch.Request{Locator: l})
	if err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(item)
	return items(context.Background(), r, &access{loc: l, item: item, host: server.Host, port: server.Port}, limits.WithDefaults()), nil
}

// Item is a gopher or [Secure] locator as a gopher one. It is false for others.
func Item(l locator.Locator) (*locator.Gopher, bool) {
	item, err := itemOf(&fetch.Request{Locator: l})
	return item, err == nil
}
