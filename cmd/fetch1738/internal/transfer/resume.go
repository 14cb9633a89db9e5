package transfer

import (
	"context"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/resume"
)

// verbatim reports whether the sink gets the octets of the document and no
// others.
func (t *Transfer) verbatim() bool {
	o := t.Op
	return !o.Output.Include && !o.Ask.Head && !o.HTTP.Compressed && o.Ask.Numbers == nil && o.Ask.Method == "" && o.HTTP.Data == nil && !t.Upload
}

// goesOn reports whether the next attempt asks for the rest only: what is in the
// sink is the beginning of a document that can be told from others.
func (t *Transfer) goesOn() bool { return t.came.Known() && t.Sink.Count > 0 }

// fetch fetches req, or, after a failure, the rest of it. A document that has
// changed meanwhile, or that the server cannot go on with, is fetched anew. It
// gives the request that was made in the end.
func (t *Transfer) fetch(ctx context.Context, req *fetch.Request) (*fetch.Request, *fetch.Resource, error) {
	fetcher := t.ResolverFor(req.Locator)
	why, bound := "no part of it can be asked for", false
	if rest, ok := t.came.Rest(req, t.Sink.Count); t.goesOn() && ok {
		res, err := fetcher.Fetch(ctx, rest)
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
		bound = t.Sink.Base > 0 // to what stood in the file before, of an older document
	}
	if t.Sink.Count > 0 {
		if bound || !t.Sink.Rewind() {
			return nil, nil, fault.Errorf(fault.Partial, "cannot go on: %s, and part of it is in the output already", why)
		}
		t.Account.Moved.Store(0)
		t.Warn("starting over: %s", why)
	}
	t.came = resume.Edition{}
	res, err := fetcher.Fetch(ctx, req)
	return req, res, err
}

// isPart reports whether an answer holds octets of the document, not an error.
func isPart(res *fetch.Resource) bool {
	info, ok := res.Info.(*fetchhttp.Info)
	return !ok || info.StatusCode/100 == 2
}

// datable has the server tell when a document was modified, if that may be of
// use after a failure or for segments.
func datable(t *Transfer, req *fetch.Request) {
	if options, ok := req.Options.(*ftp.Options); ok && (t.Op.Retry.Times > 0 || t.Op.Ask.Segments > 1) && !t.Op.Exact {
		options.ModTime = true
	}
}
