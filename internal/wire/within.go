package wire

import (
	"context"
	"time"
)

// Within is ctx bounded by the shortest of the limits. One that is not positive
// bounds nothing.
func Within(ctx context.Context, limits ...time.Duration) (context.Context, context.CancelFunc) {
	shortest := time.Duration(0)
	for _, limit := range limits {
		if limit > 0 && (shortest == 0 || limit < shortest) {
			shortest = limit
		}
	}
	if shortest == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, shortest)
}
