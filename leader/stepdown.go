package leader

import (
	"context"
	"errors"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// stepDown is the state of a leader that drains. The order of its steps is what makes a
// hand-over safe: this candidate stops claiming that it leads before its work is told
// to stop, and it does not give up the lock while the work runs. The error is nil or
// ErrDrainTimeout; after the latter the lock is left to run out.
func (c *candidate) stepDown(l *leadership, reason error) error {
	c.leading.Store(nil)                // no longer leader
	why := c.observeEnd(l.term, reason) // gauges
	l.term.end(reason)                  // the work's context is done
	c.logEnd(l, why)                    // not before, since a log can block
	outcome := c.drain(l)               // OnStartedLeading returns, then OnStoppedLeading
	if outcome == nil {
		c.release(l) // only now may another candidate lead
	}
	c.held.Store(nil)
	l.term.resignation.finish(outcome)
	return outcome
}

// observeEnd tells the Observer that a term has ended, if it had begun, and why.
func (c *candidate) observeEnd(t *term, reason error) EndReason {
	c.observed.Store(nil)
	why := c.endReason(reason)
	if t.begun.Load() {
		lasted := time.Since(t.startedAt)
		c.history.add(PastTerm{t.fence.Load(), t.startedAt, lasted, why})
		c.cfg.Observer.TermEnded(c.cfg.Name, why, lasted)
	}
	return why
}

// logEnd logs the end of a term. The first time that the work has returned early, it
// explains what that means, because in client-go work may return.
func (c *candidate) logEnd(l *leadership, why EndReason) {
	defer close(l.work.logged)
	t := l.term
	if !t.begun.Load() {
		return
	}
	c.cfg.Logger.Info("Term ended", "fence", t.fence.Load(), "reason", why, "cause", context.Cause(t.ctx).Error())
	if why == EndedReturned && !c.explained {
		c.explained = true
		c.cfg.Logger.Info("OnStartedLeading returned early, which ends the term: the work must return only when its context is done")
	}
}

func (c *candidate) observeDrained(t *term) {
	if t.begun.Load() {
		c.cfg.Observer.TermDrained(c.cfg.Name)
	}
}

func (c *candidate) endReason(reason error) EndReason {
	switch {
	case c.panics.recorded():
		return EndedPanicked
	case errors.Is(reason, ErrFailed) && errors.Is(reason, ErrDeposed):
		return EndedDeposed
	case errors.Is(reason, ErrFailed):
		return EndedFailed
	case errors.Is(reason, ErrLost):
		return EndedLost
	case errors.Is(reason, ErrExpired):
		return EndedExpired
	case errors.Is(reason, ErrResigned):
		return EndedResigned
	case errors.Is(reason, ErrReturned):
		return EndedReturned
	default:
		return EndedStopped
	}
}

// drain waits for the callbacks of a term that has ended. The lease is renewed as long
// as it is ours, so that no other candidate starts before this one's work has stopped.
func (c *candidate) drain(l *leadership) error {
	defer c.observeDrained(l.term)
	defer l.renewal.stop()
	timeout := time.NewTimer(c.cfg.DrainTimeout)
	defer timeout.Stop()
	for {
		select {
		case <-l.work.stopped:
			return nil
		case <-timeout.C:
			c.abandoned.Store(l.work)
			c.cfg.Logger.Error(ErrDrainTimeout, "Leaving the work running and the lock to run out", "fence", l.term.fence.Load())
			return ErrDrainTimeout
		case <-l.renewal.due.C:
			l.renewal.attempt()
		case a := <-l.renewal.answers:
			_ = c.handleAnswer(l.renewal, a) // lost: nothing is left to renew
		}
	}
}

// releaseAttempts is how often to try to release a lock before leaving it to run out.
const releaseAttempts = 3

// release deletes the lock, if it is still ours on the server, so that the next leader
// need not wait for it to run out. If all attempts fail, it runs out.
func (c *candidate) release(l *leadership) {
	lock := l.renewal.lock
	expiry := time.Now().Add(lock.Remaining())
	for attempt := range releaseAttempts {
		if attempt > 0 && time.Until(expiry) <= 0 {
			return
		}
		sleep(context.Background(), time.Duration(attempt)*c.timing.pause)
		err := c.releaseOnce(lock)
		if err == nil {
			c.logRelease(l.term)
			return
		}
		if errors.Is(err, redislock.ErrLockNotHeld) {
			return
		}
		c.errors.report("Cannot release the lock", err)
	}
}

// logRelease logs that the lock of a term was released, if the term had begun. While
// FenceFloor fails, each attempt obtains the lock and releases it, which is not worth a
// line.
func (c *candidate) logRelease(t *term) {
	if t.begun.Load() {
		c.cfg.Logger.Info("Lock released", "fence", t.fence.Load())
	}
}

// releaseOnce makes one attempt, with a context of its own because that of Run may have
// ended.
func (c *candidate) releaseOnce(l lock) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.timing.acquire)
	defer cancel()
	return l.Release(ctx)
}
