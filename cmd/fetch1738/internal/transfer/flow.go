package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/locator"
)

// A flow is what the bytes of one attempt pass through: its rate limit, and the hook of the Watch.
type flow struct {
	pace *pace.Pace      // nil: no limit
	ends context.Context // ends a wait
	data func(upload bool, octets []byte)
}

// incoming returns a body of l with the rate limit and the hook for its bytes. Without
// either it is the body itself.
func (f flow) incoming(l locator.Locator, body io.Reader) io.Reader {
	return f.tapped(f.paced(l, body), false)
}

// outgoing is the same for uploads.
func (f flow) outgoing(l locator.Locator, body io.Reader) io.Reader {
	return f.tapped(f.paced(l, body), true)
}

// tapped returns body, whose bytes the hook sees if there is one.
func (f flow) tapped(body io.Reader, upload bool) io.Reader {
	if f.data == nil {
		return body
	}
	return tap{body, f.data, upload}
}

// paced returns body with the rate limit, if there is one. If the attempt ends, the reader fails with
// an error for l.
func (f flow) paced(l locator.Locator, body io.Reader) io.Reader {
	if f.pace == nil {
		return body
	}
	return pacedReader{body, f, l}
}

// seekable applies outgoing to posted data, which stays seekable.
func (f flow) seekable(req *fetch.Request) {
	options, ok := req.Options.(*fetchhttp.Options)
	if !ok || options.Body == nil {
		return
	}
	if body, ok := options.Body.(io.ReadSeeker); ok {
		options.Body = struct {
			io.Reader
			io.Seeker
		}{f.outgoing(req.Locator, body), body}
	}
}

type pacedReader struct {
	r       io.Reader
	flow    flow
	locator locator.Locator
}

func (r pacedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(r.flow.pace.Portion(b))
	if late := r.flow.pace.Wait(r.flow.ends, int64(n)); late != nil {
		err = driver.Fail(fetch.OpTransfer, r.locator, fetch.KindOf(late), late)
	}
	return n, err
}

// tap shows the bytes that are read. It hides an io.WriterTo, so that all bytes pass through the
// program.
type tap struct {
	io.Reader
	show   func(upload bool, octets []byte)
	upload bool
}

func (t tap) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.show(t.upload, p[:n])
	}
	return n, err
}

// limit returns ctx with the limits of time and speed of one attempt. The caller must
// call end, which returns the error of the attempt, when the attempt has ended.
func limit(ctx context.Context, r *Result) (_ context.Context, end func(error) error) {
	cancel, stop := func() {}, func() {}
	whole := ctx
	if r.Op.Limits.Time > 0 {
		ctx, cancel = context.WithTimeout(ctx, r.Op.Limits.Time)
	}
	if slow := tolerated(&r.Op.Limits); slow != nil && r.Locator.Scheme() != "telnet" {
		ctx, stop = slow.watch(ctx, r.Account.Octets, r.underWay)
	}
	return ctx, func(err error) error {
		err = blameLimit(whole, ctx, r, err)
		stop()
		cancel()
		return err
	}
}

// blameLimit returns err, or, if one of the limits has ended ctx, an error that names it.
func blameLimit(whole, ctx context.Context, r *Result, err error) error {
	if slow, ok := context.Cause(ctx).(*slowness); ok && err != nil {
		return &fetch.Error{Op: fetch.OpTransfer, URL: r.Locator.Redacted(), Kind: fetch.ErrTimeout, Err: slow}
	}
	if late, ok := errors.AsType[*fetch.Error](err); ok && late.Kind == fetch.ErrTimeout && whole.Err() == nil && ctx.Err() == context.DeadlineExceeded {
		late.Err = fmt.Errorf("timed out after %vs (--max-time)", r.Op.Limits.Time.Seconds())
		if late.Op == fetch.OpAccept {
			late.Op = fetch.OpTransfer // OpAccept has the exit code of the limit for accepting
		}
	}
	return err
}
