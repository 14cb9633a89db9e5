package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/speed"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// A flow is the rate limit of one attempt.
type flow struct {
	pace *pace.Pace      // nil: no limit
	ends context.Context // ends a wait
}

// incoming returns a body with the rate limit and the hook for its bytes. Without
// either it is the body itself.
func (t *Transfer) incoming(body io.Reader) io.Reader { return tapped(t, paced(t, body), false) }

// outgoing is the same for uploads.
func (t *Transfer) outgoing(body io.Reader) io.Reader { return tapped(t, paced(t, body), true) }

// tapped returns body, whose bytes the Watch sees if it has a hook for them.
func tapped(t *Transfer, body io.Reader, upload bool) io.Reader {
	if t.watch.Data == nil {
		return body
	}
	return speed.Tapped(body, func(octets []byte) { t.watch.Data(upload, octets) })
}

// paced returns body with the rate limit of the attempt, if there is one.
func paced(t *Transfer, body io.Reader) io.Reader {
	if t.flow.pace == nil {
		return body
	}
	return speed.Paced(t.flow.ends, body, t.flow.pace, t.Locator)
}

// outgoingData applies outgoing to posted data, which stays seekable.
func outgoingData(t *Transfer, req *fetch.Request) {
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

// limit returns ctx with the limits of time and speed of one attempt. The caller must
// call end, which returns the error of the attempt, when the attempt has ended.
func (t *Transfer) limit(ctx context.Context) (_ context.Context, end func(error) error) {
	cancel, stop := func() {}, func() {}
	whole := ctx
	if t.Op.Limits.Time > 0 {
		ctx, cancel = context.WithTimeout(ctx, t.Op.Limits.Time)
	}
	if slow := speed.Tolerated(&t.Op.Limits); slow != nil && t.Locator.Scheme() != "telnet" {
		ctx, stop = slow.Guard(ctx, t.Account.Octets, func() bool { return underWay(t) })
	}
	t.flow = flow{pace.New(t.Op.Limits.Rate), ctx}
	return ctx, func(err error) error {
		err = blameLimit(whole, ctx, t, err)
		stop()
		cancel()
		return err
	}
}

// blameLimit returns err, or, if one of the limits has ended ctx, an error that names it.
func blameLimit(whole, ctx context.Context, t *Transfer, err error) error {
	if slow, ok := context.Cause(ctx).(*speed.Slowness); ok && err != nil {
		return &fetch.Error{Op: fetch.OpTransfer, URL: t.Locator.Redacted(), Kind: fetch.ErrTimeout, Err: slow}
	}
	if late, ok := errors.AsType[*fetch.Error](err); ok && late.Kind == fetch.ErrTimeout && whole.Err() == nil && ctx.Err() == context.DeadlineExceeded {
		late.Err = fmt.Errorf("timed out after %vs (--max-time)", t.Op.Limits.Time.Seconds())
		if late.Op == fetch.OpAccept {
			late.Op = fetch.OpTransfer // OpAccept has the exit code of the limit for accepting
		}
	}
	return err
}

// underWay reports whether the speed limit applies. It does not during connecting,
// which has its own limit, and during prompts.
func underWay(t *Transfer) bool {
	facts := t.Account.Facts()
	return !t.Asking() && (!facts.Connected.IsZero() || t.Account.Moved.Load() > 0)
}
