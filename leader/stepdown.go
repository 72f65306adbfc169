package leader

import (
	"context"
	"errors"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// stepDown is the state of a leader that drains. The order of its steps is what makes a
// hand-over safe: nobody is told that this candidate leads after its work was told to
// stop, and the lock is not given up while the work runs. The error is nil or
// ErrDrainTimeout; after that one the lock is left to run out.
func (e *Elector) stepDown(t *term, reason error) error {
	defer e.held.Store(nil)
	defer close(t.over)

	e.leading.Store(nil)        // no longer leader
	why := e.tellEnd(t, reason) // gauges
	t.end(reason)               // the work's context is done
	e.logEnd(t, why)            // not before, since a log can block
	t.outcome = e.drain(t)      // OnStartedLeading returns, then OnStoppedLeading; the lease is renewed meanwhile
	if t.outcome == nil {       // all has stopped,
		e.release(t.renewal) // and only now may another candidate lead
	}
	return t.outcome
}

// tellEnd says that a term which had begun has ended, and why.
func (e *Elector) tellEnd(t *term, reason error) EndReason {
	e.observed.Store(nil)
	why := e.endReason(reason)
	if t.began() {
		lasted := time.Since(t.startedAt)
		e.history.add(pastTerm{t.fence, t.startedAt, lasted, why})
		e.cfg.Observer.TermEnded(e.cfg.Name, why, lasted)
	}
	return why
}

func (e *Elector) logEnd(t *term, why EndReason) {
	if t.began() {
		e.cfg.Logger.Info("Stopped leading", "fence", t.fence, "reason", why)
	}
}

func (e *Elector) tellDrained(t *term) {
	if t.began() {
		e.cfg.Observer.TermDrained(e.cfg.Name)
	}
}

func (e *Elector) endReason(reason error) EndReason {
	switch {
	case e.panics.kept():
		return EndedPanicked
	case errors.Is(reason, ErrLost):
		return EndedLost
	case errors.Is(reason, ErrExpired):
		return EndedExpired
	case errors.Is(reason, ErrResigned):
		return EndedResigned
	case errors.Is(reason, errReturned):
		return EndedReturned
	default:
		return EndedStopped
	}
}

// drain waits for the callbacks of a term that has ended. The lease is renewed as long
// as it is ours, so that no other candidate starts before this one's work has stopped.
func (e *Elector) drain(t *term) error {
	defer e.tellDrained(t)
	defer t.renewal.stop()
	timeout := time.NewTimer(e.cfg.DrainTimeout)
	defer timeout.Stop()
	for {
		select {
		case <-t.work.stopped:
			return nil
		case <-timeout.C:
			e.left = t
			e.cfg.Logger.Error(ErrDrainTimeout, "Leaving the work running and the lock to run out", "fence", t.fence)
			return ErrDrainTimeout
		case <-t.renewal.due.C:
			t.renewal.attempt()
		case a := <-t.renewal.answers:
			_ = t.renewal.handle(a) // lost: nothing is left to renew
		}
	}
}

// releaseAttempts is how often to try to release a lock before leaving it to run out.
const releaseAttempts = 3

// release deletes the lock, if it is still ours on the server, so that the next leader
// need not wait for it to run out. If all attempts fail, the lock runs out.
func (e *Elector) release(r *renewal) {
	expiry := time.Now().Add(r.lock.Remaining())
	for attempt := range releaseAttempts {
		if attempt > 0 && time.Until(expiry) <= 0 {
			return
		}
		sleep(context.Background(), time.Duration(attempt)*e.timing.pause)
		err := e.releaseOnce(r.lock)
		if err == nil || errors.Is(err, redislock.ErrLockNotHeld) {
			return
		}
		e.trouble.report("Cannot release the lock", err)
	}
}

// releaseOnce makes one attempt, which does not depend on a context that has ended.
func (e *Elector) releaseOnce(l lock) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.timing.acquire)
	defer cancel()
	return l.Release(ctx)
}
