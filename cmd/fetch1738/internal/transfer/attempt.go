package transfer

import (
	"io"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// An attempt is one try of a transfer. What it does is recorded in the Result.
type attempt struct {
	*Result
	given
	flow

	input     io.Reader // what is sent in a session; if nil, the Console's input
	picked    string    // name of the link that --number has selected
	newest    bool      // only the newest articles of the group are listed
	submitted bool      // a form was filled in

	carried
}

// given is what every attempt of a transfer gets.
type given struct {
	hosted
	place   *output.Place
	watch   *Watch
	console Console       // may be nil
	in      io.Reader     // the upload "-"
	early   *client.Early // the document, requested before its turn; may be nil
	etag    string        // of --etag-compare, or ""
	more    func() bool   // reports whether a transfer with the same server follows
}

// carried is what an attempt hands on: to the next one, or to the end of the transfer.
type carried struct {
	came       resume.Edition  // version of the document whose beginning is in the sink
	document   *entry.Document // what --json says about it; nil for nothing
	retryAfter time.Duration   // as the server requests
	crowded    bool            // the server has refused the connection because of others
}

// incoming returns a body with the rate limit and the hook for its bytes.
func (a *attempt) incoming(body io.Reader) io.Reader { return a.flow.incoming(a.Locator, body) }

// outgoing is the same for uploads.
func (a *attempt) outgoing(body io.Reader) io.Reader { return a.flow.outgoing(a.Locator, body) }

// canResume reports whether the next attempt requests only the rest: the sink has the
// beginning of a document whose version can be identified.
func (a *attempt) canResume() bool {
	return a.came.Known() && a.Sink.Count > 0 && a.Op.Archive.Path == "" // which records whole documents
}
