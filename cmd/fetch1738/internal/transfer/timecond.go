package transfer

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// askTime requests a document's modification time if -z or -R needs it.
func askTime(o *plan.Operation, req *fetch.Request) {
	cond := o.Ask.Time
	if !needsTime(o) {
		return
	}
	switch options := req.Options.(type) {
	case *ftp.Options:
		options.ModTime = true
		options.Wanted = func(known fetch.Attributes) bool { return cond.Met(known.ModTime) }
	case *fetchhttp.Options:
		name, value := cond.Field()
		if _, given := options.Header[name]; !given && !cond.When.IsZero() {
			options.Header.Set(name, value)
		}
	}
}

// needsTime reports whether -z or -R is given.
func needsTime(o *plan.Operation) bool { return !o.Ask.Time.When.IsZero() || o.Output.RemoteTime }

// askGopher requests the time that askTime is for separately, as Gopher+ does not send it with the
// document. It returns the zero Time if the server does not tell it, or for any other request.
func askGopher(ctx context.Context, r *Result, req *fetch.Request) time.Time {
	l, ok := req.Locator.(*locator.Gopher)
	if !ok || !needsTime(r.Op) || !strings.HasPrefix(l.Plus, "+") || r.Upload || r.Gateway() != "" {
		return time.Time{}
	}
	found, err := r.Resolver.FindAttributes(ctx, req)
	if err != nil {
		r.Warn("cannot get the document's modification time: %v", err)
		return time.Time{}
	}
	return found.ModTime
}

// unmet reports whether the condition of -z or --etag-compare is not met, so that the
// body is not requested. An HTTP head is still shown. conditional says that there is an ETag to
// compare with; modified is the time of the document.
func unmet(cond plan.TimeCondition, conditional bool, modified time.Time, req *fetch.Request, res *fetch.Resource) bool {
	if info, ok := res.Info.(*fetchhttp.Info); ok && conditional && info.StatusCode == http.StatusNotModified {
		return true
	}
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
		return info.StatusCode == http.StatusOK && !ranged && !cond.Met(res.ModTime)
	}
	return !cond.Met(modified)
}

// keepsRemote reports whether -z prevents an upload over an existing file.
func keepsRemote(ctx context.Context, there *fetch1738.Resolver, cond plan.TimeCondition, req *fetch.Request) (bool, error) {
	if cond.When.IsZero() || !there.Can(req.Locator.Scheme()).FindAttributes {
		return false, nil
	}
	switch found, err := there.FindAttributes(ctx, req); {
	case errors.Is(err, fetch.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	default:
		return !cond.Met(found.ModTime), nil
	}
}
