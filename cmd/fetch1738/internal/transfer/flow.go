package transfer

import (
	"context"
	"io"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/speed"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// A flow is the pace of one attempt.
type flow struct {
	pace *pace.Pace      // nil for any
	ends context.Context // ends a wait for it
}

// incoming is a body as it is to be read: at the pace that is wanted, and shown to
// who watches. Without either it is the body itself.
func (t *Transfer) incoming(body io.Reader) io.Reader { return tapped(t, paced(t, body), false) }

// outgoing is the same for what is uploaded.
func (t *Transfer) outgoing(body io.Reader) io.Reader { return tapped(t, paced(t, body), true) }

func tapped(t *Transfer, body io.Reader, upload bool) io.Reader {
	if t.watch.Data == nil {
		return body
	}
	return speed.Tapped(body, func(octets []byte) { t.watch.Data(upload, octets) })
}

func paced(t *Transfer, body io.Reader) io.Reader {
	if t.flow.pace == nil {
		return body
	}
	return speed.Paced(t.flow.ends, body, t.flow.pace, t.Locator)
}

// outgoingData lets posted data, which can be read again, flow as an upload.
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

// limit is ctx with the limits of time and speed of one attempt. Call end, which
// gives the attempt's error, when that is over.
func (t *Transfer) limit(ctx context.Context) (_ context.Context, end func(error) error) {
	cancel, stop := func() {}, func() {}
	if t.Op.Limits.Time > 0 {
		ctx, cancel = context.WithTimeout(ctx, t.Op.Limits.Time)
	}
	if slow := speed.Tolerated(&t.Op.Limits); slow != nil && t.Locator.Scheme() != "telnet" {
		ctx, stop = slow.Guard(ctx, t.Account.Octets, func() bool { return underWay(t) })
	}
	t.flow = flow{pace.New(t.Op.Limits.Rate), ctx}
	return ctx, func(err error) error {
		err = blameSlowness(ctx, t, err)
		stop()
		cancel()
		return err
	}
}

// blameSlowness is err, or, if that comes from a guard, what the guard found.
func blameSlowness(ctx context.Context, t *Transfer, err error) error {
	if slow, ok := context.Cause(ctx).(*speed.Slowness); ok && err != nil {
		return &fetch.Error{Op: fetch.OpTransfer, URL: t.Locator.Redacted(), Kind: fetch.ErrTimeout, Err: slow}
	}
	return err
}

// underWay reports whether there is anything to be slow: connecting has a limit of
// its own, and people may take their time.
func underWay(t *Transfer) bool {
	facts := t.Account.Facts()
	return !t.Asking() && (!facts.Connected.IsZero() || t.Account.Moved.Load() > 0)
}
