package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
)

//go:embed run_slot.lua
var runSlotLua string

var runSlot = redis.NewScript(runSlotLua)

// slots is what the job writes to. One atomic step claims a slot and records its effect.
//
// Two steps would not do. A leader that claims and is killed before it acts leaves a
// slot that nobody runs: at most once. A leader that acts and is killed before it claims
// has its slot run again by the next one: at least once. So keep the claim where the
// effect is; in SQL, in one transaction that begins as in examples/fenced-writes. An
// effect outside any store, like a mail, goes through an outbox as here: what reads the
// outbox passes the slot on as an idempotency key.
type slots struct {
	client *redis.Client
	name   string
}

// run runs a slot, unless that has been done. The error matches leader.ErrDeposed if a
// later leader has run one. After any other error the slot may have been run or not; it
// is safe to run it again.
func (s slots) run(ctx context.Context, token int64, slot time.Time, effect string) error {
	keys := []string{s.key("latest"), s.key("outbox")}
	reply, err := runSlot.Run(ctx, s.client, keys, token, slot.UnixMilli(), effect).Text()
	if err == nil && reply == "stale" {
		return fmt.Errorf("slot %v, fencing token %d: %w", slot, token, leader.ErrDeposed)
	}
	return err // none after "run" and "taken": the slot has been run
}

// latest is the latest slot that was run: slots are run in order, so none before it is
// left. A schedule that has never been run begins now.
func (s slots) latest(ctx context.Context) (time.Time, error) {
	slot, err := s.client.HGet(ctx, s.key("latest"), "slot").Int64()
	if errors.Is(err, redis.Nil) {
		return time.Now(), nil
	}
	return time.UnixMilli(slot), err
}

// key names what is kept in Redis. The braces put all of it into one slot of a Redis
// Cluster, as a script needs.
func (s slots) key(what string) string { return "scheduled-job:{" + s.name + "}:" + what }
