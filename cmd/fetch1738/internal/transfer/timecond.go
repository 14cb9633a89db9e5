package transfer

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// askTime requests a document's modification time if -z or -R needs it.
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
		name, value := cond.Field()
		if _, given := options.Header[name]; !given && !cond.When.IsZero() {
			options.Header.Set(name, value)
		}
	}
	if l, ok := req.Locator.(*locator.Gopher); ok && strings.HasPrefix(l.Plus, "+") && !t.Upload && t.Gateway() == "" {
		askGopher(ctx, t, req)
	}
}

// askGopher requests the time separately, as Gopher+ does not send it with the document.
func askGopher(ctx context.Context, t *Transfer, req *fetch.Request) {
	found, err := t.Resolver.FindAttributes(ctx, req)
	if err != nil {
		t.Warn("cannot get the document's modification time: %v", err)
		return
	}
	t.Answer.Modified = found.ModTime
}

// unmet reports whether the condition of -z or --etag-compare is not met, so that the
// body is not requested. An HTTP head is still shown.
func unmet(t *Transfer, req *fetch.Request, res *fetch.Resource) bool {
	if info, ok := res.Info.(*fetchhttp.Info); ok && t.etag != "" && info.StatusCode == http.StatusNotModified {
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
		t.Answer.Status = http.StatusNotModified // as the server should have sent
		return true
	}
	return !cond.Met(t.Answer.Modified)
}

// keepsRemote reports whether -z prevents an upload over an existing file.
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
