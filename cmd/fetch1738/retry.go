package main

import (
	"context"
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// maxRetryWait bounds the wait between two tries.
const maxRetryWait = 10 * time.Minute

// again reports whether a failed attempt is to be followed by another, after
// the wait that comes before it.
func (t *transfer) again(ctx context.Context, try int, err error) bool {
	if t.left == 0 || ctx.Err() != nil || !t.transient(err) {
		return false
	}
	if t.readOnce() {
		t.warn("not trying again: standard input cannot be read twice")
		return false
	}
	wait, inTime := t.retryWait(try)
	if t.retryAfter = 0; !inTime {
		return false
	}
	if !t.goesOn() && !t.sink.rewind() {
		t.warn("not trying again: part of the document is in the output already")
		return false
	}
	t.warn("%v; trying again in %v, %d more after that", err, wait, t.left-1)
	if pace.Sleep(ctx, wait) != nil {
		return false
	}
	if !t.goesOn() {
		t.account.moved.Store(0)
	}
	return true
}

// mayRepeat reports whether the server can be asked again after the wait that it
// wants. Else its answer is the last one, to be shown.
func (t *transfer) mayRepeat(after time.Duration) bool {
	t.retryAfter = after
	_, inTime := t.retryWait(t.tries - 1)
	t.retryAfter = 0
	return t.left > 0 && !t.readOnce() && inTime
}

// readOnce reports whether what is uploaded cannot be read again.
func (t *transfer) readOnce() bool { return t.upload && isStdin(t.source) }

// retryWait is the wait after the n-th try, from 0, and whether it ends before
// --retry-max-time does.
func (t *transfer) retryWait(n int) (wait time.Duration, inTime bool) {
	wait = t.op.retryDelay
	if wait == 0 {
		wait = min(time.Second<<min(n, 20), maxRetryWait)
	}
	wait = max(wait, min(t.retryAfter, maxRetryWait))
	limit := t.op.retryMaxTime
	return wait, limit == 0 || time.Since(t.account.start)+wait <= limit
}

// transient reports whether a failure may pass: a timeout, a reply or status
// that says so, and what the options add.
func (t *transfer) transient(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	coded, _ := errors.AsType[*codedError](err)
	switch {
	case coded != nil && coded.code == exitRead:
		return false // a file here that cannot be read
	case t.op.retryAll:
		return true
	case !ok:
		return false
	case known.Kind == fetch.ErrTruncated && known.Code/100 == 2:
		return false // that is all there is, says an FTP server
	case known.Kind == fetch.ErrTimeout, known.Kind == fetch.ErrTruncated, known.Kind == fetch.ErrConnectionFailed:
		return true
	case known.Kind == fetch.ErrUnreachable && known.Code != 425: // FTP: no data connection, as yet
		return t.op.retryRefused
	case known.Kind == fetch.ErrUnresolved:
		return true // as curl has it
	case isHTTP(t.locator), t.askedProxy(t.locator) != nil:
		return transientStatus(known.Code)
	case isNews(t.locator):
		return known.Code == 400 || known.Code == 503
	}
	return known.Code/100 == 4 // FTP: "Transient Negative Completion"
}
