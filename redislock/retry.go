package redislock

import (
	"sync/atomic"
	"time"
)

// RetryStrategy says how long to wait before the next attempt. The strategies of this
// package are safe for use by many goroutines, and each call of Obtain and Refresh
// starts them afresh, so one Options value may be shared and used again. If you write a
// strategy that keeps state, it is used as it is, and has to be safe for concurrent use
// if it is shared.
type RetryStrategy interface {
	// NextBackoff returns the time to wait before the next attempt. Zero or less means
	// that there is no further attempt.
	NextBackoff() time.Duration
}

// forker is a strategy that keeps state and has to start afresh with each call.
type forker interface {
	fork() RetryStrategy
}

func fork(s RetryStrategy) RetryStrategy {
	if f, ok := s.(forker); ok {
		return f.fork()
	}
	return s
}

type linearBackoff time.Duration

// LinearBackoff retries forever and waits for the same time before each retry.
func LinearBackoff(backoff time.Duration) RetryStrategy { return linearBackoff(backoff) }

// NoRetry makes a single attempt. It is the default.
func NoRetry() RetryStrategy { return linearBackoff(0) }

func (b linearBackoff) NextBackoff() time.Duration { return time.Duration(b) }

type exponentialBackoff struct {
	min, max time.Duration
	retries  atomic.Uint64
}

// ExponentialBackoff retries forever. It waits 4 ms before the first retry and twice as
// long before each one after it, up to 2^26 ms (about 19 hours), but always at least
// min and, unless max is 0, at most max. A min of 16 ms or more is sensible.
func ExponentialBackoff(min, max time.Duration) RetryStrategy {
	return &exponentialBackoff{min: min, max: max}
}

func (b *exponentialBackoff) fork() RetryStrategy { return ExponentialBackoff(b.min, b.max) }

func (b *exponentialBackoff) NextBackoff() time.Duration {
	const steepest = 26
	backoff := time.Millisecond << min(b.retries.Add(1)+1, steepest)
	switch {
	case backoff < b.min:
		return b.min
	case b.max != 0 && backoff > b.max:
		return b.max
	}
	return backoff
}

type limitedRetry struct {
	strategy RetryStrategy
	max      int64
	attempts atomic.Int64
}

// LimitRetry follows s for at most max retries. If max is below 1, there are none.
func LimitRetry(s RetryStrategy, max int) RetryStrategy {
	return &limitedRetry{strategy: s, max: int64(max)}
}

func (l *limitedRetry) fork() RetryStrategy {
	return &limitedRetry{strategy: fork(l.strategy), max: l.max}
}

func (l *limitedRetry) NextBackoff() time.Duration {
	if l.attempts.Add(1) > l.max {
		return 0
	}
	return l.strategy.NextBackoff()
}
