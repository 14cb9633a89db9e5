package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curldate"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// A timeCondition is what -z asks of a document: to be newer than a time, or
// not to be. The zero value asks nothing.
type timeCondition struct {
	when  time.Time
	older bool
}

// setTimeCondition reads a date, or the name of a file whose time counts. What
// is neither is warned of and asks nothing, as in curl.
func setTimeCondition(c *commandLine, value string) error {
	var cond timeCondition
	value = strings.TrimPrefix(value, "+")
	value, cond.older = strings.CutPrefix(value, "-")
	var known bool
	if cond.when, known = curldate.Parse(value); !known {
		if info, err := os.Stat(value); err == nil {
			cond.when, known = info.ModTime(), true
		}
	}
	if !known {
		cond = timeCondition{}
		if !c.global.silent {
			fmt.Fprintf(c.std.err, "fetch1738: warning: -z, --time-cond: %s is neither a date nor a file; fetching whatever its time\n", term.SafeLine(value, maxMessage))
		}
	}
	c.op.timeCondition = cond
	return nil
}

// met reports whether a document of that time is wanted. One whose time is not
// known is. Times are compared by the second: servers tell no more.
func (c timeCondition) met(modified time.Time) bool {
	switch {
	case c.when.IsZero() || modified.IsZero():
		return true
	case c.older:
		return modified.Unix() <= c.when.Unix()
	}
	return modified.Unix() > c.when.Unix()
}

// field is the condition as a field of a request by HTTP.
func (c timeCondition) field() (name, value string) {
	name = "If-Modified-Since"
	if c.older {
		name = "If-Unmodified-Since"
	}
	return name, c.when.UTC().Format(http.TimeFormat)
}

// askTime has the server asked for a document's time where -z or -R need it.
func (t *transfer) askTime(ctx context.Context, req *fetch.Request) {
	cond := t.op.timeCondition
	if cond.when.IsZero() && !t.op.remoteTime {
		return
	}
	switch options := req.Options.(type) {
	case *ftp.Options:
		options.ModTime = true
		options.Wanted = func(known fetch.Attributes) bool { return cond.met(known.ModTime) }
	case *fetchhttp.Options:
		name, value := cond.field()
		if _, given := options.Header[name]; !given && !cond.when.IsZero() {
			options.Header.Set(name, value)
		}
	}
	if l, ok := req.Locator.(*locator.Gopher); ok && strings.HasPrefix(l.Plus, "+") && !t.upload && t.gateway() == "" {
		t.askGopher(ctx, req)
	}
}

// askGopher asks a Gopher+ server, which does not tell the time of a document
// with it.
func (t *transfer) askGopher(ctx context.Context, req *fetch.Request) {
	found, err := t.resolver.FindAttributes(ctx, req)
	if err != nil {
		t.warn("the document's time is not to be had: %v", err)
		return
	}
	t.result.modified = found.ModTime
}

// unmet reports whether -z or --etag-compare does without an answer. Its head, by
// HTTP, is wanted all the same.
func (t *transfer) unmet(req *fetch.Request, res *fetch.Resource) bool {
	if info, ok := res.Info.(*fetchhttp.Info); ok && t.sameETag(info) {
		return true
	}
	cond := t.op.timeCondition
	if cond.when.IsZero() {
		return false
	}
	switch info := res.Info.(type) {
	case *ftp.Info:
		return info.Unwanted
	case *fetchhttp.Info:
		if info.StatusCode == http.StatusNotModified {
			return true
		}
		ranged := req.Offset != 0 || req.Length != 0
		if info.StatusCode != http.StatusOK || ranged || cond.met(res.ModTime) {
			return false
		}
		t.result.status = http.StatusNotModified // what the server should have said
		return true
	}
	return !cond.met(t.result.modified)
}

// keepsRemote reports whether -z keeps an upload from what is there already.
func (t *transfer) keepsRemote(ctx context.Context, req *fetch.Request) (bool, error) {
	if t.op.timeCondition.when.IsZero() || !t.resolver.Can(req.Locator.Scheme()).FindAttributes {
		return false, nil
	}
	switch found, err := t.resolver.FindAttributes(ctx, req); {
	case errors.Is(err, fetch.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	default:
		return !t.op.timeCondition.met(found.ModTime), nil
	}
}
