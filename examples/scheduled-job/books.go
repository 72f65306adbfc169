package main

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// books are all effects, in the order in which they were recorded.
type books struct{ claimed, forgetful, repeating []entry }

func readBooks(ctx context.Context, client *redis.Client, k keys) (b books, err error) {
	for key, entries := range map[string]*[]entry{k.outbox(): &b.claimed, k.forgetful(): &b.forgetful, k.repeating(): &b.repeating} {
		if *entries, err = readOutbox(ctx, client, key); err != nil {
			return b, err
		}
	}
	return b, nil
}

func readOutbox(ctx context.Context, client *redis.Client, key string) ([]entry, error) {
	texts, err := client.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(texts))
	for i, text := range texts {
		if entries[i], err = parseEntry(text); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// of are the entries that bear a fencing token.
func of(fence int64, entries []entry) (mine []entry) {
	for _, e := range entries {
		if e.fence == fence {
			mine = append(mine, e)
		}
	}
	return mine
}

// tally says how often slots were run.
type tally struct{ once, more, never int }

// exact reports whether each slot was run exactly once.
func (t tally) exact() bool { return t.more == 0 && t.never == 0 && t.once > 0 }

// count tallies the slots from 0 to last.
func count(entries []entry, last int64) (t tally) {
	runs := make(map[int64]int)
	for _, e := range entries {
		runs[e.slot]++
	}
	for slot := range last + 1 {
		switch runs[slot] {
		case 0:
			t.never++
		case 1:
			t.once++
		default:
			t.more++
		}
	}
	return t
}
