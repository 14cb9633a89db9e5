package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// maxRetryWait bounds the wait between two tries.
const maxRetryWait = 10 * time.Minute

// again reports whether a failed attempt is to be followed by another, after
// the wait that comes before it.
func again(ctx context.Context, t *Transfer, try int, err error) bool {
	if t.left == 0 || ctx.Err() != nil || !t.Transient(err) {
		return false
	}
	if readOnce(t) {
		t.Warn("not trying again: standard input cannot be read twice")
		return false
	}
	wait, inTime := t.Wait(try, t.retryAfter)
	if t.retryAfter = 0; !inTime {
		return false
	}
	if !t.goesOn() && !t.Sink.Rewind() {
		t.Warn("not trying again: part of the document is in the output already")
		return false
	}
	t.Warn("%v; trying again in %v, %d more after that", err, wait, t.left-1)
	if pace.Sleep(ctx, wait) != nil {
		return false
	}
	if !t.goesOn() {
		t.Account.Moved.Store(0)
	}
	return true
}

// mayRepeat reports whether the server can be asked again after the wait that it
// wants. Else its answer is the last one, to be shown.
func mayRepeat(t *Transfer, after time.Duration) bool {
	_, inTime := t.Wait(t.Tries-1, after)
	return t.left > 0 && !readOnce(t) && inTime
}

// readOnce reports whether what is uploaded cannot be read again.
func readOnce(t *Transfer) bool { return t.Upload && stdio.IsStdin(t.Source) }

// Wait is the wait after the n-th try, from 0, of at least atLeast, and whether it
// ends before there is to be no more trying.
func (r *Result) Wait(n int, atLeast time.Duration) (wait time.Duration, inTime bool) {
	wait = r.Op.Retry.Delay
	if wait == 0 {
		wait = min(time.Second<<min(n, 20), maxRetryWait)
	}
	wait = max(wait, min(atLeast, maxRetryWait))
	limit := r.Op.Retry.MaxTime
	return wait, limit == 0 || time.Since(r.Account.Facts().Start)+wait <= limit
}

// Transient reports whether a failure may pass: a timeout, a reply or status
// that says so, and what the options add.
func (r *Result) Transient(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	switch {
	case fault.KindOf(err) == fault.Read:
		return false // a file here that cannot be read
	case r.Op.Retry.All:
		return true
	case !ok:
		return false
	case known.Kind == fetch.ErrTruncated && known.Code/100 == 2:
		return false // that is all there is, says an FTP server
	case known.Kind == fetch.ErrTimeout, known.Kind == fetch.ErrTruncated, known.Kind == fetch.ErrConnectionFailed:
		return true
	case known.Kind == fetch.ErrUnreachable && known.Code != 425: // FTP: no data connection, as yet
		return r.Op.Retry.Refused
	case known.Kind == fetch.ErrUnresolved:
		return true // as curl has it
	case client.IsHTTP(r.Locator), r.AskedProxy(r.Locator) != nil:
		return transientStatus(known.Code)
	case client.IsNews(r.Locator):
		return known.Code == 400 || known.Code == 503
	}
	return known.Code/100 == 4 // FTP: "Transient Negative Completion"
}
