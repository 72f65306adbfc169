package main

import (
	"context"
	"fmt"
)

const (
	obtainTitle   = "Obtain and release, one after the other"
	parallelTitle = "Obtain and release, in parallel"
)

const obtainText = `One goroutine obtains a lock that nobody holds and releases it, with a fresh random
token each time (the floor uses one token for all). "ns/op" is the mean of a round and
"p50" its median operation. Both columns and the ratios are medians over the rounds; each
ratio is taken within its round. Allocations are those of the whole process meanwhile.
For each lock, rueidislock starts a goroutine that would renew it, which the others do
not. Its client sends what several goroutines ask for in one batch, which pays off in
parallel. Only the rows that say so mint a fencing token.`

const parallelText = `The same with %d goroutines, each with a key of its own, over one client. "ns/op" is
elapsed time divided by operations. All users of go-redis share its pool of 20
connections; rueidislock sends everything over one, which is an advantage here.`

func takeObtain(ctx context.Context, b *bench) (section, error) {
	runners := b.runCycles(ctx, 1)
	t := table{columns: []string{"", "ns/op", "ratio", "p50", "ratio", "allocs/op", "B/op"}}
	p := plot{file: "obtain.svg", title: "Obtain + release, one goroutine", unit: nanoseconds}
	floor := runners[0]
	for _, r := range runners {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		ns, p50 := r.each((*roundStats).nsPerOp), r.each((*roundStats).medianNs)
		t.add(r.name,
			number(median(ns)), times(median(ratios(ns, floor.each((*roundStats).nsPerOp)))),
			number(median(p50)), times(median(ratios(p50, floor.each((*roundStats).medianNs)))),
			number(median(r.each((*roundStats).allocsPerOp))),
			number(median(r.each((*roundStats).bytesPerOp))))
		p.add("", bar{label: r.name, value: median(p50)})
	}
	return section{
		title: obtainTitle, text: obtainText,
		tables: []captioned{{table: t}}, plots: []plot{p},
	}, ctx.Err()
}

func takeParallel(ctx context.Context, b *bench) (section, error) {
	runners := b.runCycles(ctx, b.plan.workers)
	t := table{columns: []string{"", "ns/op", "ratio", "allocs/op", "B/op"}}
	floor := runners[0]
	for _, r := range runners {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		ns := r.each((*roundStats).nsPerOp)
		t.add(r.name,
			number(median(ns)), times(median(ratios(ns, floor.each((*roundStats).nsPerOp)))),
			number(median(r.each((*roundStats).allocsPerOp))),
			number(median(r.each((*roundStats).bytesPerOp))))
	}
	text := fmt.Sprintf(parallelText, b.plan.workers)
	return section{title: parallelTitle, text: text, tables: []captioned{{table: t}}}, ctx.Err()
}

// runCycles measures all cyclers, interleaved slice by slice.
func (b *bench) runCycles(ctx context.Context, workers int) []*runner {
	var runners []*runner
	for _, c := range cyclers() {
		r := openRunner(ctx, b.server.Addr(), c, workers)
		defer r.close()
		runners = append(runners, r)
	}
	for range b.plan.rounds {
		for _, r := range runners {
			r.nextRound()
		}
		for range b.plan.passes {
			for _, r := range shuffled(runners) {
				r.slice(ctx, b.plan.slice)
			}
		}
	}
	return runners
}
