package leader

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// jitterFactor is how much longer than RetryPeriod a candidate waits at most, as in
// client-go.
const jitterFactor = 1.2

// minAttempt is the shortest time in which an attempt to obtain or to renew can be
// expected to get its answer.
const minAttempt = 5 * time.Millisecond

// attemptsPerDeadline is how many attempts to renew fit before the deadline: the first
// one and two more.
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

// newTiming divides window, the time from when a renewal is due to the deadline, into
// three attempts and the two pauses between them. The pauses get a third of it at most,
// so that attempts have the time to get slow answers.
func newTiming(c Config) timing {
	t := timing{lease: c.LeaseDuration, deadline: c.RenewDeadline, retry: c.RetryPeriod, renew: c.LeaseDuration / 3}
	window := t.deadline - t.renew
	t.pause = min(t.retry, window/(2*attemptsPerDeadline))
	t.attempt = (window - (attemptsPerDeadline-1)*t.pause) / attemptsPerDeadline
	t.acquire = max(t.attempt, t.retry) // a candidate has time, and its first call has to connect
	return t
}

// validateTimings reports causes: what follows from a wrong duration, or from a default
// that was derived from one, is not another mistake of the user.
func (c Config) validateTimings(v *violations) {
	full := c.withDefaults()
	lease := given{"LeaseDuration", full.LeaseDuration, c.LeaseDuration == 0}
	deadline := given{"RenewDeadline", full.RenewDeadline, c.RenewDeadline == 0}
	retry := given{"RetryPeriod", full.RetryPeriod, c.RetryPeriod == 0}
	before := len(v.errs)
	if lease.d < minLeaseDuration || lease.d > maxLeaseDuration {
		v.add("%v is not between %v and %v%s", lease, minLeaseDuration, maxLeaseDuration, lease.unitHint())
	}
	for _, g := range []given{deadline, retry} {
		// Or a candidate asks again before it can have an answer.
		if !g.isDefault && g.d < minAttempt {
			v.add("%v is less than %v%s", g, minAttempt, g.unitHint())
		}
	}
	if len(v.errs) == before {
		full.validateSchedule(v, lease, deadline, retry)
	}
}

// validateSchedule compares durations that are sound on their own.
func (c Config) validateSchedule(v *violations, lease, deadline, retry given) {
	limit := lease.d - redislock.Margin(lease.d)
	least := time.Duration(jitterFactor * float64(retry.d))
	t := newTiming(c)
	switch {
	case deadline.d >= limit:
		v.add("%v is not less than %v, which is %v less the margin for clock drift", deadline, limit, lease)
	case deadline.d <= least:
		v.add("%v is not more than %v, which is %v times %v", deadline, least, jitterFactor, retry)
	case t.attempt < minAttempt:
		v.add("%v leaves %v after the first renewal at LeaseDuration/3 = %v: three attempts with pauses of %v have %v each, less than %v",
			deadline, t.deadline-t.renew, t.renew, t.pause, t.attempt, minAttempt)
	}
}

// given is a duration of a Config, for an error.
type given struct {
	field     string
	d         time.Duration
	isDefault bool
}

func (g given) String() string {
	if g.isDefault {
		return fmt.Sprintf("%s %v (default)", g.field, g.d)
	}
	return fmt.Sprintf("%s %v", g.field, g.d)
}

// unitHint is for a value that looks like seconds or milliseconds without the unit.
func (g given) unitHint() string {
	const manySeconds = 10_000
	switch {
	case g.isDefault, g.d <= 0, g.d >= time.Millisecond:
		return ""
	case g.d < manySeconds:
		return fmt.Sprintf(" (a number without a unit is nanoseconds: did you mean %d*time.Second?)", g.d)
	default:
		return fmt.Sprintf(" (a number without a unit is nanoseconds: did you mean %d*time.Millisecond?)", g.d)
	}
}

// between is a random duration from low up to high, so that candidates do not go on
// trying at the same moments.
func between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + rand.N(high-low)
}

// poll is how long a candidate waits between two attempts.
func (t timing) poll() time.Duration {
	return between(t.retry, time.Duration(jitterFactor*float64(t.retry)))
}

// recontend is how long a candidate that has just lost a term waits before it tries
// again.
func (t timing) recontend() time.Duration { return between(t.retry/2, t.retry) }

// standAside is how long a candidate stays out that has resigned: longer than any other
// waits between two attempts.
func (t timing) standAside() time.Duration { return between(2*t.retry, 3*t.retry) }

// expirySpread is over how long the attempts of candidates are spread that wait for the
// same lease to run out.
const expirySpread = 4 * time.Millisecond

// afterExpiry is how long to wait for a holder's lease to run out: Redis expires a key
// within the millisecond after its ttl.
func afterExpiry(ttl time.Duration) time.Duration {
	return ttl + between(time.Millisecond, time.Millisecond+expirySpread)
}

// backOff is how long a candidate waits after that many short terms in a row. It
// doubles with each, up to two leases.
func (t timing) backOff(short int) time.Duration {
	const doublings = 10 // far beyond the cap
	wait := min(t.retry<<min(short-1, doublings), 2*t.lease)
	return between(wait, time.Duration(jitterFactor*float64(wait)))
}
