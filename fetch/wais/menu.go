package wais

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of the fields in the Header of a [fetch.Item]. A field that the server does not send
// is absent.
const (
	HeaderScore = "score"      // the relevance; on most servers the best is 1000
	HeaderLines = "lines"      // the number of lines
	HeaderDate  = "date"       // in the form that the server sends
	HeaderType  = "type"       // such as TEXT; every Item has it
	HeaderMatch = "best-match" // the line of the best match
	HeaderCity  = "city"       // the city of origin
	HeaderFault = "fault"      // the reason why the Item has no Locator
)

// itemsOf yields a document as Items, one for each type.
func (a *access) itemsOf(d z3950.Document) iter.Seq[fetch.Item] {
	return func(yield func(fetch.Item) bool) {
		types := d.Types
		if len(types) == 0 {
			types = []string{typeText}
		}
		for _, typ := range types {
			if !yield(a.item(d, typ)) {
				return
			}
			d.Length, d.Lines = z3950.Number{}, z3950.Number{} // they apply to the first type only
		}
	}
}

// item returns a document as an Item of one type.
func (a *access) item(d z3950.Document, typ string) fetch.Item {
	it := fetch.Item{Name: headline(d.Headline), Attributes: fetch.Attributes{
		Size: -1, ModTime: date(d.Date), MediaType: mediaType(typ), Header: header(d, typ),
	}}
	if d.Length.Known && d.Length.Value > 0 {
		it.Size = int64(d.Length.Value)
	}
	wpath, ok := path(d.ID, d.Length)
	switch {
	case typ == typeURL:
		it.Size = -1
		if it.Locator = parseLink(it.Name); it.Locator == nil {
			it.Header = append(it.Header, fetch.Field{Name: HeaderFault, Value: "the headline is not a URL that may be followed"})
		}
	case !ok:
		it.Header = append(it.Header, fetch.Field{Name: HeaderFault, Value: "the document-id cannot be written in a URL"})
	default:
		it.Locator = &locator.WAIS{
			HostPort: a.loc.HostPort, Form: locator.WAISDocument,
			Database: a.database, WType: typ, WPath: wpath,
		}
	}
	return it
}

// header returns the other fields of a document.
func header(d z3950.Document, typ string) []fetch.Field {
	h := make([]fetch.Field, 0, 4)
	for _, n := range []struct {
		name  string
		value z3950.Number
	}{{HeaderScore, d.Score}, {HeaderLines, d.Lines}, {HeaderMatch, d.BestMatch}} {
		if n.value.Known {
			h = append(h, fetch.Field{Name: n.name, Value: strconv.FormatUint(uint64(n.value.Value), 10)})
		}
	}
	h = append(h, fetch.Field{Name: HeaderType, Value: typ})
	if d.Date != "" && d.Date != "0" {
		h = append(h, fetch.Field{Name: HeaderDate, Value: d.Date})
	}
	if d.City != "" {
		h = append(h, fetch.Field{Name: HeaderCity, Value: d.City})
	}
	return h
}

// menu sets the items, body and info of res. info is nil if there was no search.
func (a *access) menu(ctx context.Context, res *fetch.Resource, items iter.Seq[fetch.Item], info *Info, limits fetch.Limits) {
	b := &menuBody{ctx: ctx, loc: a.loc, trace: driver.ContextTrace(ctx)}
	b.text = sync.OnceValue(func() io.Reader { return a.asText(items, info, limits.Items) })
	res.Body, res.MediaType = b, "text/plain"
	if info != nil {
		res.Info = info
	}
	res.Items = b.limited(items, limits.Items)
}

// menuBody is a menu as text. The text is created by the first Read.
type menuBody struct {
	ctx    context.Context
	loc    *locator.WAIS
	trace  *fetch.Trace
	text   func() io.Reader
	closed atomic.Bool
}

// check returns the error for a closed body or a context that has ended.
func (b *menuBody) check() error {
	if b.closed.Load() {
		return driver.Fail(fetch.OpRead, b.loc, fetch.ErrConnectionFailed, errClosed)
	}
	if err := b.ctx.Err(); err != nil {
		return driver.Fail(fetch.OpRead, b.loc, fetch.ErrOther, err)
	}
	return nil
}

// Read implements io.Reader.
func (b *menuBody) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	n, err := b.text().Read(p)
	b.trace.Took(p[:n])
	return n, err
}

// Close implements io.Closer.
func (b *menuBody) Close() error {
	b.closed.Store(true)
	return nil
}

// limited yields items until the body is closed or there are too many.
func (b *menuBody) limited(items iter.Seq[fetch.Item], limit int) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		n := 0
		for item := range items {
			err := b.check()
			if limit > 0 && n == limit {
				err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrTooLarge, fmt.Errorf("more than %d documents", limit))
			}
			if err != nil {
				yield(fetch.Item{}, err)
				return
			}
			if n++; !yield(item, nil) {
				return
			}
		}
	}
}

// asText returns items as text for people, with two lines for each item.
func (a *access) asText(items iter.Seq[fetch.Item], info *Info, limit int) io.Reader {
	var b bytes.Buffer
	n := 0
	for item := range items {
		if n++; limit > 0 && n > limit {
			fmt.Fprintf(&b, "(more than %d documents)\n", limit)
			break
		}
		writeItem(&b, n, item)
	}
	if info == nil {
		return &b
	}
	if info.Hits == 0 {
		fmt.Fprintf(&b, "Nothing was found in %s.\n", a.database)
	}
	if info.Catalogue != nil && info.Catalogue.Locator != nil {
		fmt.Fprintf(&b, "Its catalogue:\n     %s\n", urlOf(info.Catalogue.Locator))
	}
	for _, d := range info.Diagnostics {
		fmt.Fprintf(&b, "Diagnostic from the server: %s\n", d.Error())
	}
	return &b
}

// writeItem writes the n-th item of a menu as text.
func writeItem(b *bytes.Buffer, n int, item fetch.Item) {
	fmt.Fprintf(b, "%3d. %s", n, item.Name)
	separator := "  ("
	fact := func(format string, value any) {
		fmt.Fprintf(b, separator+format, value)
		separator = ", "
	}
	for _, h := range item.Header {
		switch h.Name {
		case HeaderScore:
			fact("score %s", h.Value)
		case HeaderLines:
			if h.Value == "1" {
				h.Value = "1 line"
			} else {
				h.Value += " lines"
			}
			fact("%s", h.Value)
		case HeaderType:
			fact("%s", h.Value)
		}
	}
	if item.Size >= 0 {
		fact("%d bytes", item.Size)
	}
	if !item.ModTime.IsZero() {
		fact("%s", item.ModTime.Format("2006-01-02"))
	}
	b.WriteString(")\n")
	if item.Locator != nil {
		fmt.Fprintf(b, "     %s\n", urlOf(item.Locator))
	}
}

// urlOf returns the URL of a locator, for WAIS in the form that browsers write.
func urlOf(l locator.Locator) string {
	if l, ok := l.(*locator.WAIS); ok {
		return URL(l)
	}
	return l.Redacted()
}
