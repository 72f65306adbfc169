package redislock

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxFence is the largest fencing token. Lua computes in float64, which counts in ones
// up to 2^53.
const maxFence = 1<<53 - 1

// Options change how a lock is obtained or refreshed. A nil *Options and the zero value
// mean the defaults. Obtain and Refresh only read it: one value may be shared by many
// goroutines.
type Options struct {
	// RetryStrategy says whether and when to try again. Obtain retries while the lock
	// is held by somebody else; Refresh retries after errors other than ErrNotObtained.
	// Default: NoRetry.
	RetryStrategy RetryStrategy

	// Metadata is stored beside the lock for others to read (Holder.Metadata, HGETALL).
	// Default: empty. Obtain only.
	Metadata string

	// Token is the ownership token. Default: 128 random bits for each call, in 22
	// characters. With an explicit token, Obtain re-obtains a lock that is held with
	// exactly that token: it sets the ttl anew and keeps the fencing token. Keep it
	// secret: whoever knows it can release the lock. Because the lock may have been
	// held before, an Obtain with an explicit Token that fails with an unknown outcome
	// deletes nothing. Obtain only.
	Token string

	// FenceKey names the counter that fencing tokens come from. Default: none, and
	// FenceToken is 0. Tokens start at 1 and grow by 1 with each new acquisition, never
	// with a refresh or re-obtain. The counter has no ttl and outlives the locks;
	// deleting it lets tokens go backwards unless FenceClock or FenceFloor prevents it.
	// In a Cluster it has to be in the slot of the lock (give both names the same hash
	// tag). Obtain only.
	FenceKey string

	// FenceFloor is a token that the new one must exceed, such as the highest that the
	// protected resource has seen. Default: 0. It needs FenceKey. A re-obtain keeps its
	// token only if that is above the floor. Obtain only.
	FenceFloor int64

	// FenceClock makes a new token at least the Redis server's time in microseconds
	// since 1970, so that tokens still move forward after the counter was flushed,
	// restored from an old snapshot or lost in a failover. Default: false. It needs
	// FenceKey, and the permission to call TIME. Obtain only.
	FenceClock bool

	// Announce makes Obtain and Release tell those who Watch the lock, with a PUBLISH
	// on one or more of Channels(key). Default: false. A permission that is missing for
	// it fails neither. Of several locks the first is announced. Obtain only.
	Announce bool

	// OnHeld is called after each attempt that found the lock held, on the goroutine
	// that called Obtain, before it waits. Default: none. Obtain only.
	OnHeld func(Holder)
}

var noOptions = new(Options) // only ever read

func (o *Options) orDefault() *Options {
	if o == nil {
		return noOptions
	}
	return o
}

// strategy is a retry strategy for one call.
func (o *Options) strategy() RetryStrategy {
	if o.RetryStrategy == nil {
		return NoRetry()
	}
	return fork(o.RetryStrategy)
}

// flags are the options that the scripts know as letters. They are letters, not
// arguments of their own, because Redis breaks a connection that sends more than 10
// arguments before it is authenticated, and its NOAUTH would go missing.
func (o *Options) flags(h *hub, key string) string {
	var letters [4]byte
	flags := letters[:0]
	if o.FenceKey != "" {
		flags = append(flags, 'f')
	}
	if o.FenceClock {
		flags = append(flags, 'c')
	}
	if o.Announce {
		flags = append(flags, 'a')
		if h.crowded(channel(key, h.channel)) {
			flags = append(flags, '0'+byte(h.channel))
		}
	}
	return string(flags)
}

// validate checks what one call to Obtain was given and joins everything that is wrong
// with it.
func (o *Options) validate(keys []string, ttl time.Duration) error {
	var errs []error
	if len(keys) == 0 || slices.Contains(keys, "") {
		errs = append(errs, fmt.Errorf("redislock: keys %q: need at least one, and none may be empty", slices.Clone(keys))) // the clone keeps keys off the heap
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

// A ttl is sent in whole milliseconds. The upper end keeps now + ttl within 63 bits of
// nanoseconds, which is far less than what Redis can add to its own clock.
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
