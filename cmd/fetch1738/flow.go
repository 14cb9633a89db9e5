package main

import (
	"context"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// traced is a body whose octets are shown as they are read. It hides that the
// body could go to a file without passing through the program.
type traced struct {
	io.Reader
	show func([]byte)
}

func (t traced) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.show(p[:n])
	}
	return n, err
}

// incoming is a body as it is to be read: at the pace of --limit-rate and shown by
// --trace. Without them it is the body itself.
func (t *transfer) incoming(body io.Reader) io.Reader { return t.traced(t.paced(body), receivedData) }

// outgoing is the same for what is uploaded.
func (t *transfer) outgoing(body io.Reader) io.Reader { return t.traced(t.paced(body), sentData) }

func (t *transfer) traced(body io.Reader, heading string) io.Reader {
	if t.narrator == nil || t.narrator.form == traceLines {
		return body
	}
	return traced{body, func(octets []byte) { t.narrator.dump(heading, octets) }}
}

func (t *transfer) paced(body io.Reader) io.Reader {
	if t.pace == nil {
		return body
	}
	return pacedReader{body, t.pace, t.paceEnds, t}
}

// A pacedReader reads at the pace of --limit-rate.
type pacedReader struct {
	r    io.Reader
	pace *pace.Pace
	ctx  context.Context // ends a wait
	t    *transfer
}

func (r pacedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(r.pace.Portion(b))
	if late := r.pace.Wait(r.ctx, int64(n)); late != nil {
		err = fetch.Fail(fetch.OpTransfer, r.t.locator, fetch.KindOf(late), late)
	}
	return n, err
}

// outgoingData lets the data of -d, which can be read again, flow as an upload.
func (t *transfer) outgoingData(req *fetch.Request) {
	options, ok := req.Options.(*fetchhttp.Options)
	if !ok || options.Body == nil {
		return
	}
	if body, ok := options.Body.(io.ReadSeeker); ok {
		options.Body = struct {
			io.Reader
			io.Seeker
		}{t.outgoing(body), body}
	}
}

// limit is ctx with the limits of time and speed of one attempt. Call end, which
// gives the attempt's error, when that is over.
func (t *transfer) limit(ctx context.Context) (_ context.Context, end func(error) error) {
	cancel, stop := func() {}, func() {}
	if t.op.maxTime > 0 {
		ctx, cancel = context.WithTimeout(ctx, t.op.maxTime)
	}
	if slow := t.op.tolerated(); slow != nil && t.locator.Scheme() != "telnet" {
		ctx, stop = slow.guard(ctx, t.account.octets, t.underWay)
	}
	t.pace, t.paceEnds = pace.New(t.op.limitRate), ctx
	return ctx, func(err error) error {
		err = t.blameSlowness(ctx, err)
		stop()
		cancel()
		return err
	}
}
