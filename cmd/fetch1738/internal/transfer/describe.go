package transfer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// maxIncluded is the maximum size in bytes of a document in a line of --json.
const maxIncluded = 64 << 20

// suffices finds out what --json says about a document by asking for its attributes only. It
// reports false if the document must be fetched. The attributes are nil if nothing is said.
func suffices(ctx context.Context, r *Result, keeps bool, req *fetch.Request) (*fetch.Attributes, bool, error) {
	o := r.Op
	if !o.Output.JSON || o.Output.IncludeBody || keeps || o.Ask.Numbers != nil || r.Gateway() != "" || r.AskedProxy(r.Locator) != nil {
		return nil, false, nil
	}
	path, isFTP := req.Locator.(*locator.FTP)
	if isFTP && (path.Name == "" || path.Type == 'd') || !isFTP && !entry.IsArticle(req.Locator) {
		return nil, false, nil
	}
	found, err := r.ResolverFor(req.Locator).FindAttributes(ctx, req)
	switch {
	case fetch.KindOf(err) == fetch.ErrUnsupported || err == nil && isFTP && found.Size < 0:
		return nil, false, nil
	case err != nil || !o.Ask.Time.Met(found.ModTime):
		return nil, true, err
	}
	return found, true, nil
}

// describes returns what --json says about a document.
func describes(name string, l locator.Locator, found *fetch.Attributes) *entry.Document {
	return &entry.Document{Item: fetch.Item{Name: name, Locator: l, Attributes: *found}}
}

// measure reads a document that no file gets, for its size or for --include-body.
func measure(d *entry.Document, include bool, body io.Reader) (err error) {
	switch {
	case include:
		d.Body = new(bytes.Buffer)
		if d.Size, err = io.Copy(d.Body, io.LimitReader(body, maxIncluded+1)); err == nil && d.Size > maxIncluded {
			err = driver.Fail(fetch.OpTransfer, d.Locator, fetch.ErrTooLarge, fmt.Errorf("--include-body takes documents of at most %d bytes; use -o FILE", maxIncluded))
		}
	case d.Size < 0:
		d.Size, err = io.Copy(io.Discard, body)
	}
	return err
}

// tellDocument writes what is said about a document, if anything: to the sink, or, if that keeps the
// document, to the output.
func tellDocument(r *Result, keeps bool, d *entry.Document) error {
	if d == nil {
		return nil
	}
	var line bytes.Buffer
	if keeps {
		d.File, d.Size = r.Sink.Path, cmp.Or(r.Sink.Size(), r.Account.Moved.Load())
	}
	if err := entry.WriteDocument(&line, d, r.Op.Output.Charset); err != nil {
		return err
	}
	if keeps {
		_, err := output.Harmless(r.Out, r.Op.Output.Raw).Write(line.Bytes())
		return err
	}
	r.Sink.UTF8()
	return r.Sink.Take(&line)
}
