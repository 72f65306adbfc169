package redislock

import (
	"context"
	"time"
)

// Bounds of a call that is detached from the caller's context, because that has ended:
// a third of the ttl, after which there is soon nothing left to delete, within these
// limits.
const (
	minDetached = 250 * time.Millisecond
	maxDetached = 2 * time.Second
)

// detach keeps ctx's values, but neither its end nor its deadline.
func detach(ctx context.Context, ttl time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), max(minDetached, min(ttl/3, maxDetached)))
}

// hasEnded is why ctx has ended, nil if it has not. A connection that heeds a deadline
// may notice it before the context does.
func hasEnded(ctx context.Context) error {
	deadline, ok := ctx.Deadline()
	if err := ctx.Err(); err != nil || !ok || time.Now().Before(deadline) {
		return err
	}
	return context.DeadlineExceeded
}
