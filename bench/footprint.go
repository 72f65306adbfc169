package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

const footprintTitle = "Memory and goroutines"

const footprintText = `%d electors in one process, two for each name, so half of them lead; timings are
%v. They share whatever can be shared: one client and its connections, one locker,
one clientset. The values are heap after collections, stacks and goroutines, less what
there was before, per elector. So they include a share of the client's own memory, and
for client-go the Lease objects of the fake clientset. The goroutine that calls the
elector counts, and so does the one in which the leader's work waits. bsm/redislock and
redsync have no electors.`

func takeFootprint(ctx context.Context, b *bench) (section, error) {
	t := table{columns: []string{"", "heap KiB", "stack KiB", "KiB together", "goroutines"}}
	for _, r := range b.footprints(ctx) {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		t.add(r.name, number(median(r.heap)), number(median(r.stack)),
			number(median(r.together)), number(median(r.goroutines)))
	}
	text := fmt.Sprintf(footprintText, b.plan.electors, kubernetes)
	return section{title: footprintTitle, text: text, tables: []captioned{{table: t}}}, ctx.Err()
}

// footprints are what an elector of one contender needs, one value for each round.
// Memory is in KiB.
type footprints struct {
	name                              string
	open                              func(addr string, t timings) (*electors, error)
	heap, stack, together, goroutines []float64
	err                               error
}

func (b *bench) footprints(ctx context.Context) []*footprints {
	results := []*footprints{
		{name: redisleaderContender().name, open: redisleaderElectors},
		{name: rueidisContender().name, open: rueidisElectors},
		{name: clientGoContender().name, open: clientGoElectors},
	}
	for range b.plan.rounds {
		for _, r := range shuffled(results) {
			if r.err == nil && ctx.Err() == nil {
				r.err = b.footprintRound(ctx, r)
			}
		}
	}
	return results
}

func (b *bench) footprintRound(ctx context.Context, r *footprints) error {
	before := readFootprint()
	es, err := r.open(b.server.Addr(), kubernetes)
	if err != nil {
		return err
	}
	defer es.stop()
	if err := es.start(ctx, b.freshName("footprint"), b.plan.electors); err != nil {
		return err
	}
	if err := es.await(ctx, b.plan.electors/2); err != nil {
		return err
	}
	// Until the followers have made their first attempts, too.
	const firstAttempts = 100 * time.Millisecond
	if !pause(ctx, firstAttempts) {
		return ctx.Err()
	}
	f := readFootprint().since(before).per(b.plan.electors)
	r.heap, r.stack = append(r.heap, f.heap/kib), append(r.stack, f.stack/kib)
	r.together = append(r.together, (f.heap+f.stack)/kib)
	r.goroutines = append(r.goroutines, f.goroutines)
	return nil
}

const kib = 1024

// footprint is what a process uses.
type footprint struct {
	heap, stack float64 // bytes
	goroutines  float64
}

// readFootprint returns what this process uses after some collections. A process that
// runs for long has as many: each halves the stacks that are mostly empty, and the second
// frees what was in a sync.Pool.
func readFootprint() footprint {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{
		float64(m.HeapAlloc), float64(m.StackInuse), float64(runtime.NumGoroutine()),
	}
}

// since is the growth from an earlier footprint to this one.
func (f footprint) since(before footprint) footprint {
	return footprint{
		f.heap - before.heap, f.stack - before.stack, f.goroutines - before.goroutines,
	}
}

// per is the share of one elector.
func (f footprint) per(electors int) footprint {
	n := float64(electors)
	return footprint{f.heap / n, f.stack / n, f.goroutines / n}
}
