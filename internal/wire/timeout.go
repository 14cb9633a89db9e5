package wire

import (
	"context"
	"os"
	"strconv"
	"time"
)

// noData says what did not come before the end of a read.
const noData = "no data"

// A TimeoutError is a wait that has reached its limit. Its text has the limit, not
// the time that was measured.
type TimeoutError struct {
	Limit   time.Duration
	Awaited string // what did not happen, such as "no reply"
	Err     error  // the cause, or nil
}

func (e *TimeoutError) Error() string {
	return "timed out after " + strconv.FormatFloat(e.Limit.Seconds(), 'f', -1, 64) + "s: " + e.Awaited
}

// Unwrap returns Err.
func (e *TimeoutError) Unwrap() error { return e.Err }

// Timeout returns true, as the method of net.Error for timeouts.
func (e *TimeoutError) Timeout() bool { return true }

// Is reports whether target is [os.ErrDeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// Ended returns why ctx has ended: the *[TimeoutError] that is its cause, or else
// ctx.Err(). It returns nil if ctx has not ended.
func Ended(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if late, ok := context.Cause(ctx).(*TimeoutError); ok {
		return late
	}
	return err
}
