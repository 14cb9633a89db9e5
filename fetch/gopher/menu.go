package gopher

import (
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Menu reads the octets of a menu, as a [fetch.Resource.Body] gave them, as the
// Items that the Resource would have given; l is the menu's Locator. It is for
// who wants both.
func Menu(r io.Reader, l locator.Locator, limits fetch.Limits) (iter.Seq2[fetch.Item, error], error) {
	item, err := itemOf(l)
	if err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(item)
	return items(r, &access{loc: item, host: server.Host, port: server.Port}, limits.WithDefaults()), nil
}
