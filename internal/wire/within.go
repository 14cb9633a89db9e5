package wire

import (
	"context"
	"time"
)

// Within returns ctx limited to the shortest of limits. A limit that is not positive is ignored.
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
