package gopher

import (
	"context"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Menu parses the bytes of a menu that were read from a [fetch.Resource.Body]. It returns the Items
// that the Resource would have had; l is the menu's Locator. It is for programs that need both the
// bytes and the Items.
func Menu(r io.Reader, l locator.Locator, limits fetch.Limits) (iter.Seq2[fetch.Item, error], error) {
	item, err := itemOf(l)
	if err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(item)
	return items(context.Background(), r, &access{loc: item, host: server.Host, port: server.Port}, limits.WithDefaults()), nil
}
