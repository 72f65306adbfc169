package main

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
)

// withControl is worker.lead with the same job done wrong beside it: the leader keeps
// the latest slot in its memory. That looks right, since only one replica leads at a
// time. But the memory dies with the leader, and the next one has not seen what it did.
func withControl() func(worker, context.Context, leader.Term) {
	remembered := time.Now() // the latest slot that this process knows of
	return func(w worker, ctx context.Context, term leader.Term) {
		record := func(outbox string, slot time.Time) error {
			values := []any{"slot", slot.UnixMilli(), "fence", term.FenceToken()}
			return w.slots.client.XAdd(ctx, &redis.XAddArgs{Stream: w.slots.key(outbox), Values: values}).Err()
		}
		var all sync.WaitGroup
		all.Go(func() { // misses the slots that were due while nobody led
			_ = w.each(ctx, time.Now(), func(_ context.Context, slot time.Time) error {
				return record("control:forgetful", slot)
			})
		})
		all.Go(func() { // runs again what others have run
			_ = w.each(ctx, remembered, func(_ context.Context, slot time.Time) error {
				remembered = slot
				return record("control:repeating", slot)
			})
		})
		w.lead(ctx, term)
		all.Wait()
	}
}
