package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// Cluster is the replicas of a show, and what is known of them. Its exported methods are
// for scenes.
type Cluster struct {
	show     Show
	opts     options
	env      []string // of the replicas
	store    Store
	timeline *timeline
	fail     context.CancelCauseFunc // ends the show
	replicas map[string]*replica     // by identity; of the goroutine that plays the scenes alone
	breaks   int                     // how many terms the show has ended while others stood by
	freezes  int                     // how many of them left a late write behind

	mu       sync.Mutex // guards what follows
	terms    []Term
	rejected map[int64]int // writes, by token
	rounds   map[int64]int // how often FreezeAt was logged, by token
}

// Duration is what -for says.
func (c *Cluster) Duration() time.Duration { return c.opts.duration }

// Say puts what the show itself does on the timeline.
func (c *Cluster) Say(format string, args ...any) {
	c.timeline.add(time.Now(), "demo", plain, format, args...)
}

// Leader waits until somebody leads in a term that began after another one. The zero
// Term comes before all.
func (c *Cluster) Leader(ctx context.Context, after Term) (found Term, err error) {
	err = Await(ctx, func() bool {
		found = c.last()
		return found.open() && found.Started.After(after.Started)
	})
	if err != nil {
		return found, fmt.Errorf("nobody leads: %w", err)
	}
	return found, nil
}

// Work lets the leader of a term work for d, and says how many of its writes were
// accepted.
func (c *Cluster) Work(ctx context.Context, term Term, d time.Duration) error {
	before, accepted := c.accepted(ctx, term), 0
	if err := leader.Sleep(ctx, d); err != nil {
		return err
	}
	err := Await(ctx, func() bool { accepted = c.accepted(ctx, term) - before; return accepted > 0 })
	if err != nil {
		return fmt.Errorf("no write of %s was accepted: %w", term.Replica, err)
	}
	c.timeline.add(time.Now(), "store", plain, "accepted %d writes stamped %d (%s)", accepted, term.Fence, term.Replica)
	return nil
}

// accepted counts the writes that the store has accepted from a term. A store that fails
// ends the show.
func (c *Cluster) accepted(ctx context.Context, of Term) int {
	writes, err := c.store.Writes(ctx)
	if err != nil {
		c.fail(fmt.Errorf("store: %w", err))
	}
	return countByToken(writes)[of.Fence]
}

// start starts a replica, for the first time or again after its end.
func (c *Cluster) start(identity string) error {
	r := &replica{identity: identity}
	r.onLine = func(line []byte) { c.heard(r, line) }
	r.onExit = func() { c.exited(r) }
	if err := r.start(append(c.env, "IDENTITY="+identity)); err != nil {
		return fmt.Errorf("%s: %w", identity, err)
	}
	c.replicas[identity] = r
	c.timeline.add(time.Now(), identity, plain, "started, pid %d", r.cmd.Process.Pid)
	return nil
}

// restart starts a replica again, once it has ended.
func (c *Cluster) restart(identity string) error {
	c.replicas[identity].wait()
	return c.start(identity)
}

// stop stops all replicas, the leader last: otherwise another one would take over for a
// moment.
func (c *Cluster) stop() {
	leader := c.last().Replica
	for _, leads := range []bool{false, true} {
		for identity, r := range c.replicas {
			if (identity == leader) == leads {
				r.ask()
				r.wait()
			}
		}
	}
}

// event is a record of a replica's log.
type event struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Message string    `json:"msg"`
	Fence   int64     `json:"fence"`
	Reason  string    `json:"reason"`
	Address string    `json:"address"`
	Error   string    `json:"error"`
	Err     string    `json:"err"` // what logr calls it, and so the elector
}

// heard is told of each line of a replica's log.
func (c *Cluster) heard(r *replica, line []byte) {
	var e event
	tell := func(s style, format string, args ...any) { c.timeline.add(e.Time, r.identity, s, format, args...) }
	if err := json.Unmarshal(line, &e); err != nil || e.Message == "" { // such as a panic
		e.Time = time.Now()
		tell(red, "%s", strings.TrimSpace(string(line)))
		return
	}
	switch {
	case e.Message == "Became leader":
		tell(green, "LEADS with fencing token %d%s", e.Fence, vacancy(c.last(), e.Time))
		c.begin(Term{Replica: r.identity, Fence: e.Fence, Started: e.Time})
	case e.Message == "Term ended":
		c.markEnded(r.identity, e.Time, e.Reason)
		tell(plain, "its term has ended: %s", e.Reason)
	case e.Message == "Listening":
		r.address.Store(e.Address)
		tell(plain, "says who leads on http://%s/leader", e.Address)
	case e.Message == "Write rejected":
		c.count(c.rejected, e.Fence)
		tell(red, "its late write is REJECTED: %s", cmp.Or(e.Error, e.Err))
	case e.Message == c.show.FreezeAt:
		c.count(c.rounds, e.Fence)
	case e.Level == "ERROR":
		tell(red, "%s: %s", e.Message, cmp.Or(e.Error, e.Err))
	}
}

// vacancy says how long nobody led before an instant.
func vacancy(before Term, at time.Time) string {
	if before.open() {
		return ""
	}
	return ", " + seconds(at.Sub(before.Ended)) + " after the last leader"
}

func (c *Cluster) count(counts map[int64]int, fence int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts[fence]++
}

func (c *Cluster) counted(counts map[int64]int, fence int64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return counts[fence]
}

// exited is told when a replica has ended.
func (c *Cluster) exited(r *replica) {
	c.markEnded(r.identity, time.Now(), "unknown")
	if r.endedWell() {
		c.timeline.add(time.Now(), r.identity, plain, "has ended (%v)", r.cmd.ProcessState)
		return
	}
	c.timeline.add(time.Now(), r.identity, red, "has FAILED (%v)", r.cmd.ProcessState)
	c.fail(fmt.Errorf("%s has failed: %v", r.identity, r.cmd.ProcessState))
}

const (
	awaitLimit = 15 * time.Second     // for anything that is waited for
	pollPeriod = 2 * time.Millisecond // short, as the gap in which to freeze a leader is
)

// Await waits until a condition holds, for 15 s at the most.
func Await(ctx context.Context, condition func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, awaitLimit, fmt.Errorf("waited for %v", awaitLimit))
	defer cancel()
	for !condition() {
		if err := leader.Sleep(ctx, pollPeriod); err != nil {
			return err
		}
	}
	return nil
}
