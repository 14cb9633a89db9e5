package transfer

import (
	"context"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// fetch fetches req, or, after a failure, the rest of it. A document that has changed,
// or that cannot be resumed, is fetched from the start. It returns the request that was
// made last.
func (a *attempt) fetch(ctx context.Context, req *fetch.Request) (*fetch.Request, *fetch.Resource, error) {
	fetcher := a.ResolverFor(req.Locator)
	why, bound := "the rest cannot be requested", false
	rest, ok := req, false
	if a.canResume() {
		rest, ok = a.came.Rest(req, a.Sink.Count)
	}
	if ok {
		res, err := resume.Fetch(ctx, fetcher, rest, func() ([]byte, error) { return output.Tail(a.Sink) })
		switch {
		case err == nil && (!isPart(res) || a.came.Continues(res)):
			return rest, res, nil
		case err == nil:
			why = "the document has changed"
			res.Close()
		case !resume.Refused(err):
			return rest, nil, err
		default:
			why = err.Error()
		}
		bound = a.Sink.Base > 0 // to the beginning in the file, of the older document
	}
	if a.Sink.Count > 0 {
		if bound || !a.Sink.Rewind() {
			return nil, nil, localerr.Errorf(localerr.Partial, "cannot resume: %s, and part of the document has already been written", why)
		}
		a.Account.Moved.Store(0)
		a.Warn("starting over: %s", why)
	}
	a.came = resume.Edition{}
	if res, err := a.early.Take(driver.ContextTrace(ctx)); res != nil || err != nil {
		return req, res, err
	}
	res, err := resume.Fetch(ctx, fetcher, req, func() ([]byte, error) { return output.Existing(a.Sink, req.Offset) })
	return req, res, err
}

// isPart reports whether a response has bytes of the document, not an error page.
func isPart(res *fetch.Resource) bool {
	info, ok := res.Info.(*fetchhttp.Info)
	return !ok || info.StatusCode/100 == 2
}

// requestModTime requests the modification time of a document, if retries, segments or --json
// may need it.
func requestModTime(o *plan.Operation, req *fetch.Request) {
	if options, ok := req.Options.(*ftp.Options); ok && (o.Retry.Times > 0 || o.Ask.Segments > 1 || o.Output.JSON) && !o.Exact {
		options.ModTime = true
	}
}
