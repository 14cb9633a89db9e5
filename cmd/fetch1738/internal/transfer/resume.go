package transfer

import (
	"context"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// Verbatim reports whether the Sink receives the bytes of the document and no
// others.
func (r *Result) Verbatim() bool {
	o := r.Op
	return !o.Output.Include && !o.Ask.Head && !o.HTTP.Compressed && o.Ask.Numbers == nil && o.Ask.Method == "" && o.HTTP.Data == nil && !r.Upload
}

// canResume reports whether the next attempt requests only the rest: the sink has the
// beginning of a document whose version can be identified.
func (t *Transfer) canResume() bool {
	return t.came.Known() && t.Sink.Count > 0 && t.Op.Archive.Path == "" // which records whole documents
}

// fetch fetches req, or, after a failure, the rest of it. A document that has changed,
// or that cannot be resumed, is fetched from the start. It returns the request that was
// made last.
func (t *Transfer) fetch(ctx context.Context, req *fetch.Request) (*fetch.Request, *fetch.Resource, error) {
	fetcher := t.ResolverFor(req.Locator)
	why, bound := "the rest cannot be requested", false
	rest, ok := req, false
	if t.canResume() {
		rest, ok = t.came.Rest(req, t.Sink.Count)
	}
	if ok {
		res, err := resume.Fetch(ctx, fetcher, rest, func() ([]byte, error) { return output.Tail(t.Sink) })
		switch {
		case err == nil && (!isPart(res) || t.came.Continues(res)):
			return rest, res, nil
		case err == nil:
			why = "the document has changed"
			res.Close()
		case !resume.Refused(err):
			return rest, nil, err
		default:
			why = err.Error()
		}
		bound = t.Sink.Base > 0 // to the beginning in the file, of the older document
	}
	if t.Sink.Count > 0 {
		if bound || !t.Sink.Rewind() {
			return nil, nil, fault.Errorf(fault.Partial, "cannot resume: %s, and part of the document has already been written", why)
		}
		t.Account.Moved.Store(0)
		t.Warn("starting over: %s", why)
	}
	t.came = resume.Edition{}
	if res, err := t.early.Take(driver.ContextTrace(ctx)); res != nil || err != nil {
		return req, res, err
	}
	res, err := resume.Fetch(ctx, fetcher, req, func() ([]byte, error) { return output.Existing(t.Sink, req.Offset) })
	return req, res, err
}

// isPart reports whether a response has bytes of the document, not an error page.
func isPart(res *fetch.Resource) bool {
	info, ok := res.Info.(*fetchhttp.Info)
	return !ok || info.StatusCode/100 == 2
}

// requestModTime requests the modification time of a document, if retries, segments or --json
// may need it.
func requestModTime(t *Transfer, req *fetch.Request) {
	if options, ok := req.Options.(*ftp.Options); ok && (t.Op.Retry.Times > 0 || t.Op.Ask.Segments > 1 || t.Op.Output.JSON) && !t.Op.Exact {
		options.ModTime = true
	}
}
