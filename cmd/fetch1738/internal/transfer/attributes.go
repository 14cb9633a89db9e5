package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// attributes shows what is known of a document, for -I, in lines like those of
// HTTP.
func (t *Transfer) attributes(ctx context.Context, req *fetch.Request) error {
	found, err := t.ResolverFor(req.Locator).FindAttributes(ctx, req)
	if err != nil {
		return err
	}
	if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Name != "" && found.Size < 0 && found.ModTime.IsZero() {
		return fetch.Fail(fetch.OpSIZE, req.Locator, fetch.ErrNotFound, errors.New("a directory; its URL ends in a slash"))
	}
	if !t.Op.Ask.Time.Met(found.ModTime) {
		found.Size, found.Header = -1, nil // as curl
	}
	t.Answer.Modified = found.ModTime
	head := knownHead(found)
	switch {
	case t.Op.Gopher.ListViews:
		head = viewList(found)
	case req.Locator.Scheme() == "file":
		head = fileHead(found)
	case client.IsNews(req.Locator):
		head = fields(found)
	}
	t.Answer.ShownHead = len(head)
	t.Heads.Add(head)
	return t.Sink.Take(strings.NewReader(head))
}

// knownHead and fileHead are in the orders that curl has for ftp and file.
func knownHead(a *fetch.Attributes) string { return modified(a.ModTime) + length(a) + fields(a) }

func fileHead(a *fetch.Attributes) string {
	if a.Size < 0 {
		return modified(a.ModTime)
	}
	return length(a) + "Accept-ranges: bytes\r\n" + modified(a.ModTime)
}

// fields are what else is known: of an article its header, of a Gopher+ item its
// attributes, each behind the name of its block.
func fields(a *fetch.Attributes) string {
	var b strings.Builder
	for _, f := range a.Header {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	return b.String()
}

// viewList has the views of a Gopher+ item, one a line: as --view takes it, and
// its size.
func viewList(a *fetch.Attributes) string {
	var list strings.Builder
	attributes := gopher.AttributesOf(a.Header)
	if attributes == nil {
		return ""
	}
	for _, v := range attributes.Views {
		list.WriteString(v.Type)
		if v.Language != "" {
			list.WriteString("," + v.Language)
		}
		switch {
		case v.Exact:
			fmt.Fprintf(&list, "\t%d octets", v.Size)
		case v.Size > 0:
			fmt.Fprintf(&list, "\tabout %d octets", v.Size)
		}
		list.WriteString("\n")
	}
	return list.String()
}

func modified(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return "Last-Modified: " + t.UTC().Format(http.TimeFormat) + "\r\n"
}

func length(a *fetch.Attributes) string {
	if a.Size < 0 {
		return ""
	}
	return fmt.Sprintf("Content-Length: %d\r\n", a.Size)
}
