package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const handoverTitle = "Hand-over after a release"

const handoverText = `One replica holds the lock and others wait for it. Each has a client of its own, as if
it were a process of its own. The time starts when the holder's work has ended and its
release is about to be sent. It ends when another replica knows that it leads: when its
OnStartedLeading runs, or its blocking call returns. Timings are %v (lease / renew
deadline / retry period), 1/%d of the Kubernetes defaults, so that a run stays short; with
the defaults, a contender that polls at the retry period (client-go) is slower in
proportion. bsm/redislock and redsync poll several times a second, as their documentation
shows, and pay for it with commands while idle. Redis tells rueidislock that the key has
changed. client-go has no network between it and its server here, and hears of no release.
The floor is a subscriber of raw go-redis that hears of the release and obtains with SET
NX; with many waiters all of them try. "Requests" are those that all replicas sent from
the release until %v after the new holder knew, without the release itself. So they
include polls and renewals that fall into that time; redsync sends two requests for each
attempt that fails. "Stuck" hand-overs are not among the samples: nobody had obtained the
lock a lease and %v after the release. p50 is the median of the rounds' medians. p99 is
that of all samples; with fewer than a hundred samples it is the maximum.`

// countedAfter is how long after a hand-over requests still count as part of it.
const countedAfter = 10 * time.Millisecond

func takeHandover(ctx context.Context, b *bench) (section, error) {
	text := fmt.Sprintf(handoverText, b.plan.waiting, kubernetes.lease/b.plan.waiting.lease,
		countedAfter, slack)
	s := section{title: handoverTitle, text: text}
	p := plot{
		file: "handover.svg", title: "Hand-over after a release: p50, p99 as a dot, logarithmic",
		unit: nanoseconds, log: true,
	}
	for _, width := range b.plan.widths {
		results := b.handovers(ctx, width)
		s.tables = append(s.tables, captioned{waiters(width) + ":", handoverTable(results)})
		for _, r := range results {
			if r.err == nil && len(r.rounds) > 0 {
				p.add(waiters(width), bar{label: r.name, value: r.p50(), dot: quantile(r.all(), 0.99)})
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

// handovers are the results of one contender: the samples of each round, in nanoseconds,
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
	t := table{columns: []string{
		"", "p50", "p99", "p50 / floor", "requests per release", "stuck", "samples",
	}}
	for _, r := range results {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		t.add(r.name, nanoseconds(r.p50()), nanoseconds(quantile(r.all(), 0.99)),
			times(r.p50()/results[0].p50()), number(mean(r.requests)),
			fmt.Sprint(r.stuck), fmt.Sprint(len(r.all())))
	}
	return t
}

// handovers measures all contenders, interleaved round by round. The floor comes first
// among the results.
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
	ct, err := newContest(ctx, h.contender, b.newElection("handover", b.plan.waiting), width)
	if err != nil {
		return err
	}
	defer ct.close()
	if err := ct.startOthers(); err != nil {
		return err
	}
	var round []float64
	holder, end := 0, time.Now().Add(b.plan.budget[width])
	for len(round) == 0 || time.Now().Before(end) && len(round) < b.plan.handover {
		if !pause(ctx, pauseBetween(b.plan.waiting, width)) {
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
		ct.start(holder)
		holder = next
	}
	if len(round) > 0 {
		h.rounds = append(h.rounds, round)
	}
	return nil
}

// pauseBetween is a random time between two hand-overs. With one waiter it covers a retry
// period, so that the release meets a poller at any point of its period. Several waiters
// are at different points anyway.
func pauseBetween(t timings, width int) time.Duration {
	const least = 20 * time.Millisecond
	if width == 1 {
		return least + rand.N(t.retry*6/5)
	}
	return least + rand.N(3*least)
}

// handOver lets the holder leave. It returns who held the lock next, how long that took
// and how many requests it cost.
func (b *bench) handOver(
	ctx context.Context, ct *contest, c contender, holder int,
) (next int, took time.Duration, requests int64, err error) {
	before, err := b.requests(ctx, ct.election, c)
	if err != nil {
		return 0, 0, 0, err
	}
	left := make(chan outcome, 1)
	go func() { // joined below
		at, err := ct.replicas[holder].leave(ctx)
		left <- outcome{holder, at, err}
	}()
	came, err := ct.next(ct.election.timings.lease)
	went := <-left
	if err := errors.Join(err, went.err); err != nil {
		return 0, 0, 0, err
	}
	if !pause(ctx, countedAfter) {
		return 0, 0, 0, ctx.Err()
	}
	after, err := b.requests(ctx, ct.election, c)
	return came.who, came.at.Sub(went.at), after - before - c.releases, err
}

// requests is how many requests the clients of a contender have sent so far.
func (b *bench) requests(ctx context.Context, e *election, c contender) (int64, error) {
	if c.sends == nil {
		return e.cluster.requests.Load(), nil
	}
	return b.server.calls(ctx, c.sends)
}
