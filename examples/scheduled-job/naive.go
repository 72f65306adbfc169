package main

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// naive is the control: only the leader runs it, and it keeps the last slot in its
// memory. It looks right, since there is one leader at a time. But the memory dies with
// the leader, and the others have not seen what it did.
type naive struct {
	client   *redis.Client
	outbox   string // key
	identity string
	last     int64
}

func (n *naive) next() int64 { return n.last + 1 }

// run records the effect of the next slot: with no claim that could tell that somebody
// else did, or does.
func (n *naive) run(ctx context.Context) error {
	effect := entry{slot: n.next(), identity: n.identity}
	if err := n.client.RPush(ctx, n.outbox, effect.String()).Err(); err != nil {
		return err
	}
	n.last++
	return nil
}

// memory is what a replica remembers from term to term.
type memory struct {
	// forgetful begins each term with the slot that is due just then. It misses those
	// that were due while nobody led.
	forgetful naive
	// repeating begins each term after the last slot that this replica knows to have
	// been run. It runs again what others ran.
	repeating naive
}

// newMemory is the memory of a replica that has just started: all before now is none of
// its business.
func newMemory(client *redis.Client, k keys, identity string, latest int64) *memory {
	return &memory{
		forgetful: naive{client, k.forgetful(), identity, latest},
		repeating: naive{client, k.repeating(), identity, latest},
	}
}

// begin begins a term.
func (m *memory) begin(latest int64) { m.forgetful.last = max(m.forgetful.last, latest-1) }
