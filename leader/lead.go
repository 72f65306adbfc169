package leader

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/redisleader/redisleader/redislock"
)

// lead is the state of a leader: from the acquisition of the lock until there is a
// reason to step down, which it returns. The lease is renewed all the while.
func (c *candidate) lead(ctx context.Context, l *leadership) error {
	c.held.Store(l.term)
	go l.work.run() // joined by drain
	err := c.confirmToken(ctx, l)
	if err == nil {
		c.begin(l)
		runtime.Gosched() // the work comes first, since it takes longer to stop listening
	}
	c.wait.stopListening()
	if err != nil {
		return err
	}
	err = c.renewUntil(ctx, l, l.work.returned)
	if ended := l.term.check(); ended != nil {
		return ended // why the work has returned, or what it knows already
	}
	switch {
	case err != nil:
		return err
	case c.panics.recorded():
		return ErrPanicked
	default:
		return ErrReturned
	}
}

// begin makes this candidate the leader.
func (c *candidate) begin(l *leadership) {
	l.term.begin()
	fence := l.term.fence.Load()
	self := Leader{Identity: c.cfg.Identity, FenceToken: fence, Metadata: c.cfg.Metadata}
	c.leading.Store(l.term)
	c.cfg.Observer.TermStarted(c.cfg.Name, fence)
	c.cfg.Observer.LeaderChanged(c.cfg.Name, self)
	c.cfg.Logger.Info("Became leader", "fence", fence)
	c.notifier.notify(c.cfg.Identity)
	close(l.work.begin)
}

// renewUntil renews the lease until done is closed, which is no error, or there is a
// reason to step down.
func (c *candidate) renewUntil(ctx context.Context, l *leadership, done <-chan struct{}) error {
	for {
		if err := l.term.check(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
		case <-l.term.resignation.requested:
			return ErrResigned
		case <-l.term.ctx.Done():
		case <-l.renewal.due.C:
			l.renewal.attempt()
		case a := <-l.renewal.answers:
			if err := c.handleAnswer(l.renewal, a); err != nil {
				return err
			}
		}
	}
}

// handleAnswer takes the answer to an attempt to renew the lease. It counts before the
// Observer and the Logger hear of it, because they can block. The error, if any, is why
// the term has to end.
func (c *candidate) handleAnswer(r *renewal, a answer) error {
	described := r.describe(a)
	end := r.apply(a)
	c.cfg.Observer.RenewAttempted(c.cfg.Name, described)
	switch {
	case a.err == nil:
		c.errors.clear()
	case !errors.Is(a.err, redislock.ErrNotObtained):
		c.errors.report("Cannot renew the lease", a.err)
	}
	return end
}

// confirmToken makes the term's fencing token final.
func (c *candidate) confirmToken(ctx context.Context, l *leadership) error {
	if c.cfg.FenceFloor != nil {
		if err := c.exceedFloor(ctx, l); err != nil {
			return err
		}
	}
	c.sawToken(l.term.fence.Load())
	if ctx.Err() != nil {
		return context.Cause(ctx) // too late to begin
	}
	return l.term.check()
}

// exceedFloor gives the term a fencing token above what the protected resource has
// accepted. A resource that does not answer within a LeaseDuration ends the term, since
// a candidate that only waits for it must not keep the others from leading.
func (c *candidate) exceedFloor(ctx context.Context, l *leadership) error {
	err := c.awaitFloor(ctx, l)
	if err == nil && l.term.fence.Load() <= l.work.floor {
		err = c.mintAbove(ctx, l, l.work.floor)
	}
	switch {
	case err == nil:
		c.tokenErrors.clear()
	case errors.Is(err, errNoToken):
		c.tokenErrors.report("Cannot get a usable fencing token", err)
	}
	return err
}

// awaitFloor waits until FenceFloor has returned.
func (c *candidate) awaitFloor(ctx context.Context, l *leadership) error {
	limit := c.timing.lease
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: FenceFloor has not returned after %v", errNoToken, limit))
	defer cancel()
	if err := c.renewUntil(ctx, l, l.work.asked); err != nil {
		return err
	}
	if l.work.err != nil {
		return fmt.Errorf("%w: FenceFloor: %w", errNoToken, l.work.err)
	}
	return nil
}

// mintAbove obtains the lock, which is ours, once more, to get a token above floor.
func (c *candidate) mintAbove(ctx context.Context, l *leadership, floor int64) error {
	sent := c.now()
	lock, err := c.obtain(ctx, redislock.Options{Token: l.renewal.lock.Token(), FenceFloor: floor})
	if err != nil {
		return fmt.Errorf("%w: %w", errNoToken, err)
	}
	l.term.fence.Store(lock.FenceToken())
	l.renewal.replace(lock, sent)
	return nil
}
