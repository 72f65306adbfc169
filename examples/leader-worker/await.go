package main

import (
	"context"
	"fmt"
	"time"
)

const (
	awaitLimit = 15 * time.Second     // for anything that is waited for
	pollPeriod = 2 * time.Millisecond // short, as the gap in which to freeze the leader is
)

// leader waits until somebody leads.
func (d *demo) leader(ctx context.Context) (term, error) { return d.leaderAfter(ctx, term{}) }

// leaderAfter waits until somebody leads in a later term.
func (d *demo) leaderAfter(ctx context.Context, old term) (term, error) {
	var found term
	err := await(ctx, func() bool {
		current, ok := d.history.current()
		found = current
		return ok && current.fence > old.fence
	})
	if err != nil {
		return found, fmt.Errorf("nobody leads: %w", err)
	}
	return found, nil
}

// await waits until a condition holds.
func await(ctx context.Context, condition func() bool) error {
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
