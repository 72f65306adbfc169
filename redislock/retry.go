package redislock

import (
	"sync/atomic"
	"time"
)

// RetryStrategy says how long to wait before the next attempt. The strategies of this
// package are safe for use by many goroutines, and Obtain and Refresh each start them
// afresh: one Options value may be shared and used again. A strategy of your own that
// keeps state is used as it is and has to be safe if it is shared.
type RetryStrategy interface {
	// NextBackoff returns the time to wait before the next attempt; below 1 ns there is
	// none.
	NextBackoff() time.Duration
}

// forker is a strategy that keeps state of its own, which every call is to count from
// the start.
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

// LinearBackoff retries forever, waiting the same time before each attempt.
func LinearBackoff(backoff time.Duration) RetryStrategy { return linearBackoff(backoff) }

// NoRetry makes one attempt. It is the default.
func NoRetry() RetryStrategy { return linearBackoff(0) }

func (b linearBackoff) NextBackoff() time.Duration { return time.Duration(b) }

type exponentialBackoff struct {
	min, max time.Duration
	attempts atomic.Uint32
}

// ExponentialBackoff retries forever. Before retry n it waits 2^n ms, but at least min
// and, unless max is 0, at most max. A min of 16 ms or more is sensible.
func ExponentialBackoff(min, max time.Duration) RetryStrategy {
	return &exponentialBackoff{min: min, max: max}
}

func (b *exponentialBackoff) fork() RetryStrategy { return ExponentialBackoff(b.min, b.max) }

func (b *exponentialBackoff) NextBackoff() time.Duration {
	const steepest = 31 // 2^31 ms is 25 days
	backoff := max(b.min, time.Millisecond<<min(b.attempts.Add(1), steepest))
	if b.max != 0 {
		backoff = min(backoff, b.max)
	}
	return backoff
}

type limitedRetry struct {
	strategy RetryStrategy
	max      int64
	attempts atomic.Int64
}

// LimitRetry follows s for at most max retries; with max below 1 there is none.
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
