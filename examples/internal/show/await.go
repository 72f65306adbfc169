package show

import (
	"context"
	"fmt"
	"time"
)

const (
	awaitLimit = 15 * time.Second     // for anything that is waited for
	pollPeriod = 2 * time.Millisecond // short, as the gap in which to freeze a leader is
)

// Await waits until a condition holds, for 15 s at the most.
func Await(ctx context.Context, condition func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, awaitLimit, fmt.Errorf("waited for %v", awaitLimit))
	defer cancel()
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Pause lets time pass. It returns the cause if ctx ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
