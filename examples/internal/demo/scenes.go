package demo

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	workTime     = 2 * time.Second        // of the leader, in each scene
	settleTime   = 50 * time.Millisecond  // for a write that was under way at the freeze
	frozenLonger = 500 * time.Millisecond // than until another one leads
)

// Scene is a part of a show. Play is called with the term of whoever leads.
type Scene struct {
	Title string
	Play  func(ctx context.Context, c *Cluster, leader Term) error
}

// The scenes that every example can use.
var (
	// HandOver asks the leader to end. It finishes its write and releases the lock, so
	// nobody has to wait for a lease to run out.
	HandOver = Scene{"Graceful hand-over: the leader is asked to end (" + politely + ")", handOver}

	// Crash kills the leader. It can do nothing more, so the others wait for its lease.
	Crash = Scene{"Crash: the leader is killed (SIGKILL), and its lease has to run out", crash}

	// Freeze has the leader stand still for longer than its lease, just before a write.
	Freeze = Scene{"Frozen leader: it stands still for longer than its lease (SIGSTOP), and writes when it wakes up", freeze}

	ending = Scene{"The end: the followers stop first, then the leader", end}
)

// CrashEvery kills the leader again and again, for as long as -for says, and starts its
// replica again at once. A kill that is late, because nobody led or the leader had not
// written yet, does not delay the next one.
func CrashEvery(period time.Duration) Scene {
	return Scene{fmt.Sprintf("Crashes: the leader is killed (SIGKILL) every %v", period),
		func(ctx context.Context, c *Cluster, leader Term) (err error) {
			due := time.Now()
			for end := due.Add(c.Duration()); err == nil && due.Before(end); {
				due = due.Add(period)
				if err = c.Work(ctx, leader, time.Until(due)); err == nil {
					c.kill(leader)
					err = c.restart(leader.Replica)
				}
				if err == nil {
					leader, err = c.Leader(ctx, leader)
				}
			}
			return err
		}}
}

// elect starts the replicas.
func (c *Cluster) elect(ctx context.Context) error {
	for _, identity := range []string{"replica-1", "replica-2", "replica-3"} {
		if err := c.start(identity); err != nil {
			return err
		}
	}
	leader, err := c.Leader(ctx, Term{})
	if err == nil && c.show.HTTP {
		err = c.askAll(ctx, leader)
	}
	if err != nil {
		return err
	}
	return c.Work(ctx, leader, workTime)
}

// askAll: all replicas have to be ready, although only one leads, and to know who does.
func (c *Cluster) askAll(ctx context.Context, leader Term) error {
	for identity, r := range c.replicas {
		err := Await(ctx, func() bool {
			code, _ := r.get("/readyz")
			_, status := r.get("/leader")
			return code == http.StatusOK && strings.Contains(status, `"leader":"`+leader.Replica+`"`)
		})
		if err != nil {
			return fmt.Errorf("%s is not ready, or does not know who leads: %w", identity, err)
		}
	}
	c.Say("all three are ready, and say on /leader that %s leads", leader.Replica)
	return nil
}

func handOver(ctx context.Context, c *Cluster, leader Term) error {
	c.Say("sends %s to %s", politely, leader.Replica)
	c.breaks++
	c.expect(leader.Replica, "hand-over ("+politely+")")
	c.replicas[leader.Replica].ask()
	return c.succeed(ctx, leader)
}

func crash(ctx context.Context, c *Cluster, leader Term) error {
	c.kill(leader)
	return c.succeed(ctx, leader)
}

func (c *Cluster) kill(leader Term) {
	c.Say("sends SIGKILL to %s", leader.Replica)
	c.breaks++
	c.expect(leader.Replica, "crash (SIGKILL)")
	c.replicas[leader.Replica].kill()
}

// succeed waits for the leader after old, has it work, and starts the replica of old
// again: late, so that another one leads.
func (c *Cluster) succeed(ctx context.Context, old Term) error {
	next, err := c.Leader(ctx, old)
	if err == nil {
		err = c.restart(old.Replica)
	}
	if err != nil {
		return err
	}
	return c.Work(ctx, next, workTime)
}

// freeze has a leader frozen just before a write and woken up too late for it.
func freeze(ctx context.Context, c *Cluster, leader Term) error {
	if !canFreeze {
		c.Say("left out: this system has no signal that freezes a process")
		return nil
	}
	if err := c.freezeBeforeWrite(ctx, leader); err != nil {
		return err
	}
	next, err := c.Leader(ctx, leader)
	if err == nil {
		err = c.Work(ctx, next, frozenLonger)
	}
	if err != nil {
		return err
	}
	c.Say("wakes %s up (SIGCONT): it was about to write, and does", leader.Replica)
	c.replicas[leader.Replica].thaw()
	if err := Await(ctx, func() bool { return c.counted(c.rejected, leader.Fence) > 0 }); err != nil {
		return fmt.Errorf("no write of %s was rejected: %w", leader.Replica, err)
	}
	return c.Work(ctx, next, workTime/2)
}

// freezeBeforeWrite freezes the leader between its look at the term and its write. If
// the write has arrived nevertheless, the signal was late, and the leader goes on.
func (c *Cluster) freezeBeforeWrite(ctx context.Context, leader Term) error {
	c.breaks++
	c.freezes++
	for r := c.replicas[leader.Replica]; ; r.thaw() {
		round := c.counted(c.rounds, leader.Fence)
		if err := Await(ctx, func() bool { return c.counted(c.rounds, leader.Fence) > round }); err != nil {
			return fmt.Errorf("%s does not log %q: %w", leader.Replica, c.show.FreezeAt, err)
		}
		at := time.Now()
		r.freeze()
		time.Sleep(settleTime)
		writes, err := c.store.Writes(ctx)
		if err == nil && countByToken(writes)[leader.Fence] < c.counted(c.rounds, leader.Fence) {
			c.markEnded(leader.Replica, at, "frozen beyond its lease (SIGSTOP)")
			c.Say("has frozen %s (SIGSTOP), which has seen that it leads and is about to write", leader.Replica)
			return nil
		}
	}
}

func end(_ context.Context, c *Cluster, leader Term) error {
	c.expect(leader.Replica, "end of the show")
	c.stop()
	return nil
}
