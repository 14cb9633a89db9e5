package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// An edition tells two states of a document apart: by an HTTP validator, or by
// size and time of modification. The zero edition is of one that cannot be told
// apart.
type edition struct {
	validator string
	size      int64
	modified  time.Time
}

// editionOf is the edition that an answer is of.
func editionOf(res *fetch.Resource) edition {
	info, ok := res.Info.(*fetchhttp.Info)
	switch {
	case ok && info.Validator != "":
		return edition{validator: info.Validator, size: res.Size}
	case ok, res.Size < 0, res.ModTime.IsZero():
		return edition{}
	}
	return edition{size: res.Size, modified: res.ModTime}
}

// verbatim reports whether the sink gets the octets of the document and no
// others.
func (t *transfer) verbatim() bool {
	o := t.op
	return !o.include && !o.head && !o.compressed && o.numbers == nil && o.method == "" && o.data == nil && !t.upload
}

// goesOn reports whether the next attempt asks for the rest only: what is in the
// sink is the beginning of a document that can be told from others.
func (t *transfer) goesOn() bool { return t.came != edition{} && t.sink.count > 0 }

// rest is req without what is in the sink already. It reports false where there
// is no way to ask for it.
func (t *transfer) rest(req *fetch.Request) (*fetch.Request, bool) {
	rest, count := *req, t.sink.count
	if rest.Offset < 0 || rest.Length > 0 && rest.Length <= count {
		return nil, false
	}
	rest.Offset += count
	if rest.Length > 0 {
		rest.Length -= count
	}
	if options, ok := req.Options.(*fetchhttp.Options); ok {
		with := *options
		with.Header = with.Header.Clone()
		with.Header.Set("If-Range", t.came.validator)
		rest.Options = &with
	}
	return &rest, true
}

// fetch fetches req, or, after a failure, the rest of it. A document that has
// changed meanwhile, or that the server cannot go on with, is fetched anew. It
// gives the request that was made in the end.
func (t *transfer) fetch(ctx context.Context, req *fetch.Request) (*fetch.Request, *fetch.Resource, error) {
	fetcher := t.resolverFor(req.Locator)
	why, bound := "no part of it can be asked for", false
	if rest, ok := t.rest(req); t.goesOn() && ok {
		res, err := fetcher.Fetch(ctx, rest)
		switch {
		case err == nil && (!t.isPart(res) || t.isRest(res)):
			return rest, res, nil
		case err == nil:
			why = "the document has changed"
			res.Close()
		case !refusesPart(err):
			return rest, nil, err
		default:
			why = err.Error()
		}
		bound = t.sink.base > 0 // to what stood in the file before, of an older document
	}
	if t.sink.count > 0 {
		if bound || !t.sink.rewind() {
			return nil, nil, &codedError{exitPartial, fmt.Errorf("cannot go on: %s, and part of it is in the output already", why)}
		}
		t.account.moved.Store(0)
		t.warn("starting over: %s", why)
	}
	t.came = edition{}
	res, err := fetcher.Fetch(ctx, req)
	return req, res, err
}

// isPart reports whether an answer holds octets of the document, not an error.
func (t *transfer) isPart(res *fetch.Resource) bool {
	info, ok := res.Info.(*fetchhttp.Info)
	return !ok || info.StatusCode/100 == 2
}

// isRest reports whether an answer goes on with what came before. Of a part for
// which it was the condition an HTTP server need not repeat the validator (RFC
// 9110 §15.3.7).
func (t *transfer) isRest(res *fetch.Resource) bool {
	now := editionOf(res)
	if info, ok := res.Info.(*fetchhttp.Info); ok && info.StatusCode == http.StatusPartialContent && info.Validator == "" && len(info.Redirects) == 0 {
		now = edition{validator: t.came.validator, size: res.Size}
	}
	if now.validator != "" && (now.size < 0 || t.came.size < 0) {
		now.size = t.came.size
	}
	return now.validator == t.came.validator && now.size == t.came.size && now.modified.Equal(t.came.modified)
}

// refusesPart reports whether a failure says that a server cannot begin where it
// was asked to.
func refusesPart(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && (known.Kind == fetch.ErrBadRange || known.Op == fetch.OpREST && known.Code >= 500)
}

// datable has the server tell when a document was modified, if that may be of
// use after a failure.
func (t *transfer) datable(req *fetch.Request) {
	if options, ok := req.Options.(*ftp.Options); ok && t.op.retry > 0 && !t.op.exact {
		options.ModTime = true
	}
}

func setResume(c *commandLine, value string) error {
	if value == "-" {
		c.op.resume = resumeFound
		return nil
	}
	n, err := natural(value)
	if err != nil {
		return err
	}
	c.op.resume, c.op.resumeAt = resumeGiven, n
	return nil
}
