package listing

import (
	"bytes"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/webindex"
	"github.com/fetch1738/fetch1738/locator"
)

// maxIndex is how many bytes of a page are read to find out whether it lists a directory.
const maxIndex = 16 << 20

// ReadWeb gives a page in which a web server lists a directory its entries, and reports whether it is one.
// The body of another page stays as it was.
func ReadWeb(res *fetch.Resource) (bool, error) {
	base, isWeb := res.Locator.(*locator.HTTP)
	if !isWeb || res.MediaType != "text/html" {
		return false, nil
	}
	page, err := io.ReadAll(io.LimitReader(res.Body, maxIndex))
	if err != nil {
		return false, err
	}
	if entries, ok := webindex.Entries(base, string(page)); ok {
		res.Kind, res.Items = fetch.KindDirectory, itemsOf(entries)
		return true, nil
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(page), res.Body), res.Body}
	return false, nil
}

// itemsOf returns entries as the items of a listing.
func itemsOf(entries []webindex.Entry) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		for _, e := range entries {
			item := fetch.Item{Name: e.Name, Locator: e.Locator, Attributes: fetch.Attributes{Size: e.Size, ModTime: e.ModTime}}
			if e.IsDir {
				item.Kind = fetch.KindDirectory
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}
