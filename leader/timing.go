package leader

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// jitterFactor is how much longer than RetryPeriod a candidate waits at most, as in
// client-go.
const jitterFactor = 1.2

// minAttempt is the shortest time in which an attempt to renew can be expected to get
// its answer.
const minAttempt = 5 * time.Millisecond

// attemptsPerDeadline is how many attempts to renew fit between the first and the
// deadline: it, and two more.
const attemptsPerDeadline = 3

// timing is the schedule that follows from a Config. doc.go has the model behind it.
type timing struct {
	lease    time.Duration // LeaseDuration
	deadline time.Duration // RenewDeadline
	retry    time.Duration // RetryPeriod
	renew    time.Duration // from one renewal to the next
	attempt  time.Duration // what one attempt to renew may take
	acquire  time.Duration // what one attempt to obtain may take
	pause    time.Duration // between a failed attempt to renew and the next, at most
}

// newTiming divides what the deadline leaves after the first renewal is due, window,
// into three attempts and the two pauses between them. The pauses get a third of it at
// the most, so that slow answers do not look like lost ones.
func newTiming(c Config) timing {
	t := timing{lease: c.LeaseDuration, deadline: c.RenewDeadline, retry: c.RetryPeriod, renew: c.LeaseDuration / 3}
	window := t.deadline - t.renew
	t.pause = min(t.retry, window/(2*attemptsPerDeadline))
	t.attempt = (window - (attemptsPerDeadline-1)*t.pause) / attemptsPerDeadline
	t.acquire = max(t.attempt, t.retry) // nothing presses a candidate, and its first call has to connect
	return t
}

// margin is the part of a lease that redislock does not rely on, for clocks that run at
// different rates.
func margin(lease time.Duration) time.Duration { return lease/100 + 2*time.Millisecond }

func (c Config) validateTimings() error {
	var errs []error
	reject := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("leader: Config."+format, args...))
	}
	if c.LeaseDuration < minLeaseDuration || c.LeaseDuration > maxLeaseDuration {
		reject("LeaseDuration %v is not between %v and %v", c.LeaseDuration, minLeaseDuration, maxLeaseDuration)
	}
	if c.RetryPeriod <= 0 {
		reject("RetryPeriod %v is not positive", c.RetryPeriod)
	}
	if limit := c.LeaseDuration - margin(c.LeaseDuration); c.RenewDeadline >= limit {
		reject("RenewDeadline %v is not less than %v, which is LeaseDuration %v less the margin for clock drift", c.RenewDeadline, limit, c.LeaseDuration)
	}
	if least := time.Duration(jitterFactor * float64(c.RetryPeriod)); c.RenewDeadline <= least {
		reject("RenewDeadline %v is not more than %v, which is %v times RetryPeriod %v", c.RenewDeadline, least, jitterFactor, c.RetryPeriod)
	}
	if t := newTiming(c); t.attempt < minAttempt {
		reject("RenewDeadline %v leaves %v after the first renewal at LeaseDuration/3 = %v: three attempts with pauses of %v have %v each, less than %v",
			c.RenewDeadline, t.deadline-t.renew, t.renew, t.pause, t.attempt, minAttempt)
	}
	return errors.Join(errs...)
}

// between is a random duration from low up to high, so that candidates that met once do
// not meet again.
func between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + rand.N(high-low)
}

// poll is how long a candidate waits before it looks again.
func (t timing) poll() time.Duration {
	return between(t.retry, time.Duration(jitterFactor*float64(t.retry)))
}

// recontend is how long a candidate that has just lost a term waits before it tries
// again.
func (t timing) recontend() time.Duration { return between(t.retry/2, t.retry) }

// standAside is how long a candidate that has resigned stays out: longer than any other
// waits between two looks.
func (t timing) standAside() time.Duration { return between(2*t.retry, 3*t.retry) }

// expirySpread is over how long candidates spread that wait for the same lease to run
// out.
const expirySpread = 4 * time.Millisecond

// afterExpiry is how long to wait for a holder's lease to run out: Redis expires a key
// within the millisecond after its ttl.
func afterExpiry(ttl time.Duration) time.Duration {
	return ttl + between(time.Millisecond, time.Millisecond+expirySpread)
}

// backOff is how long a candidate waits whose last terms, as many as short says, ended
// as soon as they had begun. It doubles up to two leases.
func (t timing) backOff(short int) time.Duration {
	const doublings = 10 // far beyond the cap
	wait := min(t.retry<<min(short-1, doublings), 2*t.lease)
	return between(wait, time.Duration(jitterFactor*float64(wait)))
}
