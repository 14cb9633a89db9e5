package gateway

import (
	"bufio"
	"io"
	"iter"
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A format is how a program gets the entries of a listing.
type format struct {
	mediaType string
	write     func(io.Writer, *fetch.Item) error
}

// formatOf is JSON Lines, or names, one a line. It is nil if the client gets a page.
func formatOf(q *request) *format {
	switch {
	case q.accepts("text/html"):
	case q.accepts("application/json"), q.accepts("application/x-ndjson"):
		return &format{"application/x-ndjson", writeJSON}
	case q.accepts("text/plain"):
		return &format{"text/plain; charset=utf-8", writeName}
	}
	return nil
}

// formatted sends the entries of a listing to a program. res may be nil for a HEAD.
func (w *response) formatted(q *request, res *fetch.Resource, f *format) error {
	w.kind = "listing"
	items := func(func(fetch.Item, error) bool) {}
	if res != nil && q.r.Method != http.MethodHead {
		rest, stop, err := begun(res.Items)
		defer stop()
		if err != nil {
			return err
		}
		items = rest
	}
	w.secure(q)
	w.Header().Set("Content-Type", f.mediaType)
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriterSize(w, 16<<10)
	for item, err := range items {
		if err == nil {
			err = f.write(out, &item)
		}
		if err != nil {
			_ = out.Flush()
			return err
		}
	}
	return out.Flush()
}

// writeJSON writes an item without its login.
func writeJSON(w io.Writer, item *fetch.Item) error {
	if item.Locator != nil {
		item.Locator = place.WithoutLogin(item.Locator)
	}
	return entry.WriteJSON(w, item, charset.Charset{})
}

func writeName(w io.Writer, item *fetch.Item) error {
	_, err := io.WriteString(w, visible.Name(item.Name)+"\n")
	return err
}

// begun begins a sequence, to find out whether the first pair is an error. rest is the whole
// sequence, to be used once and before stop is called.
func begun[T any](all iter.Seq2[T, error]) (rest iter.Seq2[T, error], stop func(), err error) {
	next, stop := iter.Pull2(all)
	first, err, ok := next()
	return func(yield func(T, error) bool) {
		item, err := first, err
		for ; ok; item, err, ok = next() {
			if !yield(item, err) {
				return
			}
		}
	}, stop, err
}
