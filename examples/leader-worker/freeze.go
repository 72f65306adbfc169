package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

const (
	settleTime   = 50 * time.Millisecond  // for a write that was under way when its sender was frozen
	frozenLonger = 500 * time.Millisecond // than until another one leads
)

// freeze: the old leader looks at its lease, is frozen, and writes when it wakes up,
// long after another one has taken over.
func (d *demo) freeze(ctx context.Context) error {
	return d.timeline.Freeze(func() (bool, error) { return d.freezeOnce(ctx) })
}

func (d *demo) freezeOnce(ctx context.Context) (late bool, err error) {
	old, err := d.freezeBeforeWrite(ctx)
	if err != nil {
		return false, err
	}
	next, err := d.leaderAfter(ctx, old)
	if err != nil {
		return false, err
	}
	if err := d.work(ctx, next, frozenLonger); err != nil {
		return false, err
	}
	d.timeline.Now(show.Demo, "wakes %s up (SIGCONT): it was about to write, and does", old.leader)
	if err := d.children[old.leader].Thaw(); err != nil {
		return false, err
	}
	if err := show.Await(ctx, func() bool { return d.history.hasStopped(old.fence) }); err != nil {
		return false, fmt.Errorf("%s still works: %w", old.leader, err)
	}
	return d.resource.account().rejected[old.fence] > 0, d.work(ctx, next, workTime/2)
}

// freezeBeforeWrite freezes the leader between its look at the lease and its write. The
// resource knows that the leader is there: it has read and not yet written. If the
// write arrives nevertheless, the signal was late, and the leader goes on.
func (d *demo) freezeBeforeWrite(ctx context.Context) (term, error) {
	for {
		leader, err := d.leader(ctx)
		if err != nil {
			return leader, err
		}
		preparing := func() bool { return d.resource.aboutToWrite(leader.fence) }
		if err := show.Await(ctx, preparing); err != nil {
			return leader, fmt.Errorf("%s does not work: %w", leader.leader, err)
		}
		at := time.Now()
		if err := d.children[leader.leader].Freeze(); err != nil {
			return leader, err
		}
		time.Sleep(settleTime)
		if preparing() {
			d.history.strike(leader.fence, at, endFreeze)
			d.timeline.Add(at, show.Demo, show.Plain, "freezes %s (SIGSTOP), which has seen that it leads and is about to write", leader.leader)
			return leader, nil
		}
		if err := d.children[leader.leader].Thaw(); err != nil {
			return leader, err
		}
	}
}
