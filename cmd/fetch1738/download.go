package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// receive fetches a document into the sink.
func (t *transfer) receive(ctx context.Context, req *fetch.Request) error {
	if t.op.span != nil && t.op.span.empty {
		return &codedError{exitRange, errors.New("there is no such range in any document")}
	}
	switch t.op.resume {
	case resumeGiven:
		req.Offset = t.op.resumeAt
	case resumeFound:
		req.Offset = t.sink.size()
	}
	res, err := t.resolverFor(req.Locator).Fetch(ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	t.note(res)
	if err := t.judge(req, res); err != nil {
		return err
	}
	switch res.Kind {
	case fetch.KindQuery:
		return &codedError{exitBadURL, fmt.Errorf("%s needs words to search for: add %s to the URL", res.Locator.Redacted(), queryForm(res))}
	case fetch.KindAdvice, fetch.KindInteractive:
		return t.sink.take(strings.NewReader(res.Advice + "\n"))
	}
	if _, ok := res.Locator.(*locator.Prospero); ok && res.Items != nil {
		return t.sink.take(&linkList{res: res})
	}
	return t.store(req, res)
}

// queryForm is how search words are written in a URL of the resource's scheme.
func queryForm(res *fetch.Resource) string {
	if res.Locator.Scheme() == "gopher" {
		return "%09words or ?words"
	}
	return "?words"
}

// store writes an answer to the sink: its head where that is wanted, its body.
func (t *transfer) store(req *fetch.Request, res *fetch.Resource) error {
	t.meter.expect(req, res.Size)
	if err := t.writeHead(res); err != nil {
		return err
	}
	if err := t.sink.take(res.Body); err != nil {
		return err
	}
	info, ok := res.Info.(*fetchhttp.Info)
	if ok && t.op.failWithBody && info.StatusCode >= 400 {
		return &codedError{exitStatus, fmt.Errorf("%s: %s", t.result.effective.Redacted(), info.Status)}
	}
	return nil
}

// writeHead writes the heads of an HTTP answer, and of the redirects to it, for
// -i and -I; a file gets lines in their manner.
func (t *transfer) writeHead(res *fetch.Resource) error {
	if !t.op.include && !t.op.head {
		return nil
	}
	var head []byte
	if info, ok := res.Info.(*fetchhttp.Info); ok {
		for _, r := range info.Redirects {
			head = append(head, r.Head...)
		}
		head = append(head, info.Head...)
	} else if res.Locator.Scheme() == "file" {
		head = []byte(fileHead(&res.Attributes) + "\r\n")
	}
	t.result.shownHead = len(head)
	return t.sink.take(bytes.NewReader(head))
}
