package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// workTime is how long the leader works in each scene.
const workTime = 2 * time.Second

var identities = []string{"replica-1", "replica-2", "replica-3"}

// scene is a part of the show.
type scene struct {
	title string
	play  func(*demo, context.Context) error
}

var scenes = []scene{
	{"1. Election: three replicas, one of them leads", (*demo).elect},
	{"2. Graceful hand-over: the leader is asked to end (" + show.Politely + ")", (*demo).handOver},
	{"3. Crash: the leader is killed (SIGKILL), and its lease has to run out", (*demo).crash},
	{"4. Frozen leader: it stands still for longer than its lease (SIGSTOP), and writes when it wakes up", (*demo).freeze},
	{"5. The end: the followers stop first, then the leader", (*demo).finish},
}

// wanted is what the scenes are to show on this system.
func wanted() criteria {
	if show.CanFreeze {
		return criteria{changes: 3, rejections: 1}
	}
	return criteria{changes: 2, rejections: 0}
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

// elect starts the replicas. All of them have to be ready, although only one leads.
func (d *demo) elect(ctx context.Context) error {
	for _, identity := range identities {
		if err := d.startReplica(identity); err != nil {
			return err
		}
	}
	for _, c := range d.children {
		if err := show.Await(ctx, func() bool { return c.ready(ctx) }); err != nil {
			return fmt.Errorf("%s is not ready: %w", c, err)
		}
	}
	d.timeline.Now(show.Demo, "all three are ready: /readyz does not depend on leading")
	leader, err := d.leader(ctx)
	if err != nil {
		return err
	}
	if err := d.askFollower(ctx, leader); err != nil {
		return err
	}
	return d.work(ctx, leader, workTime)
}

// askFollower: whoever wants to know who leads can ask any replica.
func (d *demo) askFollower(ctx context.Context, leader term) error {
	for _, c := range d.children {
		if c.Identity == leader.leader {
			continue
		}
		var v view
		var err error
		if awaited := show.Await(ctx, func() bool { v, err = c.view(ctx); return v.Leader != "" }); awaited != nil {
			return fmt.Errorf("%s does not know who leads: %w", c, errors.Join(awaited, err))
		}
		d.timeline.Now(c.Identity, "when asked on /leader: state %s, the leader is %s", v.State, v.Leader)
		return nil
	}
	return nil
}

// handOver: the old leader finishes its write and releases the lock, so nobody has to
// wait for a lease to run out.
func (d *demo) handOver(ctx context.Context) error {
	old, err := d.leader(ctx)
	if err != nil {
		return err
	}
	d.timeline.Now(show.Demo, "sends %s to %s", show.Politely, old.leader)
	d.history.expect(old.fence, endHandOver)
	d.children[old.leader].Ask()
	return d.succeed(ctx, old)
}

// crash: the old leader can do nothing more, so the others wait for its lease to run out.
func (d *demo) crash(ctx context.Context) error {
	old, err := d.leader(ctx)
	if err != nil {
		return err
	}
	d.timeline.Now(show.Demo, "sends SIGKILL to %s", old.leader)
	d.history.strike(old.fence, time.Now(), endCrash)
	d.children[old.leader].Kill()
	return d.succeed(ctx, old)
}

// succeed waits for the leader after old, has it work, and fills the place of old,
// which has ended. It is filled late, so that another one leads.
func (d *demo) succeed(ctx context.Context, old term) error {
	next, err := d.leaderAfter(ctx, old)
	if err != nil {
		return err
	}
	select {
	case <-d.children[old.leader].Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	d.timeline.Now(show.Demo, "starts %s again: three stay in the race", old.leader)
	if err := d.startReplica(old.leader); err != nil {
		return err
	}
	return d.work(ctx, next, workTime)
}

// finish stops the replicas, the leader last: otherwise another one would take over for
// a moment.
func (d *demo) finish(ctx context.Context) error {
	leader, err := d.leader(ctx)
	if err != nil {
		return err
	}
	for identity, c := range d.children {
		if identity != leader.leader {
			c.Stop()
		}
	}
	d.history.expect(leader.fence, endOfDemo)
	d.children[leader.leader].Stop()
	return nil
}

// work lets time pass and says what became of it.
func (d *demo) work(ctx context.Context, leader term, during time.Duration) error {
	before := d.resource.account().accepted[leader.fence]
	select {
	case <-time.After(during):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	accepted := func() int { return d.resource.account().accepted[leader.fence] - before }
	if err := show.Await(ctx, func() bool { return accepted() > 0 }); err != nil {
		return fmt.Errorf("no write of %s was accepted: %w", leader.leader, err)
	}
	d.timeline.Now(whoResource, "accepted %d writes stamped %d (%s)", accepted(), leader.fence, leader.leader)
	return nil
}
