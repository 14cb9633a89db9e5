package gateway

import (
	"bufio"
	"io"
	"iter"
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/internal/entry"
)

// formatted sends the entries of a listing to a program that asks for JSON Lines or for names, one
// a line. It reports false if the client gets a page. res may be nil for a HEAD.
func (v directoryPages) formatted(res *fetch.Resource) bool {
	var write func(io.Writer, *fetch.Item) error
	contentType := ""
	switch {
	case v.accepts("text/html"):
		return false
	case v.accepts("application/json"), v.accepts("application/x-ndjson"):
		contentType, write = "application/x-ndjson", writeJSON
	case v.accepts("text/plain"):
		contentType, write = "text/plain; charset=utf-8", writeName
	default:
		return false
	}
	v.page = "listing"
	items := func(func(fetch.Item, error) bool) {}
	if res != nil && v.r.Method != http.MethodHead {
		rest, stop, err := begun(res.Items)
		defer stop()
		if err != nil {
			v.failToFetch(err)
			return true
		}
		items = rest
	}
	v.secure()
	v.w.Header().Set("Content-Type", contentType)
	v.w.WriteHeader(http.StatusOK)
	out := bufio.NewWriterSize(v.w, 16<<10)
	for item, err := range items {
		if err == nil {
			err = write(out, &item)
		}
		if err != nil {
			v.breakOff(out, err)
		}
	}
	if err := out.Flush(); err != nil {
		v.breakOff(out, err)
	}
	return true
}

func writeJSON(w io.Writer, item *fetch.Item) error {
	if item.Locator != nil {
		item.Locator = place.WithoutLogin(item.Locator)
	}
	return entry.WriteJSON(w, item, charset.Charset{})
}

func writeName(w io.Writer, item *fetch.Item) error {
	_, err := io.WriteString(w, visible(item.Name)+"\n")
	return err
}

// breakOff sends what has been written, and then breaks the response off, so that it does not look
// complete.
func (v directoryPages) breakOff(out *bufio.Writer, err error) {
	_ = out.Flush()
	v.abort(err)
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
