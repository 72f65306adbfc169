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

const takeoverText = `A holder loses its connections for good, without a release, while one replica waits. The time is from when the ttl of the key ran out on the
server (PEXPIRETIME), or for client-go from the last renewal plus LeaseDuration, until the waiter knows that it leads. The wait for the ttl itself is not part of
it. Timings are %v, for client-go %v: it compares renewal times in whole seconds, so that with shorter ones it takes over from leaders that are alive. All contenders run at a time
on one server, %d pairs of each in each of %d rounds, the crashes at random instants. bsm/redislock and redsync poll several times a second, client-go at its retry period;
rueidislock waits until Redis notices that the key has expired, which depends on the other keys: %d of them with ttls of ten to twenty minutes in the
second table, which is none of client-go's business. A take-over that had not come %v after the ttl (client-go: %v) is counted as late.`

func takeTakeover(ctx context.Context, b *bench) (section, error) {
	p := b.plan
	s := section{title: takeoverTitle, text: fmt.Sprintf(takeoverText,
		p.crashing, p.clientGo, p.crashes, p.crashRounds, p.filler, p.patience, p.clientGo.lease)}
	chart := plot{file: "takeover.svg", title: "Take-over after a crash, beyond the ttl: p50, p99 as a dot, logarithmic", unit: nanoseconds, log: true}
	var apart sync.WaitGroup // client-go has longer timings and no server: all its rounds are one, beside those of the others
	clientGo := &takeovers{contender: clientGoContender(), patience: p.clientGo.lease}
	b.startPairs(ctx, b.server, clientGo, p.clientGo, p.crashes*p.crashRounds, &apart)
	alone, err := b.takeovers(ctx, 0)
	crowded, err2 := b.takeovers(ctx, p.filler)
	apart.Wait()
	if err := errors.Join(err, err2); err != nil {
		return s, err
	}
	s.show(&chart, "No other keys that expire", append(alone, clientGo))
	s.show(&chart, fmt.Sprintf("%d other keys that expire", p.filler), crowded)
	s.plots = []plot{chart}
	return s, ctx.Err()
}

// show adds results as a table and as bars.
func (s *section) show(chart *plot, caption string, results []*takeovers) {
	s.tables = append(s.tables, captioned{caption + ":", takeoverTable(results)})
	for _, r := range results {
		if r.err == nil {
			p50 := quantile(r.beyond, 0.5)
			chart.add(caption, bar{label: r.name, value: p50, far: quantile(r.beyond, 0.99), text: r.within(p50)})
		}
	}
}

// takeovers is what one contender showed.
type takeovers struct {
	contender
	patience time.Duration // how long after the ttl a take-over is waited for

	mu     sync.Mutex // guards the rest: pairs run at a time
	beyond []float64  // nanoseconds after the ttl; those that did not come count as the patience
	late   int
	err    error
}

func (t *takeovers) add(beyond time.Duration, late bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.err = err
	case late:
		t.late++
		fallthrough
	default:
		t.beyond = append(t.beyond, float64(beyond))
	}
}

func takeoverTable(results []*takeovers) table {
	t := table{columns: []string{"", "p50 after the ttl", "p99 after the ttl", "late", "samples"}}
	for _, r := range results {
		if r.err != nil {
			t.fail(r.name, r.err)
			continue
		}
		t.add(r.name, r.within(quantile(r.beyond, 0.5)), r.within(quantile(r.beyond, 0.99)), fmt.Sprint(r.late), fmt.Sprint(len(r.beyond)))
	}
	return t
}

// within prints a time after the ttl that may be one that was not waited for.
func (t *takeovers) within(ns float64) string {
	if ns >= float64(t.patience) {
		return ">" + t.patience.String()
	}
	return nanoseconds(ns)
}

// takeovers measures all contenders on Redis at a time, on a server of its own.
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
			results = append(results, &takeovers{contender: c, patience: b.plan.patience})
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

// startPairs starts pairs of a holder that will crash and a waiter.
func (b *bench) startPairs(ctx context.Context, s *server, r *takeovers, t timings, pairs int, group *sync.WaitGroup) {
	for range pairs {
		a := &arena{addr: s.addr, name: b.freshName("takeover"), timings: t, cluster: newCluster()}
		group.Go(func() { r.add(r.takeOver(ctx, s, a)) })
	}
}

// takeOver lets one holder crash.
func (t *takeovers) takeOver(ctx context.Context, s *server, a *arena) (beyond time.Duration, late bool, err error) {
	if !pause(ctx, rand.N(a.timings.lease/4)) { // connecting all at a time takes longer than some attempts may
		return 0, false, ctx.Err()
	}
	ct, err := newContest(ctx, t.contender, a, 1)
	if err != nil {
		return 0, false, err
	}
	defer ct.close()
	if !pause(ctx, rand.N(a.timings.lease/4)) { // or a poller would be in step with the ttl
		return 0, false, ctx.Err()
	}
	ct.enter(1)
	if !pause(ctx, a.timings.lease/10+rand.N(a.timings.lease/2)) {
		return 0, false, ctx.Err()
	}
	ct.replicas[0].crash()
	pause(ctx, 5*time.Millisecond) // what was on the way has arrived
	expiry, err := t.expiry(ctx, s, ct)
	if err != nil {
		return 0, false, err
	}
	return t.await(ct, expiry)
}

// await waits for the one waiter, until the patience is over.
func (t *takeovers) await(ct *contest, expiry time.Time) (beyond time.Duration, late bool, err error) {
	timeout := time.NewTimer(time.Until(expiry) + t.patience)
	defer timeout.Stop()
	select {
	case came := <-ct.arrivals:
		beyond = came.at.Round(0).Sub(expiry) // by the wall clock, as the expiry is
		if came.err == nil && beyond < 0 {
			came.err = fmt.Errorf("took over %v before the ttl ran out", -beyond)
		}
		return min(beyond, t.patience), beyond >= t.patience, came.err
	case <-timeout.C:
		return t.patience, true, nil
	}
}

// expiry is the instant at which the crashed holder's lease runs out.
func (t *takeovers) expiry(ctx context.Context, s *server, ct *contest) (time.Time, error) {
	if holder, ok := ct.replicas[0].(*clientGoReplica); ok {
		return holder.lock.renewed.Load().Round(0).Add(ct.arena.timings.lease), nil
	}
	key := t.key(ct.arena.name)
	at, err := s.admin.PExpireTime(ctx, key).Result()
	if err != nil {
		return time.Time{}, err
	}
	if at < 0 {
		return time.Time{}, fmt.Errorf("key %q has no ttl", key)
	}
	return time.UnixMilli(at.Milliseconds()), nil
}
