package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const handoverTitle = "Hand-over after a release"

const handoverText = `One replica holds the lock, others wait for it, each with a client of its own as if in a process of its own. The time is from
when the holder's work has ended and its release is about to be sent, until another replica knows that it leads: until its OnStartedLeading
runs, or its blocking call returns. Timings are %v (lease / renew deadline / retry period), 1/%d of the Kubernetes defaults, so
that a run stays short; who polls at the retry period (client-go) is slower in proportion with the defaults. bsm/redislock and redsync poll as
their documentation has it, several times a second, and pay for it in idle commands. rueidislock is told by Redis that the key changed.
client-go has no network to cross here, and is told of no release. The floor is a subscriber of raw go-redis that hears of the release and obtains
with SET NX: with many waiters all of them do. "Requests" are those that all replicas sent from the release until 10 ms after the new
holder knew, less the release itself, so they include polls and renewals that fall into that time; redsync sends two for each attempt
that fails. "Stuck" are hand-overs, not among the samples, that nobody had taken a lease and %v after the release. p50 is the median of the rounds' medians, p99 that of all samples: with fewer than a hundred it is the maximum.`

// afterglow is how long after a hand-over requests are still counted as its own.
const afterglow = 10 * time.Millisecond

func takeHandover(ctx context.Context, b *bench) (section, error) {
	text := fmt.Sprintf(handoverText, b.plan.waiting, kubernetes.lease/b.plan.waiting.lease, patience)
	s := section{title: handoverTitle, text: text}
	p := plot{file: "handover.svg", title: "Hand-over after a release: p50, p99 as a dot, logarithmic", unit: nanoseconds, log: true}
	for _, width := range b.plan.widths {
		results := b.handovers(ctx, width)
		s.tables = append(s.tables, captioned{waiters(width) + ":", handoverTable(results)})
		for _, r := range results {
			if r.err == nil && len(r.rounds) > 0 {
				p.add(waiters(width), bar{label: r.name, value: r.p50(), far: quantile(r.all(), 0.99)})
			}
		}
	}
	s.plots = []plot{p}
	return s, ctx.Err()
}

func waiters(n int) string {
	if n == 1 {
		return "1 waiter"
	}
	return fmt.Sprintf("%d waiters", n)
}

// handovers is what one contender showed: the samples of each round, in nanoseconds,
// and the requests of each sample.
type handovers struct {
	contender
	rounds   [][]float64
	requests []float64
	stuck    int
	err      error
}

func (h *handovers) all() []float64 {
	var all []float64
	for _, round := range h.rounds {
		all = append(all, round...)
	}
	return all
}

func (h *handovers) p50() float64 {
	var medians []float64
	for _, round := range h.rounds {
		medians = append(medians, median(round))
	}
	return median(medians)
}

func handoverTable(results []*handovers) table {
	t := table{columns: []string{"", "p50", "p99", "p50 / floor", "requests per release", "stuck", "samples"}}
	for _, r := range results {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		t.add(r.name, nanoseconds(r.p50()), nanoseconds(quantile(r.all(), 0.99)), times(r.p50()/results[0].p50()),
			number(mean(r.requests)), fmt.Sprint(r.stuck), fmt.Sprint(len(r.all())))
	}
	return t
}

// handovers measures all contenders, the floor first among the results, interleaved
// round by round.
func (b *bench) handovers(ctx context.Context, width int) []*handovers {
	var results []*handovers
	for _, c := range append([]contender{floorContender()}, contenders()...) {
		results = append(results, &handovers{contender: c})
	}
	for range b.plan.rounds {
		for _, r := range shuffled(results) {
			if r.err == nil && ctx.Err() == nil {
				r.err = b.handoverRound(ctx, r, width)
			}
		}
	}
	return results
}

// handoverRound hands over as often as the budget allows, but at least once.
func (b *bench) handoverRound(ctx context.Context, h *handovers, width int) error {
	a := &arena{addr: b.server.addr, name: b.freshName("handover"), timings: b.plan.waiting, cluster: newCluster()}
	ct, err := newContest(ctx, h.contender, a, width)
	if err != nil {
		return err
	}
	defer ct.close()
	if err := ct.enterAll(); err != nil {
		return err
	}
	var round []float64
	holder := 0
	for end := time.Now().Add(b.plan.budget[width]); len(round) == 0 || time.Now().Before(end) && len(round) < b.plan.handover; {
		if !pause(ctx, settle(a.timings, width)) {
			return ctx.Err()
		}
		next, took, requests, err := b.handOver(ctx, ct, h.contender, holder)
		if errors.Is(err, errNobody) && ctx.Err() == nil {
			h.stuck++
			break
		}
		if err != nil {
			return err
		}
		round, h.requests = append(round, float64(took)), append(h.requests, float64(requests))
		ct.enter(holder)
		holder = next
	}
	if len(round) > 0 {
		h.rounds = append(h.rounds, round)
	}
	return nil
}

// settle is how long to wait between two hand-overs, at random: if there is but one
// waiter, over a retry period, so that a poller is met at any point of it; several are
// at different points anyway.
func settle(t timings, width int) time.Duration {
	const least = 20 * time.Millisecond
	if width == 1 {
		return least + rand.N(t.retry*6/5)
	}
	return least + rand.N(3*least)
}

// handOver lets the holder leave and says who came next, how long that took and how
// many requests it cost.
func (b *bench) handOver(ctx context.Context, ct *contest, c contender, holder int) (next int, took time.Duration, requests int64, err error) {
	before, err := b.requests(ctx, ct.arena, c)
	if err != nil {
		return 0, 0, 0, err
	}
	left := make(chan arrival, 1)
	go func() { // joined below
		at, err := ct.replicas[holder].leave(ctx)
		left <- arrival{holder, at, err}
	}()
	came, err := ct.arrival(ct.arena.timings.lease)
	went := <-left
	if err := errors.Join(err, went.err); err != nil {
		return 0, 0, 0, err
	}
	if !pause(ctx, afterglow) {
		return 0, 0, 0, ctx.Err()
	}
	after, err := b.requests(ctx, ct.arena, c)
	return came.who, came.at.Sub(went.at), after - before - c.releases, err
}

// requests is how many requests the clients of a contender have sent so far.
func (b *bench) requests(ctx context.Context, a *arena, c contender) (int64, error) {
	if c.sends == nil {
		return a.cluster.requests.Load(), nil
	}
	return b.server.calls(ctx, c.sends)
}
