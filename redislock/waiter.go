package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// waiter paces the attempts of one call.
type waiter struct {
	ctx      context.Context
	cancel   context.CancelFunc
	strategy RetryStrategy
}

// newWaiter bounds waiting by ctx or, if that has no deadline, by limit from now.
func newWaiter(ctx context.Context, strategy RetryStrategy, limit time.Duration) waiter {
	w := waiter{ctx: ctx, cancel: func() {}, strategy: strategy}
	if strategy == NoRetry() {
		return w // nothing to bound: spares the common case the timer
	}
	if _, ok := ctx.Deadline(); !ok {
		w.ctx, w.cancel = context.WithTimeout(ctx, limit)
	}
	return w
}

func (w waiter) stop() { w.cancel() }

// next waits before the next attempt. It returns ErrNotObtained itself when there is
// none, and an error that matches the context's as well when that ended the waiting.
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

// explain adds to the error of an attempt that ctx ended meanwhile, and that the lock
// was known as held if it was: a caller that waited gets the same errors whether its
// time ran out between two attempts or during one.
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

// interrupted is the error of a call that a context ended before it had an answer other
// than "held".
func interrupted(ended error) error {
	return fmt.Errorf("%w: %w", ErrNotObtained, ended)
}
