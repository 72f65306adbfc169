package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const takeoverTitle = "Take-over after a crash"

const takeoverText = `A holder loses its connections for good, without a release, while one replica waits.
The time starts when the ttl of the key has run out on the server (PEXPIRETIME), or for
client-go LeaseDuration after the last renewal, and ends when the waiter knows that it
leads. So the wait for the ttl itself is not part of it. Timings are %v, and for
client-go %v: it compares renewal times in whole seconds, so with shorter ones it takes
over from leaders that are alive. All contenders run at the same time on one server, %d
pairs of each in each of %d rounds, and crash at random instants. bsm/redislock and
redsync poll several times a second, client-go at its retry period. rueidislock waits
until Redis notices that the key has expired, which depends on the other keys. In the
second table there are %d of them, with ttls of ten to twenty minutes; they do not concern
client-go. A take-over that has not come %v after the ttl (client-go: %v) counts as late.`

func takeTakeover(ctx context.Context, b *bench) (section, error) {
	p := b.plan
	s := section{title: takeoverTitle, text: fmt.Sprintf(takeoverText,
		p.crashing, p.clientGo, p.crashes, p.crashRounds, p.filler, p.takeoverWait, p.clientGo.lease)}
	chart := plot{
		file: "takeover.svg", unit: nanoseconds, log: true,
		title: "Take-over after a crash, beyond the ttl: p50, p99 as a dot, logarithmic",
	}
	// client-go has longer timings and no server, so all its rounds are one, which runs
	// at the same time as those of the others.
	var apart sync.WaitGroup
	clientGo := &takeovers{contender: clientGoContender(), wait: p.clientGo.lease}
	b.startPairs(ctx, b.server, clientGo, p.clientGo, p.crashes*p.crashRounds, &apart)
	empty, err := b.takeovers(ctx, 0)
	filled, err2 := b.takeovers(ctx, p.filler)
	apart.Wait()
	if err := errors.Join(err, err2); err != nil {
		return s, err
	}
	s.show(&chart, "No other keys that expire", append(empty, clientGo))
	s.show(&chart, fmt.Sprintf("%d other keys that expire", p.filler), filled)
	s.plots = []plot{chart}
	return s, ctx.Err()
}

// show adds results as a table and as bars.
func (s *section) show(chart *plot, caption string, results []*takeovers) {
	s.tables = append(s.tables, captioned{caption + ":", takeoverTable(results)})
	for _, r := range results {
		if r.err == nil {
			p50, p99 := quantile(r.beyond, 0.5), quantile(r.beyond, 0.99)
			chart.add(caption, bar{label: r.name, value: p50, dot: p99, text: r.within(p50)})
		}
	}
}

// takeovers are the results of one contender.
type takeovers struct {
	contender
	wait time.Duration // how long after the ttl to wait for a take-over

	mu     sync.Mutex // guards the rest, because pairs run at the same time
	beyond []float64  // nanoseconds after the ttl; wait for those that did not come
	late   int
	err    error
}

func (t *takeovers) add(beyond time.Duration, late bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.err = err
		return
	}
	if late {
		t.late++
	}
	t.beyond = append(t.beyond, float64(beyond))
}

func takeoverTable(results []*takeovers) table {
	t := table{columns: []string{
		"", "p50 after the ttl", "p99 after the ttl", "late", "samples",
	}}
	for _, r := range results {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		t.add(r.name, r.within(quantile(r.beyond, 0.5)), r.within(quantile(r.beyond, 0.99)),
			fmt.Sprint(r.late), fmt.Sprint(len(r.beyond)))
	}
	return t
}

// within prints a time after the ttl, or that it is longer than the wait.
func (t *takeovers) within(ns float64) string {
	if ns >= float64(t.wait) {
		return ">" + t.wait.String()
	}
	return nanoseconds(ns)
}

// takeovers measures all contenders on Redis at the same time, on a server of its own
// that holds so many other keys.
func (b *bench) takeovers(ctx context.Context, filler int) ([]*takeovers, error) {
	server, err := startServer()
	if err != nil {
		return nil, err
	}
	defer server.stop()
	if err := server.fill(ctx, filler); err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	var results []*takeovers
	for _, c := range contenders() {
		if c.key != nil {
			results = append(results, &takeovers{contender: c, wait: b.plan.takeoverWait})
		}
	}
	for range b.plan.crashRounds {
		var round sync.WaitGroup
		for _, r := range shuffled(results) {
			b.startPairs(ctx, server, r, b.plan.crashing, b.plan.crashes, &round)
		}
		round.Wait()
	}
	return results, nil
}

// startPairs starts pairs of a waiter and a holder that will crash.
func (b *bench) startPairs(
	ctx context.Context, s *server, r *takeovers, t timings, pairs int, group *sync.WaitGroup,
) {
	for range pairs {
		e := b.newElection("takeover", t)
		e.addr = s.Addr()
		group.Go(func() { r.add(r.takeOver(ctx, s, e)) })
	}
}

// takeOver lets one holder crash.
func (t *takeovers) takeOver(
	ctx context.Context, s *server, e *election,
) (beyond time.Duration, late bool, err error) {
	lease := e.timings.lease
	// If all connected at once, that would take longer than some attempts may.
	if !pause(ctx, rand.N(lease/4)) {
		return 0, false, ctx.Err()
	}
	ct, err := newContest(ctx, t.contender, e, 1)
	if err != nil {
		return 0, false, err
	}
	defer ct.close()
	// Otherwise a poller would be in step with the ttl.
	if !pause(ctx, rand.N(lease/4)) {
		return 0, false, ctx.Err()
	}
	ct.start(1)
	if !pause(ctx, lease/10+rand.N(lease/2)) {
		return 0, false, ctx.Err()
	}
	ct.replicas[0].crash()
	pause(ctx, 5*time.Millisecond) // until what was under way has arrived
	expiry, err := t.expiry(ctx, s, ct)
	if err != nil {
		return 0, false, err
	}
	return t.await(ct, expiry)
}

// await waits for the only waiter to take over.
func (t *takeovers) await(
	ct *contest, expiry time.Time,
) (beyond time.Duration, late bool, err error) {
	timeout := time.NewTimer(time.Until(expiry) + t.wait)
	defer timeout.Stop()
	select {
	case came := <-ct.outcomes:
		beyond = came.at.Round(0).Sub(expiry) // by the wall clock, like the expiry
		if came.err == nil && beyond < 0 {
			came.err = fmt.Errorf("took over %v before the ttl ran out", -beyond)
		}
		return min(beyond, t.wait), beyond >= t.wait, came.err
	case <-timeout.C:
		return t.wait, true, nil
	}
}

// expiry is the instant at which the lease of the crashed holder runs out.
func (t *takeovers) expiry(ctx context.Context, s *server, ct *contest) (time.Time, error) {
	if holder, ok := ct.replicas[0].(*clientGoReplica); ok {
		return holder.lock.renewed.Load().Round(0).Add(ct.election.timings.lease), nil
	}
	key := t.key(ct.election.name)
	at, err := s.admin.PExpireTime(ctx, key).Result()
	if err != nil {
		return time.Time{}, err
	}
	if at < 0 {
		return time.Time{}, fmt.Errorf("key %q has no ttl", key)
	}
	return time.UnixMilli(at.Milliseconds()), nil
}
