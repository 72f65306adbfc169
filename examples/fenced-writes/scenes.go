package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// workTime is how long the leader works in each scene.
const workTime = 1500 * time.Millisecond

// scene is a part of the show.
type scene struct {
	title string
	play  func(*demo, context.Context) error
}

var scenes = []scene{
	{"1. Election: three replicas, one of them sends", (*demo).elect},
	{"2. Crash: the leader is killed (SIGKILL), and its lease has to run out", (*demo).crash},
	{"3. Frozen leader: it stands still for longer than its lease (SIGSTOP), and writes when it wakes up", (*demo).freeze},
	{"4. The end: the followers stop first, then the leader", (*demo).finish},
}

func (d *demo) playScenes(ctx context.Context) error {
	for _, s := range scenes {
		d.timeline.Scene(s.title)
		if err := s.play(d, ctx); err != nil {
			return fmt.Errorf("scene %q: %w", s.title, err)
		}
	}
	return nil
}

func (d *demo) elect(ctx context.Context) error {
	if err := d.cast.Start(replicas); err != nil {
		return err
	}
	leader, err := d.cast.LeaderAfter(ctx, 0)
	if err != nil {
		return err
	}
	return d.work(ctx, leader)
}

func (d *demo) crash(ctx context.Context) error {
	old, err := d.cast.LeaderAfter(ctx, 0)
	if err != nil {
		return err
	}
	d.timeline.Now(show.Demo, "kills %s, and starts it again: three stay in the race", old.Leader)
	if err := d.cast.Kill(old); err != nil {
		return err
	}
	next, err := d.cast.LeaderAfter(ctx, old.Fence)
	if err != nil {
		return err
	}
	return d.work(ctx, next)
}

func (d *demo) finish(context.Context) error {
	d.cast.Stop()
	return nil
}

// work lets time pass and says what became of it.
func (d *demo) work(ctx context.Context, leader show.Reign) error {
	before, err := sent(ctx, d.db, leader.Fence)
	if err != nil {
		return err
	}
	if err := show.Pause(ctx, workTime); err != nil {
		return err
	}
	n := 0
	err = show.Await(ctx, func() bool {
		n, err = sent(ctx, d.db, leader.Fence)
		return err != nil || n > before
	})
	if err != nil {
		return fmt.Errorf("%s has sent nothing: %w", leader.Leader, err)
	}
	d.timeline.Now("database", "has accepted %d invoices stamped %d (%s)", n-before, leader.Fence, leader.Leader)
	return nil
}
