package transfer

import (
	"context"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/segments"
)

// inSegments fetches a document over several connections; res is the response to req.
// It reports false if that is not requested or not possible.
func inSegments(ctx context.Context, t *Transfer, req *fetch.Request, res *fetch.Resource) (done bool, err error) {
	if t.Op.Ask.Segments < 2 || t.Op.Archive.Path != "" { // which records whole documents
		return false, nil
	}
	job := segments.Job{
		Connections: t.Op.Ask.Segments, Request: req, Fetcher: t.ResolverFor(req.Locator),
		Incoming: t.incoming, Warn: t.Warn, Remark: t.watch.Remark,
		Missing: func(octets int64) {
			t.Heads.Stop()
			expect(t, req, octets)
		},
	}
	if !t.Verbatim() || t.watch.Data != nil || t.Sink.Path == "" || t.Sink.File() || !job.Worth(res) {
		return false, nil
	}
	if done, err = output.TakeSegments(ctx, t.Sink, job, res); done && err == nil {
		t.Account.Replied(226) // of FTP; the sessions have received other replies since
	}
	return done, err
}
