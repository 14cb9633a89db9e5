package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// receive fetches a document into the sink.
func (t *transfer) receive(ctx context.Context, req *fetch.Request) error {
	if t.op.span != nil && t.op.span.empty {
		return &codedError{exitRange, errors.New("there is no such range in any document")}
	}
	if err := t.setOffset(req); err != nil {
		return err
	}
	t.datable(req)
	whole := req
	req, res, err := t.fetch(ctx, req)
	if err != nil {
		return err
	}
	if res, err = t.answered(ctx, req, res); err != nil {
		return err
	}
	for _, n := range t.op.numbers {
		if res, err = t.follow(ctx, res, n); err != nil {
			return err
		}
	}
	defer res.Close()
	t.note(res)
	if err := t.judge(req, res); err != nil {
		return err
	}
	if t.unmet(req, res) {
		if isHTTP(res.Locator) {
			return t.writeHead(res)
		}
		return nil
	}
	if skip, err := t.nameFile(res); skip || err != nil {
		return err
	}
	if said, err := t.instead(ctx, res); said || err != nil {
		return err
	}
	t.expect(whole, res.Size)
	return t.store(res)
}

// setOffset has req go on where -C says.
func (t *transfer) setOffset(req *fetch.Request) error {
	switch t.op.resume {
	case resumeGiven:
		req.Offset = t.op.resumeAt
	case resumeFound:
		req.Offset = t.sink.size() - t.sink.count
		if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Type == 'a' && req.Offset > 0 {
			return &codedError{exitResume, errors.New("text cannot be gone on with: it has one size here and another there")}
		}
	}
	return nil
}

// nameFile gives the file the name that the server has for it, if it is to choose.
// It reports whether there is such a file already that stays.
func (t *transfer) nameFile(res *fetch.Resource) (skip bool, err error) {
	if t.sink.file != nil {
		return false, nil // it has its name from an attempt before
	}
	if err := t.nameByServer(res); err != nil || t.sink.served == "" {
		return false, err
	}
	return t.skips()
}

// instead does what there is to do about a resource that is no document: it says
// what the user can do, or lets him. It reports false for a document.
func (t *transfer) instead(ctx context.Context, res *fetch.Resource) (bool, error) {
	switch res.Kind {
	case fetch.KindQuery:
		if res.Advice != "" {
			return true, t.sink.take(strings.NewReader(res.Advice + "\n"))
		}
		return true, &codedError{exitBadURL, fmt.Errorf("%s needs words to search for: add %s to the URL", res.Locator.Redacted(), queryForm(res))}
	case fetch.KindInteractive:
		return true, t.converse(ctx, res)
	case fetch.KindAdvice:
		return true, t.sink.take(strings.NewReader(res.Advice + "\n"))
	}
	if _, ok := res.Locator.(*locator.Prospero); ok && res.Items != nil && !t.op.list && !t.op.json {
		return true, t.sink.take(&linkList{res: res})
	}
	return false, nil
}

// answered is res, or, if that is a form, what comes of filling it in.
func (t *transfer) answered(ctx context.Context, req *fetch.Request, res *fetch.Resource) (*fetch.Resource, error) {
	info, ok := res.Info.(*gopher.Info)
	if !ok || res.Kind != fetch.KindQuery || info.Attributes == nil {
		return res, nil
	}
	res.Close()
	return t.submit(ctx, req, info.Attributes)
}

// queryForm is how search words are written in a URL of the resource's scheme.
func queryForm(res *fetch.Resource) string {
	if _, isGopher := res.Locator.(*locator.Gopher); isGopher {
		return "%09words or ?words"
	}
	return "?words"
}

// store writes an answer to the sink: its head where that is wanted, its body.
func (t *transfer) store(res *fetch.Resource) error {
	if err := t.writeHead(res); err != nil {
		return err
	}
	if t.lists(res) {
		return t.list(res)
	}
	if isNews(res.Locator) {
		if t.op.articles != "" && t.dest.remote {
			return t.articleFiles(res)
		}
		if shown, err := t.showNews(res); shown || err != nil {
			return err
		}
	}
	if t.verbatim() {
		t.came = editionOf(res)
	}
	if err := t.sink.take(t.incoming(res.Body)); err != nil {
		return err
	}
	if trailer := t.heads.behind(); t.op.include && isHTTP(res.Locator) && len(trailer) > 0 {
		t.result.shownHead += len(trailer)
		if err := t.sink.take(bytes.NewReader(trailer)); err != nil {
			return err
		}
	}
	info, ok := res.Info.(*fetchhttp.Info)
	if ok && t.op.failWithBody && info.StatusCode >= 400 {
		return &codedError{exitStatus, fmt.Errorf("%s: %s", t.result.effective.Redacted(), info.Status)}
	}
	return nil
}

// showHeads writes the heads of answers that led to a failure, for -i and -I. A
// file that is there is left alone.
func (t *transfer) showHeads() {
	head := t.heads.shown()
	if !t.op.include && !t.op.head || len(head) == 0 || t.result.shownHead > 0 || t.sink.count > 0 || t.sink.exists() {
		return
	}
	t.result.shownHead = len(head)
	_ = t.sink.take(bytes.NewReader(head)) // there is an error to tell of already
}

// writeHead writes the heads of an HTTP answer, and of the redirects to it, for
// -i and -I; a file gets lines in their manner.
func (t *transfer) writeHead(res *fetch.Resource) error {
	head := t.heads.shown()
	if res.Locator.Scheme() == "file" {
		head = []byte(fileHead(&res.Attributes) + "\r\n")
		t.heads.add(string(head))
	}
	if !t.op.include && !t.op.head {
		return nil
	}
	t.result.shownHead = len(head)
	return t.sink.take(bytes.NewReader(head))
}
