package leader

import (
	"context"
	"errors"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// campaign is the state of a candidate: it tries to obtain the lock, first after pause,
// until it has it or ctx ends. Then it returns nil.
func (e *Elector) campaign(ctx context.Context, pause time.Duration) *term {
	if !sleep(ctx, pause) {
		return nil
	}
	for {
		t, next := e.tryToObtain(ctx)
		if t != nil || !e.vigil.keep(ctx, next) {
			return t
		}
	}
}

// tryToObtain makes one attempt. If it fails, it says how long to wait before the next.
// The call runs on this goroutine: a candidate has no deadline to meet, and an attempt
// must be over before the next one starts.
func (e *Elector) tryToObtain(ctx context.Context) (*term, time.Duration) {
	var holder *redislock.Holder
	sent := e.now()
	l, err := e.obtain(ctx, redislock.Options{OnHeld: func(h redislock.Holder) { holder = &h }})
	if err == nil && e.now().Since(sent) >= e.timing.deadline {
		_ = e.releaseOnce(l) // it runs out if this fails
		err = errors.New("leader: the lock was obtained too late to be of use")
	}
	switch {
	case err == nil:
		e.foreign = ""
		e.cfg.Observer.AcquireAttempted(e.cfg.Name, AcquireWon)
		e.trouble.clear()
		return newTerm(ctx, e, sent, l), 0
	case holder != nil:
		e.cfg.Observer.AcquireAttempted(e.cfg.Name, AcquireHeld)
		e.trouble.clear()
		e.observe(*holder)
		return nil, e.untilVacant(*holder)
	case ctx.Err() != nil:
		return nil, 0
	default:
		e.cfg.Observer.AcquireAttempted(e.cfg.Name, AcquireFailed)
		e.trouble.report("Cannot obtain the lock", err)
		return nil, e.timing.poll()
	}
}

// obtain calls the lock with what is the same for each attempt.
func (e *Elector) obtain(ctx context.Context, opt redislock.Options) (lock, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timing.acquire)
	defer cancel()
	opt.Metadata = e.card
	opt.FenceKey = fenceKey(e.key)
	opt.FenceFloor = max(opt.FenceFloor, e.seen)
	opt.FenceClock = true
	opt.Announce = true
	return e.locker.Obtain(ctx, e.key, e.timing.lease, &opt)
}

// untilVacant is how long to wait for a held lock: until it runs out, but no longer
// than until the next poll.
func (e *Elector) untilVacant(h redislock.Holder) time.Duration {
	wait := e.timing.poll()
	if h.TTL >= 0 {
		wait = min(wait, afterExpiry(h.TTL))
	}
	return wait
}

// sleep waits for d and reports whether ctx is still alive.
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
