package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// settleTime is for a write that was under way when its sender was frozen.
const settleTime = 30 * time.Millisecond

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
	next, err := d.cast.LeaderAfter(ctx, old.Fence)
	if err != nil {
		return false, err
	}
	if err := d.work(ctx, next); err != nil {
		return false, err
	}
	d.timeline.Now(show.Demo, "wakes %s up (SIGCONT): it was about to write, and does", old.Leader)
	if err := d.cast.Child(old.Leader).Thaw(); err != nil {
		return false, err
	}
	if err := show.Await(ctx, func() bool { return !d.aboutToWrite(old.Fence) }); err != nil {
		return false, fmt.Errorf("%s did not write: %w", old.Leader, err)
	}
	return d.rejections(old.Fence) > 0, d.work(ctx, next)
}

// freezeBeforeWrite freezes the leader between its look at the lease and its write. If
// it had begun to write already, the signal was late, and the leader goes on.
func (d *demo) freezeBeforeWrite(ctx context.Context) (show.Reign, error) {
	for {
		leader, err := d.cast.LeaderAfter(ctx, 0)
		if err != nil {
			return leader, err
		}
		if err := show.Await(ctx, func() bool { return d.aboutToWrite(leader.Fence) }); err != nil {
			return leader, fmt.Errorf("%s does not work: %w", leader.Leader, err)
		}
		at := time.Now()
		if err := d.cast.Child(leader.Leader).Freeze(); err != nil {
			return leader, err
		}
		time.Sleep(settleTime)
		if d.aboutToWrite(leader.Fence) && d.unlocked(ctx) {
			d.cast.Strike(leader.Fence, at)
			d.timeline.Add(at, show.Demo, show.Plain, "freezes %s (SIGSTOP), which has seen that it leads and is about to write", leader.Leader)
			return leader, nil
		}
		if err := d.cast.Child(leader.Leader).Thaw(); err != nil {
			return leader, err
		}
	}
}

// unlocked reports whether nobody is in a transaction for long. A leader that is frozen
// inside one keeps SQLite's write lock, and so does no harm, but holds up everybody. (A
// server of a database ends such a session after a while.)
func (d *demo) unlocked(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*settleTime)
	defer cancel()
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return false
	}
	_ = tx.Rollback()
	return true
}
