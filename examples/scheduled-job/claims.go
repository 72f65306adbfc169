package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// errDeposed says that a later leader has run a slot.
var errDeposed = errors.New("fence token is too low")

//go:embed run_slot.lua
var runSlotLua string

var runSlot = redis.NewScript(runSlotLua)

// claims is where slots are claimed. A slot counts as run when its effect is recorded,
// and the effect is recorded in the same atomic step as the claim. A claim by itself
// would make the job run at most once: a leader that claims, and is killed before it
// acts, leaves a slot that nobody will run. The other way round, to act and then to
// claim, is at least once: a leader that is killed in between has its slot run again by
// the next. Only where both are one step at one place is it exactly once.
//
// So the claim belongs where the effect is. Here both are in Redis. In SQL they are a
// transaction:
//
//	BEGIN;
//	UPDATE fences SET token = $1 WHERE name = 'report' AND token <= $1;  -- no row: ROLLBACK, we are deposed
//	INSERT INTO slots (slot) VALUES ($2) ON CONFLICT DO NOTHING;         -- no row: ROLLBACK, the slot was run
//	INSERT INTO outbox (slot, message) VALUES ($2, $3);                  -- the effect
//	COMMIT;
//
// An effect that is in no store, such as a mail, goes into an outbox as it does here,
// and whoever sends from there passes the number of the slot on as an idempotency key.
//
// The claims last as long as the store does. In a Redis that can lose acknowledged
// writes they can be lost, together with the effects that they stand for. Old slots may
// be deleted, except for the latest: it says where to go on.
type claims struct {
	client *redis.Client
	keys   keys
}

// run runs a slot, unless that has been done. The error matches errDeposed if the term
// is over.
func (c claims) run(ctx context.Context, fence, slot int64, effect string) error {
	reply, err := runSlot.Run(ctx, c.client, []string{c.keys.fence(), c.keys.slots(), c.keys.outbox()}, fence, slot, effect).Text()
	switch {
	case err != nil:
		return err // with an unknown outcome: run again, which is harmless
	case reply == "stale":
		return fmt.Errorf("%w: slot %d, token %d", errDeposed, slot, fence)
	default: // "run" or "taken": what matters is that it has been run
		return nil
	}
}

// next is the slot to go on with: the one after the latest that was run. Slots are run
// in order, so none before it is left.
func (c claims) next(ctx context.Context) (int64, error) {
	latest, err := c.client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: c.keys.slots(), Start: 0, Stop: 0, Rev: true}).Result()
	if err != nil || len(latest) == 0 {
		return 0, err
	}
	slot, err := strconv.ParseInt(latest[0], 10, 64)
	return slot + 1, err
}

// highestFence is the highest token that was accepted, 0 if none: what
// leader.Config.FenceFloor asks for.
func (c claims) highestFence(ctx context.Context) (int64, error) {
	highest, err := c.client.Get(ctx, c.keys.fence()).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return highest, err
}
