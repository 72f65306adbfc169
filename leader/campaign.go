package leader

import (
	"context"
	"errors"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock"
)

// campaign is the state of a candidate. It tries to obtain the lock, first after pause,
// and returns when it has succeeded. It returns nil if ctx ends first.
func (c *candidate) campaign(ctx context.Context, pause time.Duration) *leadership {
	if !sleep(ctx, pause) {
		return nil
	}
	for {
		l, next := c.tryToObtain(ctx)
		if l != nil || !c.wait.until(ctx, next) {
			return l
		}
	}
}

// tryToObtain makes one attempt. If it fails, the second result is how long to wait
// before the next. The call runs on this goroutine: a candidate has no deadline to
// meet, and an attempt must be over before the next one starts.
func (c *candidate) tryToObtain(ctx context.Context) (*leadership, time.Duration) {
	var holder *redislock.Holder
	sent := c.now()
	lock, err := c.obtain(ctx, redislock.Options{OnHeld: func(h redislock.Holder) { holder = &h }})
	if err == nil && c.now().Since(sent) >= c.timing.deadline {
		_ = c.releaseOnce(lock) // if this fails, it runs out
		err = errors.New("leader: the lock was obtained too late to be of use")
	}
	switch {
	case err == nil:
		c.foreign = ""
		c.cfg.Observer.AcquireAttempted(c.cfg.Name, AcquireWon)
		c.errors.clear()
		return c.newLeadership(ctx, sent, lock), 0
	case holder != nil:
		c.cfg.Observer.AcquireAttempted(c.cfg.Name, AcquireHeld)
		c.errors.clear()
		c.observe(*holder)
		return nil, c.untilVacant(*holder)
	case ctx.Err() != nil:
		return nil, 0
	default:
		c.cfg.Observer.AcquireAttempted(c.cfg.Name, AcquireFailed)
		c.errors.report("Cannot obtain the lock", err)
		return nil, c.timing.poll()
	}
}

func (c *candidate) newLeadership(ctx context.Context, sent clock.Instant, l lock) *leadership {
	t := newTerm(ctx, c.Elector, sent, l.FenceToken())
	return &leadership{term: t, renewal: newRenewal(t, l, c.timing, &c.calls), work: newWork(t, &c.cfg, &c.panics)}
}

// obtain sends one request for the lock, with the options that all of them share.
func (c *candidate) obtain(ctx context.Context, opt redislock.Options) (lock, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.acquire)
	defer cancel()
	opt.Metadata = c.record
	opt.FenceKey = c.fenceKey
	opt.FenceFloor = max(opt.FenceFloor, c.highest.Load())
	opt.FenceClock = true
	opt.Announce = true
	return c.locker.Obtain(ctx, c.key, c.timing.lease, &opt)
}

// untilVacant is how long to wait for a held lock: until it runs out, but no longer
// than until the next poll.
func (c *candidate) untilVacant(h redislock.Holder) time.Duration {
	wait := c.timing.poll()
	if h.TTL >= 0 {
		wait = min(wait, afterExpiry(h.TTL))
	}
	return wait
}

// observe notes who holds the lock.
func (c *candidate) observe(h redislock.Holder) {
	if h.Foreign {
		c.observeForeign(h.Metadata)
		return
	}
	c.foreign = ""
	c.sawToken(h.FenceToken)
	record := decodeLeaderRecord(h.Metadata)
	leader := Leader{record.Identity, h.FenceToken, record.Metadata}
	last := c.observed.Swap(&observation{leader, c.now(), h.TTL})
	if h.TTL < 0 && (last == nil || last.ttl >= 0) {
		c.cfg.Logger.Info("The lock has no time to live: it stays until its holder renews it or, if the holder is gone, somebody deletes it", "key", c.key)
	}
	if last != nil && last.leader.Identity == leader.Identity && last.leader.FenceToken == leader.FenceToken {
		return
	}
	c.cfg.Observer.LeaderChanged(c.cfg.Name, leader)
	c.cfg.Logger.Info("New leader", "leader", leader.Identity, "fence", leader.FenceToken)
	c.notifier.notify(leader.Identity)
}

// observeForeign logs once that the lock's key holds something else.
func (c *candidate) observeForeign(what string) {
	c.observed.Store(nil)
	if c.foreign != what {
		c.foreign = what
		c.cfg.Logger.Error(nil, "The key of the lock holds something that is not a lock: it is left alone, and nobody can lead until somebody deletes it",
			"key", c.key, "holds", what)
	}
}

// sleep waits for d and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
