package redislock

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redisleader/redisleader/redislock/announce"
)

// maxFence is the largest fencing token. Lua computes in float64, which counts in ones
// up to 2^53.
const maxFence = 1<<53 - 1

// Options change how a lock is obtained or refreshed. A nil *Options and the zero value
// mean the defaults. Obtain and Refresh only read the Options, so many goroutines may
// share one value.
type Options struct {
	// RetryStrategy says whether and when to try again. Obtain retries while somebody
	// else holds the lock. Refresh retries after errors other than ErrNotObtained.
	// Default: NoRetry.
	RetryStrategy RetryStrategy

	// Metadata is stored in the lock for others to read (Holder.Metadata, HGETALL).
	// Default: empty. Obtain only.
	Metadata string

	// Token is the ownership token. Default: 128 random bits for each call, in 22
	// characters. With an explicit Token, Obtain re-obtains a lock that is held with
	// exactly that token: it sets the time to live to ttl and keeps the fencing token.
	// Keep the token secret: whoever knows it can release the lock. If an Obtain with
	// an explicit Token fails with an unknown outcome, it deletes nothing, because the
	// lock may have been held before. Obtain only.
	Token string

	// FenceKey names the counter that fencing tokens come from. Default: none, and
	// FenceToken is 0. Tokens start at 1 and grow by 1 with each new acquisition, never
	// with a refresh or a re-obtain. The counter has no time to live and outlives the
	// locks. If it is deleted, tokens go backwards unless FenceClock or FenceFloor
	// prevents it. In a Cluster the counter has to be in the slot of the lock: give
	// both names the same hash tag. Obtain only.
	FenceKey string

	// FenceFloor is a token that the new one has to exceed, such as the highest that
	// the protected resource has seen. Default: 0. It needs a FenceKey. A re-obtain
	// keeps its token only if that is above the floor. Obtain only.
	FenceFloor int64

	// FenceClock makes a new token at least the Redis server's time in microseconds
	// since 1970. Tokens then move forward even if the counter was flushed, restored
	// from an old snapshot or lost in a failover. Default: false. It needs a FenceKey,
	// and permission to run TIME. Obtain only.
	FenceClock bool

	// Announce makes Obtain and Release notify those who watch the lock with package
	// announce (see Client.Announcements), by a PUBLISH on one or more of its channels.
	// Default: false. Neither fails if the permission to publish is missing. Of several
	// locks only the first is announced. Obtain only.
	Announce bool

	// OnHeld is called after each attempt that found the lock held, on the goroutine
	// that called Obtain and before any wait. Default: none. Obtain only.
	OnHeld func(Holder)
}

var noOptions = new(Options) // only ever read

func (o *Options) orDefault() *Options {
	if o == nil {
		return noOptions
	}
	return o
}

// strategy returns the retry strategy for one call.
func (o *Options) strategy() RetryStrategy {
	if o.RetryStrategy == nil {
		return NoRetry()
	}
	return fork(o.RetryStrategy)
}

// flags returns the argument of obtain.lua for the options that are on or off. They are
// letters of one argument, because Redis closes a connection that sends more than 10
// arguments before it has authenticated, and its NOAUTH would be lost. If others are
// about to try, the channel on which to announce the acquisition comes last.
func (o *Options) flags(a *announce.Subscriptions, key string) string {
	flags := ""
	switch {
	case o.FenceKey != "" && o.FenceClock:
		flags = "fc"
	case o.FenceKey != "":
		flags = "f"
	}
	if o.Announce {
		if channel, ok := a.Contended(key); ok {
			flags += ">" + channel
		}
	}
	return flags
}

// validate checks the arguments of one Obtain and joins everything that is wrong with
// them.
func (o *Options) validate(keys []string, ttl time.Duration) error {
	var errs []error
	if len(keys) == 0 || slices.Contains(keys, "") {
		given := slices.Clone(keys) // keeps keys itself off the heap
		errs = append(errs, fmt.Errorf("redislock: keys %q: need at least one, and none may be empty", given))
	}
	if err := validateTTL(ttl); err != nil {
		errs = append(errs, err)
	}
	if o.FenceFloor < 0 || o.FenceFloor >= maxFence {
		errs = append(errs, fmt.Errorf("redislock: Options.FenceFloor %d is not between 0 and %d", o.FenceFloor, int64(maxFence-1)))
	}
	if o.FenceKey == "" && (o.FenceFloor != 0 || o.FenceClock) {
		errs = append(errs, fmt.Errorf("redislock: Options.FenceFloor %d and FenceClock %t need a FenceKey", o.FenceFloor, o.FenceClock))
	}
	if o.FenceKey != "" && slices.Contains(keys, o.FenceKey) {
		errs = append(errs, fmt.Errorf("redislock: Options.FenceKey %q is a lock as well", o.FenceKey))
	}
	return errors.Join(errs...)
}

// A ttl is sent in whole milliseconds. The upper limit keeps now + ttl within 63 bits
// of nanoseconds. That is far less than what Redis can add to its own clock.
const (
	minTTL = time.Millisecond
	maxTTL = 100 * 365 * 24 * time.Hour
)

func validateTTL(ttl time.Duration) error {
	if ttl < minTTL || ttl > maxTTL {
		return fmt.Errorf("%w: %v is not between %v and %v", ErrInvalidTTL, ttl, minTTL, maxTTL)
	}
	return nil
}

// milliseconds rounds up, so that the key lives at least as long as Remaining assumes.
func milliseconds(ttl time.Duration) int64 {
	return int64((ttl + time.Millisecond - 1) / time.Millisecond)
}
