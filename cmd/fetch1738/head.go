package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
)

// attributes shows what is known of a document, for -I, in lines like those of
// HTTP.
func (t *transfer) attributes(ctx context.Context, req *fetch.Request) error {
	finder, ok := t.registry.Lookup(req.Locator.Scheme()).(fetch.AttributeFinder)
	if !ok {
		return fetch.Fail("attributes", req.Locator, fetch.Unsupported, fmt.Errorf("a %s server tells nothing about a document but the document", req.Locator.Scheme()))
	}
	found, err := finder.FindAttributes(ctx, req)
	if err != nil {
		return err
	}
	head := ftpHead(found)
	switch scheme := req.Locator.Scheme(); {
	case t.op.listViews:
		head = viewList(found)
	case scheme == "file":
		head = fileHead(found)
	case isNews(req.Locator):
		head = newsHead(found)
	case scheme == "gopher" || scheme == gopher.Secure:
		head = gopherHead(found)
	}
	t.result.shownHead = len(head)
	t.heads.add(head)
	return t.sink.take(strings.NewReader(head))
}

// ftpHead and fileHead are in the orders that curl has for the two.
func ftpHead(a *fetch.Attributes) string { return modified(a.ModTime) + length(a) }

func fileHead(a *fetch.Attributes) string { return length(a) + modified(a.ModTime) }

// newsHead is the header of an article, or what there is to know of a group.
func newsHead(a *fetch.Attributes) string {
	var b strings.Builder
	for _, f := range a.Header {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	return b.String()
}

// gopherHead has the lines of the item's attributes, each behind the name of its
// block.
func gopherHead(a *fetch.Attributes) string {
	head := ftpHead(a)
	for _, f := range a.Header {
		head += f.Name + ": " + f.Value + "\r\n"
	}
	return head
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
	return fmt.Sprintf("Content-Length: %d\r\nAccept-ranges: bytes\r\n", a.Size)
}
