package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// maxRetryWait is the longest wait between two attempts.
const maxRetryWait = 10 * time.Minute

// left returns how many attempts may follow the current one.
func (r *Result) left() int { return r.Op.Retry.Times + 1 - r.Tries }

// waitToRetry reports whether an attempt that failed with err is to be repeated. It waits before it
// returns true, at least the time after. resumes says that the next attempt requests only the rest.
func waitToRetry(ctx context.Context, r *Result, err error, after time.Duration, resumes bool) bool {
	if r.left() == 0 || ctx.Err() != nil || !r.Transient(err) {
		return false
	}
	if readOnce(r) {
		r.Warn("no retry: standard input cannot be read twice")
		return false
	}
	wait, inTime := r.Wait(r.Tries-1, after)
	if !inTime {
		return false
	}
	if !resumes && !r.Sink.Rewind() || hasAppended(r) {
		r.Warn("no retry: part of the document has already been written")
		return false
	}
	r.Warn("%v; retrying in %v (retries left: %d)", err, wait, r.left()-1)
	if pace.Sleep(ctx, wait) != nil {
		return false
	}
	if !resumes {
		r.Account.Moved.Store(0)
	}
	return true
}

// mayRepeat reports whether there can be another attempt after the wait that the server
// requests. If not, its response is final.
func mayRepeat(r *Result, after time.Duration) bool {
	_, inTime := r.Wait(r.Tries-1, after)
	return r.left() > 0 && !readOnce(r) && inTime
}

// readOnce reports whether the upload cannot be read again.
func readOnce(r *Result) bool { return r.Upload && stdio.IsStdin(r.Source) }

// hasAppended reports whether the server may have appended a part of the upload to its file.
func hasAppended(r *Result) bool {
	return r.Upload && r.Op.Ask.Append && r.Account.Moved.Load() > 0 && !client.IsHTTP(r.Locator) && r.Resolver.Can(r.Locator.Scheme()).Replace
}

// Wait returns the wait after the n-th attempt, from 0, which is at least atLeast, and
// whether it ends within --retry-max-time.
func (r *Result) Wait(n int, atLeast time.Duration) (wait time.Duration, inTime bool) {
	wait = r.Op.Retry.Delay
	if wait == 0 {
		wait = min(time.Second<<min(n, 20), maxRetryWait)
	}
	wait = max(wait, min(atLeast, maxRetryWait))
	limit := r.Op.Retry.MaxTime
	return wait, limit == 0 || time.Since(r.Account.Facts().Start)+wait <= limit
}

// Transient reports whether a failure may be transient: a timeout, a reply or status
// that says so, and the failures that the options add.
func (r *Result) Transient(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	switch {
	case localerr.KindOf(err) == localerr.Read:
		return false // of a local file
	case r.Op.Retry.All:
		return true
	case !ok:
		return false
	case known.Kind == fetch.ErrTruncated && known.Code/100 == 2:
		return false // the FTP server reports success
	case known.Kind == fetch.ErrTimeout, known.Kind == fetch.ErrTruncated, known.Kind == fetch.ErrConnectionFailed, known.Kind == fetch.ErrBusy && known.Code == 0:
		return true
	case known.Kind == fetch.ErrUnreachable && known.Code != 425: // FTP: no data connection, as yet
		return r.Op.Retry.Refused
	case known.Kind == fetch.ErrUnresolved:
		return true // as in curl
	case client.IsHTTP(r.Locator), r.AskedProxy(r.Locator) != nil:
		return client.TransientStatus(known.Code)
	case entry.IsNews(r.Locator):
		return known.Code == 400 || known.Code == 503
	}
	return known.Code/100 == 4 // FTP: "Transient Negative Completion"
}

// AwaitRetry reports whether to repeat a request that is no transfer of its own and has failed for the
// n-th time, counted from 0. It waits before it returns true.
func (r *Result) AwaitRetry(ctx context.Context, n int, err error) bool {
	if n >= r.Op.Retry.Times || ctx.Err() != nil || !r.Transient(err) {
		return false
	}
	wait, inTime := r.Wait(n, 0)
	if !inTime {
		return false
	}
	r.Warn("%s; retrying in %v", stdio.InOptions(err.Error()), wait)
	return pace.Sleep(ctx, wait) == nil
}
