package main

import (
	"context"
	"fmt"
	"time"
)

const footprintTitle = "Memory and goroutines"

const footprintText = `%d electors in one process, two for each name, so that half of them lead; at %v. They share what can be shared: one client and its
connections, one locker, one clientset. Heap after collections, stacks and goroutines, less what there was before, by elector, so shares of the
client's own memory are in it; for client-go the Lease objects of the fake clientset as well. The goroutine that calls the elector, and the one in which the leader's
work waits, count. bsm/redislock and redsync have no electors.`

func takeFootprint(ctx context.Context, b *bench) (section, error) {
	t := table{columns: []string{"", "heap KiB", "stack KiB", "KiB together", "goroutines"}}
	results := b.crowds(ctx)
	for _, r := range results {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		t.add(r.name, number(median(r.heap)), number(median(r.stack)), number(median(r.together)), number(median(r.goroutines)))
	}
	text := fmt.Sprintf(footprintText, b.plan.electors, kubernetes)
	return section{title: footprintTitle, text: text, tables: []captioned{{table: t}}}, ctx.Err()
}

// crowds is what the electors of one contender need, one value for each round; memory
// in KiB.
type crowds struct {
	name                              string
	open                              func(addr string, t timings) (*crowd, error)
	heap, stack, together, goroutines []float64
	err                               error
}

func (b *bench) crowds(ctx context.Context) []*crowds {
	results := []*crowds{
		{name: electorContender().name, open: electorCrowd},
		{name: rueidisContender().name, open: rueidisCrowd},
		{name: clientGoContender().name, open: clientGoCrowd},
	}
	for range b.plan.rounds {
		for _, r := range shuffled(results) {
			if r.err == nil && ctx.Err() == nil {
				r.err = b.crowdRound(ctx, r)
			}
		}
	}
	return results
}

func (b *bench) crowdRound(ctx context.Context, r *crowds) error {
	before := takeStock()
	c, err := r.open(b.server.addr, kubernetes)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.start(ctx, b.freshName("crowd"), b.plan.electors); err != nil {
		return err
	}
	if err := c.await(ctx, b.plan.electors/2); err != nil {
		return err
	}
	const settling = 100 * time.Millisecond // the followers have had their first attempt, too
	if !pause(ctx, settling) {
		return ctx.Err()
	}
	const kib = 1024
	f := takeStock().per(b.plan.electors, before)
	r.heap, r.stack = append(r.heap, f.heap/kib), append(r.stack, f.stack/kib)
	r.together, r.goroutines = append(r.together, (f.heap+f.stack)/kib), append(r.goroutines, f.goroutines)
	return nil
}
