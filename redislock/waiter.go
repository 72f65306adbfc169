package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// waiter waits between the attempts of one call.
type waiter struct {
	ctx      context.Context
	cancel   context.CancelFunc
	strategy RetryStrategy
}

// newWaiter returns a waiter that is bounded by ctx or, if ctx has no deadline, by
// limit from now.
func newWaiter(ctx context.Context, strategy RetryStrategy, limit time.Duration) waiter {
	w := waiter{ctx: ctx, cancel: func() {}, strategy: strategy}
	if strategy == NoRetry() {
		return w // there is no wait, so the common case needs no timer
	}
	if _, ok := ctx.Deadline(); !ok {
		w.ctx, w.cancel = context.WithTimeout(ctx, limit)
	}
	return w
}

func (w waiter) stop() { w.cancel() }

// next waits until the next attempt. If there is none, it returns ErrNotObtained
// itself. If the context ended the wait, the error also matches the context's error.
func (w waiter) next() error {
	backoff := w.strategy.NextBackoff()
	if backoff < 1 {
		return ErrNotObtained
	}
	if err := wait(w.ctx, backoff); err != nil {
		return interrupted(err)
	}
	return nil
}

// wait waits for d. If ctx ends first, it returns the context's error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// explain adds to the error of an attempt that ctx has ended, if it has, and that the
// lock was held, if it was. A caller that waits thus gets the same errors whether its
// time runs out between two attempts or during one.
func (w waiter) explain(err error, held bool) error {
	ended := hasEnded(w.ctx)
	switch {
	case ended == nil:
		return err
	case held:
		return fmt.Errorf("%w (%w)", interrupted(ended), err)
	case errors.Is(err, ended):
		return err
	default:
		return fmt.Errorf("redislock: %w: %w", ended, err)
	}
}

// interrupted returns the error of a call whose context ended after every answer so far
// had been "held".
func interrupted(ended error) error {
	return fmt.Errorf("%w: %w", ErrNotObtained, ended)
}
