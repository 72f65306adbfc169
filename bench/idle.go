package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const idleTitle = "Idle cost"

const idleText = `Commands per second, over %v, that a leader and a follower send while nothing happens, at %v; per lease is the same for the electors with
other timings in that proportion, while the locks poll as they do. Counted on the way to the server, so without what scripts call there, and with what clients send by themselves; for client-go these are
requests to the API server. A holder of a bsm/redislock or redsync lock renews only if its user does.`

func takeIdle(ctx context.Context, b *bench) (section, error) {
	t := table{columns: []string{"", "leader/s", "follower/s", "leader per lease", "follower per lease"}}
	results := b.idlers(ctx)
	lease := b.plan.waiting.lease.Seconds()
	for _, r := range results {
		switch {
		case r.err != nil:
			t.fail(r.name, r.err)
		case r.renews:
			t.add(r.name, number(r.leader), number(r.follower), number(r.leader*lease), number(r.follower*lease))
		default:
			t.add(r.name, "does not renew", number(r.follower), missing, number(r.follower*lease))
		}
	}
	return section{title: idleTitle, text: fmt.Sprintf(idleText, b.plan.idleFor, b.plan.waiting), tables: []captioned{{table: t}}}, ctx.Err()
}

// idlers is what one contender showed: commands per second of one leader and of one
// follower.
type idlers struct {
	contender
	leader, follower float64
	err              error
}

// idlers watches all contenders at a time: what is counted does not depend on how busy
// the machine is.
func (b *bench) idlers(ctx context.Context) []*idlers {
	var results []*idlers
	var group sync.WaitGroup
	for _, c := range contenders() {
		r := &idlers{contender: c}
		results = append(results, r)
		var arenas []*arena
		for range b.plan.idleNames {
			arenas = append(arenas, &arena{addr: b.server.addr, name: b.freshName("idle"), timings: b.plan.waiting, cluster: newCluster()})
		}
		group.Go(func() { r.err = r.watch(ctx, arenas, b.plan) })
	}
	group.Wait()
	return results
}

// watch counts for a while.
func (r *idlers) watch(ctx context.Context, arenas []*arena, p plan) error {
	var leaders, followers meter
	var pairs []pair
	for _, a := range arenas {
		p, err := r.hold(ctx, *a, &leaders, &followers)
		if err != nil {
			return err
		}
		defer p.close()
		pairs = append(pairs, p)
	}
	if !pause(ctx, p.waiting.lease/2) {
		return ctx.Err()
	}
	l, f, began := leaders.commands.Load(), followers.commands.Load(), time.Now()
	if !pause(ctx, p.idleFor) {
		return ctx.Err()
	}
	each := time.Since(began).Seconds() * float64(len(arenas))
	r.leader = float64(leaders.commands.Load()-l) / each
	r.follower = float64(followers.commands.Load()-f) / each
	for _, p := range pairs {
		if len(p.follower.arrivals) > 0 {
			return errors.New("a follower did not stay one")
		}
	}
	return nil
}

// pair is one leader and one follower, metered apart.
type pair struct{ leader, follower *contest }

func (p pair) close() {
	p.follower.close()
	p.leader.close()
}

// hold lets a pair compete.
func (r *idlers) hold(ctx context.Context, a arena, leaders, followers *meter) (pair, error) {
	holding, waiting := a, a
	holding.meter, waiting.meter = leaders, followers
	if !r.renews {
		holding.timings.lease *= 100 // as long as anybody looks
	}
	holder, err := newContest(ctx, r.contender, &holding, 0)
	if err != nil {
		return pair{}, err
	}
	waiter := emptyContest(ctx, &waiting, 1)
	follower, err := r.enlist(&waiting, "follower")
	if err != nil {
		holder.close()
		return pair{}, err
	}
	waiter.replicas = append(waiter.replicas, follower)
	waiter.enter(0)
	return pair{holder, waiter}, nil
}
