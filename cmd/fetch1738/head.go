package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
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
	if req.Locator.Scheme() == "file" {
		head = fileHead(found)
	}
	t.result.shownHead = len(head)
	return t.sink.take(strings.NewReader(head))
}

// ftpHead and fileHead are in the orders that curl has for the two.
func ftpHead(a *fetch.Attributes) string { return modified(a.ModTime) + length(a) }

func fileHead(a *fetch.Attributes) string { return length(a) + modified(a.ModTime) }

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
