package leader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// lead is the state of a leader: from the acquisition of the lock until there is a
// reason to step down, which it returns. The lease is renewed all the while.
func (e *Elector) lead(ctx context.Context, t *term) error {
	e.held.Store(t)
	go t.work.run(&e.cfg, &e.panics) // joined by drain
	err := e.settleFence(ctx, t)
	if err == nil {
		e.begin(t)
		runtime.Gosched() // the work comes first: to stop listening takes longer than to begin
	}
	e.vigil.end()
	if err != nil {
		return err
	}
	if err := e.keep(ctx, t, t.work.returned); err != nil {
		return err
	}
	return errReturned
}

// begin makes this candidate the leader.
func (e *Elector) begin(t *term) {
	t.startedAt = time.Now()
	self := Leader{Identity: e.cfg.Identity, FenceToken: t.fence, Metadata: e.cfg.Metadata}
	e.leading.Store(t)
	e.cfg.Observer.TermStarted(e.cfg.Name, t.fence)
	e.cfg.Observer.LeaderChanged(e.cfg.Name, self)
	e.cfg.Logger.Info("Became leader", "fence", t.fence)
	e.notifier.notify(e.cfg.Identity)
	close(t.work.begin)
}

// keep renews the lease until done is closed, which is no error, or there is a reason
// to step down.
func (e *Elector) keep(ctx context.Context, t *term, done <-chan struct{}) error {
	for {
		if err := t.check(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
		case <-t.resigning:
			return ErrResigned
		case <-t.ctx.Done():
		case <-t.renewal.due.C:
			t.renewal.attempt()
		case a := <-t.renewal.answers:
			if err := t.renewal.handle(a); err != nil {
				return err
			}
		}
	}
}

// settleFence makes the term's fencing token final.
func (e *Elector) settleFence(ctx context.Context, t *term) error {
	if e.cfg.FenceFloor != nil { // otherwise the work need not be waited for
		if err := e.liftFence(ctx, t); err != nil {
			return err
		}
	}
	e.seen = max(e.seen, t.fence)
	if ctx.Err() != nil {
		return context.Cause(ctx) // too late to begin
	}
	return t.check()
}

// liftFence gives the term a fencing token above what the protected resource has
// accepted. A resource that does not answer within a LeaseDuration ends the term, since
// a candidate that only waits for it must not keep the others from leading.
func (e *Elector) liftFence(ctx context.Context, t *term) error {
	err := e.askFloor(ctx, t)
	if err == nil && t.fence <= t.work.floor {
		err = e.raiseFence(ctx, t)
	}
	switch {
	case err == nil:
		e.fenceTrouble.clear()
	case errors.Is(err, errFence):
		e.fenceTrouble.report("Cannot settle the fencing token", err)
	}
	return err
}

// askFloor waits for what FenceFloor returns.
func (e *Elector) askFloor(ctx context.Context, t *term) error {
	ctx, cancel := context.WithTimeoutCause(ctx, e.timing.lease, fmt.Errorf("%w: FenceFloor has not returned after %v", errFence, e.timing.lease))
	defer cancel()
	if err := e.keep(ctx, t, t.work.asked); err != nil {
		return err
	}
	if t.work.err != nil {
		return fmt.Errorf("%w: FenceFloor: %w", errFence, t.work.err)
	}
	return nil
}

// raiseFence re-obtains the lock, which is ours, with a higher floor.
func (e *Elector) raiseFence(ctx context.Context, t *term) error {
	sent := e.now()
	l, err := e.obtain(ctx, redislock.Options{Token: t.renewal.lock.Token(), FenceFloor: t.work.floor})
	if err != nil {
		return fmt.Errorf("%w: %w", errFence, err)
	}
	t.renewal.lock, t.fence = l, l.FenceToken()
	t.extend(sent)
	t.renewal.schedule()
	return nil
}
