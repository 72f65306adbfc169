package main

import (
	"context"
	"fmt"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// leader waits until somebody leads.
func (d *demo) leader(ctx context.Context) (term, error) { return d.leaderAfter(ctx, term{}) }

// leaderAfter waits until somebody leads in a later term.
func (d *demo) leaderAfter(ctx context.Context, old term) (term, error) {
	var found term
	err := show.Await(ctx, func() bool {
		current, ok := d.history.current()
		found = current
		return ok && current.fence > old.fence
	})
	if err != nil {
		return found, fmt.Errorf("nobody leads: %w", err)
	}
	return found, nil
}
