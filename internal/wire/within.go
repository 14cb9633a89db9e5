package wire

import (
	"context"
	"time"
)

// Within returns a copy of ctx bounded by the shortest of the limits. One that is not
// positive bounds nothing. When the limit is reached, the cause of the copy is a
// *[TimeoutError] with the text awaited, which [Ended] returns.
func Within(ctx context.Context, awaited string, limits ...time.Duration) (context.Context, context.CancelFunc) {
	shortest := time.Duration(0)
	for _, limit := range limits {
		if limit > 0 && (shortest == 0 || limit < shortest) {
			shortest = limit
		}
	}
	if shortest == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, shortest, &TimeoutError{Limit: shortest, Awaited: awaited, Err: context.DeadlineExceeded})
}
