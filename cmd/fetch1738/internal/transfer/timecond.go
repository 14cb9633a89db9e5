package transfer

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// conditionField is the condition as a field of a request by HTTP.
func conditionField(c plan.TimeCondition) (name, value string) {
	name = "If-Modified-Since"
	if c.Older {
		name = "If-Unmodified-Since"
	}
	return name, c.When.UTC().Format(http.TimeFormat)
}

// askTime has the server asked for a document's time where -z or -R need it.
func askTime(ctx context.Context, t *Transfer, req *fetch.Request) {
	cond := t.Op.Ask.Time
	if cond.When.IsZero() && !t.Op.Output.RemoteTime {
		return
	}
	switch options := req.Options.(type) {
	case *ftp.Options:
		options.ModTime = true
		options.Wanted = func(known fetch.Attributes) bool { return cond.Met(known.ModTime) }
	case *fetchhttp.Options:
		name, value := conditionField(cond)
		if _, given := options.Header[name]; !given && !cond.When.IsZero() {
			options.Header.Set(name, value)
		}
	}
	if l, ok := req.Locator.(*locator.Gopher); ok && strings.HasPrefix(l.Plus, "+") && !t.Upload && t.Gateway() == "" {
		askGopher(ctx, t, req)
	}
}

// askGopher asks a Gopher+ server, which does not tell the time of a document
// with it.
func askGopher(ctx context.Context, t *Transfer, req *fetch.Request) {
	found, err := t.Resolver.FindAttributes(ctx, req)
	if err != nil {
		t.Warn("the document's time is not to be had: %v", err)
		return
	}
	t.Answer.Modified = found.ModTime
}

// unmet reports whether -z or --etag-compare does without an answer. Its head, by
// HTTP, is wanted all the same.
func unmet(t *Transfer, req *fetch.Request, res *fetch.Resource) bool {
	if info, ok := res.Info.(*fetchhttp.Info); ok && sameETag(t, info) {
		return true
	}
	cond := t.Op.Ask.Time
	if cond.When.IsZero() {
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
		if info.StatusCode != http.StatusOK || ranged || cond.Met(res.ModTime) {
			return false
		}
		t.Answer.Status = http.StatusNotModified // what the server should have said
		return true
	}
	return !cond.Met(t.Answer.Modified)
}

// keepsRemote reports whether -z keeps an upload from what is there already.
func keepsRemote(ctx context.Context, t *Transfer, req *fetch.Request) (bool, error) {
	if t.Op.Ask.Time.When.IsZero() || !t.Resolver.Can(req.Locator.Scheme()).FindAttributes {
		return false, nil
	}
	switch found, err := t.Resolver.FindAttributes(ctx, req); {
	case errors.Is(err, fetch.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	default:
		return !t.Op.Ask.Time.Met(found.ModTime), nil
	}
}
