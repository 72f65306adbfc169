package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const idleTitle = "Idle cost"

const idleText = `Commands per second that a leader and a follower send while nothing happens, over %v;
timings are %v. For the electors, the commands per lease are the same with other timings
in that proportion; the locks poll at their own rate. Commands are counted on the way to
the server, so those that scripts call there do not count, and those that clients send by
themselves do. For client-go these are requests to the API server. A holder of a
bsm/redislock or redsync lock renews it only if its user does so.`

func takeIdle(ctx context.Context, b *bench) (section, error) {
	t := table{columns: []string{
		"", "leader/s", "follower/s", "leader per lease", "follower per lease",
	}}
	lease := b.plan.waiting.lease.Seconds()
	for _, r := range b.idleCosts(ctx) {
		switch {
		case r.err != nil:
			t.fail(r.name, r.err)
		case r.renews:
			t.add(r.name, number(r.leader), number(r.follower),
				number(r.leader*lease), number(r.follower*lease))
		default:
			t.add(r.name, "does not renew", number(r.follower), missing, number(r.follower*lease))
		}
	}
	text := fmt.Sprintf(idleText, b.plan.idleFor, b.plan.waiting)
	return section{title: idleTitle, text: text, tables: []captioned{{table: t}}}, ctx.Err()
}

// idleCosts are the results of one contender: commands per second of one leader and of
// one follower.
type idleCosts struct {
	contender
	leader, follower float64
	err              error
}

// idleCosts measures all contenders at the same time: what it counts does not depend on
// how busy the machine is.
func (b *bench) idleCosts(ctx context.Context) []*idleCosts {
	var results []*idleCosts
	var group sync.WaitGroup
	for _, c := range contenders() {
		r := &idleCosts{contender: c}
		results = append(results, r)
		var elections []*election
		for range b.plan.idleNames {
			elections = append(elections, b.newElection("idle", b.plan.waiting))
		}
		group.Go(func() { r.err = r.count(ctx, elections, b.plan) })
	}
	group.Wait()
	return results
}

// count counts the commands of a leader and a follower in each election for a while.
func (r *idleCosts) count(ctx context.Context, elections []*election, p plan) error {
	var leaders, followers meter
	var pairs []pair
	for _, e := range elections {
		p, err := r.newPair(ctx, *e, &leaders, &followers)
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
	each := time.Since(began).Seconds() * float64(len(elections))
	r.leader = float64(leaders.commands.Load()-l) / each
	r.follower = float64(followers.commands.Load()-f) / each
	for _, p := range pairs {
		if len(p.follower.outcomes) > 0 {
			return errors.New("a follower became the leader, or failed")
		}
	}
	return nil
}

// pair is one leader and one follower, whose commands are counted separately.
type pair struct{ leader, follower *contest }

func (p pair) close() {
	p.follower.close()
	p.leader.close()
}

// newPair lets a pair compete and returns when its leader leads.
func (r *idleCosts) newPair(
	ctx context.Context, e election, leaders, followers *meter,
) (pair, error) {
	holding, waiting := e, e
	holding.meter, waiting.meter = leaders, followers
	if !r.renews {
		holding.timings.lease *= 100 // longer than the measurement
	}
	leader, err := newContest(ctx, r.contender, &holding, 0)
	if err != nil {
		return pair{}, err
	}
	follower := emptyContest(ctx, &waiting, 1)
	replica, err := r.newReplica(&waiting, "follower")
	if err != nil {
		leader.close()
		return pair{}, err
	}
	follower.replicas = append(follower.replicas, replica)
	follower.start(0)
	return pair{leader, follower}, nil
}
