package show

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

const replicaPrefix = "replica-"

// Cast are the replicas of a demo, and who of them led when.
type Cast struct {
	Timeline *Timeline
	Args     func(identity string) []string // for the process of a replica
	Env      []string                       // added to its environment
	OnEvent  func(identity string, e Event) // called for what the cast does not understand itself; of one replica in order
	Fail     func(error)                    // called when a replica ends that nobody told to

	mu       sync.Mutex
	children map[string]*Child // by identity
	reigns   []Reign           // in the order of their fence tokens
}

// Start starts n replicas, replica-1 and so on.
func (c *Cast) Start(n int) error {
	c.children = make(map[string]*Child)
	for i := range n {
		if err := c.Restart(fmt.Sprint(replicaPrefix, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// Restart starts a replica, for the first time or again after its end.
func (c *Cast) Restart(identity string) error {
	child := &Child{Identity: identity, OnLine: func(line []byte) { c.heard(identity, line) }}
	child.OnExit = func() { c.exited(child) }
	if err := child.Start(c.Args(identity), c.Env); err != nil {
		return fmt.Errorf("%s: %w", identity, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.children[identity] = child
	return nil
}

// Child is the process of a replica that was started.
func (c *Cast) Child(identity string) *Child {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.children[identity]
}

// Stop stops all replicas that run, the leader last: otherwise another one would take
// over for a moment.
func (c *Cast) Stop() {
	leader, _ := c.Leader()
	var followers sync.WaitGroup
	for identity, child := range c.children {
		if identity != leader.Leader {
			followers.Go(child.Stop)
		}
	}
	followers.Wait()
	if child, ok := c.children[leader.Leader]; ok {
		child.Stop()
	}
}

// Kill kills the leader and starts its replica again.
func (c *Cast) Kill(leader Reign) error {
	child := c.Child(leader.Leader)
	c.Strike(leader.Fence, time.Now())
	child.Kill()
	<-child.Done()
	return c.Restart(leader.Leader)
}

// LeaderAfter waits until somebody leads with a higher fence token than that.
func (c *Cast) LeaderAfter(ctx context.Context, fence int64) (found Reign, err error) {
	err = Await(ctx, func() (ok bool) {
		found, ok = c.Leader()
		return ok && found.Fence > fence
	})
	if err != nil {
		return found, fmt.Errorf("nobody leads: %w", err)
	}
	return found, nil
}

// heard is told of each line of a replica's log.
func (c *Cast) heard(identity string, line []byte) {
	e, ok := ParseEvent(line)
	switch {
	case !ok:
		c.Timeline.Add(time.Now(), identity, Red, "%s", strings.TrimSpace(string(line)))
	case e.Message == MsgWorkStarted:
		c.Timeline.Add(e.Time, identity, Green, "LEADS with fence token %d%s", e.Fence, c.begin(identity, e))
	case e.Message == MsgWorkStopped:
		c.Strike(e.Fence, e.Time)
		c.Timeline.Add(e.Time, identity, Plain, "has stopped its work: %s", e.Cause)
	case e.Level == "ERROR":
		c.Timeline.Add(e.Time, identity, Red, "%s: %s", e.Message, cmp.Or(e.Error, e.Err))
	case c.OnEvent != nil:
		c.OnEvent(identity, e)
	}
}

// exited is told when a replica has ended.
func (c *Cast) exited(child *Child) {
	c.bury(child.Identity, time.Now())
	if child.Expected() {
		return
	}
	c.Timeline.Add(time.Now(), child.Identity, Red, "ended unexpectedly (%s)", child.Exit())
	c.Fail(fmt.Errorf("%s ended unexpectedly: %s", child, child.Exit()))
}
