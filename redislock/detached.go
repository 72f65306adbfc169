package redislock

import (
	"context"
	"time"
)

// Limits of a call that does not depend on the caller's context, because that has
// ended. Within them the call gets a third of the ttl: if it takes longer, there is
// soon nothing left to delete.
const (
	minDetached = 250 * time.Millisecond
	maxDetached = 2 * time.Second
)

// detach returns a context with the values of ctx, but without its cancellation and its
// deadline.
func detach(ctx context.Context, ttl time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), max(minDetached, min(ttl/3, maxDetached)))
}

// hasEnded returns the reason why ctx has ended, and nil if it has not. A connection
// that heeds the deadline may notice it before the context does.
func hasEnded(ctx context.Context) error {
	deadline, ok := ctx.Deadline()
	if err := ctx.Err(); err != nil || !ok || time.Now().Before(deadline) {
		return err
	}
	return context.DeadlineExceeded
}
