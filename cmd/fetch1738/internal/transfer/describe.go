package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// maxIncluded is the maximum size in bytes of a document in a line of --json.
const maxIncluded = 64 << 20

// attributesSuffice finds out what --json says about a document by asking for its attributes only. It
// reports false if the document must be fetched.
func attributesSuffice(ctx context.Context, t *Transfer, req *fetch.Request) (bool, error) {
	o := t.Op
	if !o.Output.JSON || o.Output.IncludeBody || t.place.Keeps() || o.Ask.Numbers != nil || t.Gateway() != "" || t.AskedProxy(t.Locator) != nil {
		return false, nil
	}
	path, isFTP := req.Locator.(*locator.FTP)
	if isFTP && (path.Name == "" || path.Type == 'd') || !isFTP && !client.IsArticle(req.Locator) {
		return false, nil
	}
	found, err := t.ResolverFor(req.Locator).FindAttributes(ctx, req)
	if fetch.KindOf(err) == fetch.ErrUnsupported || err == nil && isFTP && found.Size < 0 {
		return false, nil
	}
	if err == nil && o.Ask.Time.Met(found.ModTime) {
		t.about(req.Locator, found)
	}
	return true, err
}

// about sets what is said about the document.
func (t *Transfer) about(l locator.Locator, found *fetch.Attributes) {
	t.document = &entry.Document{Item: fetch.Item{Name: cmp.Or(t.picked, output.DecodedName(l, t.URL)), Locator: l, Attributes: *found}}
}

// describe sets what --json says about a document. If no file gets the document, it is read only
// for its size or for --include-body, and describe reports true.
func (t *Transfer) describe(res *fetch.Resource) (done bool, err error) {
	if !t.Op.Output.JSON || res.Items != nil {
		return false, nil
	}
	t.about(res.Locator, &res.Attributes)
	d := t.document
	switch body := t.incoming(res.Body); {
	case t.place.Keeps():
		return false, nil
	case t.Op.Output.IncludeBody:
		d.Body = new(bytes.Buffer)
		if d.Size, err = io.Copy(d.Body, io.LimitReader(body, maxIncluded+1)); err == nil && d.Size > maxIncluded {
			err = driver.Fail(fetch.OpTransfer, res.Locator, fetch.ErrTooLarge, fmt.Errorf("--include-body takes documents of at most %d bytes; use -o FILE", maxIncluded))
		}
	case d.Size < 0:
		d.Size, err = io.Copy(io.Discard, body)
	}
	return true, err
}

// tellDocument writes what describe or attributesSuffice has set, if anything.
func tellDocument(t *Transfer) error {
	d := t.document
	if d == nil {
		return nil
	}
	var line bytes.Buffer
	if t.place.Keeps() {
		d.File, d.Size = t.Sink.Path, cmp.Or(t.Sink.Size(), t.Account.Moved.Load())
	}
	if err := entry.WriteDocument(&line, d, t.Op.Output.Charset); err != nil {
		return err
	}
	if t.place.Keeps() {
		_, err := output.Harmless(t.Out, t.Op.Output.Raw).Write(line.Bytes())
		return err
	}
	t.Sink.UTF8()
	return t.Sink.Take(&line)
}
