package main

import "context"

// job is a way to run the slots of the schedule, as a term sees it: a cursor and what
// to do with each slot.
type job interface {
	// next is the slot to go on with, as far as the job knows.
	next() int64
	// run runs that slot and moves on. After an error the job still is where it was.
	run(ctx context.Context) error
}

// claimed is the job done right: it goes on where the store says that the last leader
// has stopped, and claims each slot.
type claimed struct {
	claims   claims
	fence    int64
	identity string
	cursor   int64
}

// startClaimed asks the store where to go on. What was missed while nobody led is then
// caught up on, in order.
func startClaimed(ctx context.Context, c claims, fence int64, identity string) (*claimed, error) {
	next, err := c.next(ctx)
	return &claimed{claims: c, fence: fence, identity: identity, cursor: next}, err
}

func (c *claimed) next() int64 { return c.cursor }

func (c *claimed) run(ctx context.Context) error {
	effect := entry{slot: c.cursor, fence: c.fence, identity: c.identity}
	if err := c.claims.run(ctx, c.fence, c.cursor, effect.String()); err != nil {
		return err
	}
	c.cursor++
	return nil
}
