package redislock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redisleader/redisleader/redislock/announce"
)

// Lock is a lock that was obtained, or several obtained as one. All methods are safe on
// a nil *Lock and for use by many goroutines.
type Lock struct {
	client   *Client
	keys     []string
	token    string
	metadata string
	flags    string // of obtain.lua
	announce bool   // the release
	fence    int64
	lease    lease

	// Room for what nearly every lock needs, so that one allocation serves all of it:
	// the names of a lock and a fence key, and the arguments of obtain.lua. The
	// arguments are pointers, because a string or a number in an interface is another
	// allocation.
	names      [2]string
	obtainTTL  int64 // milliseconds
	obtainArgs [5]any
}

// newLock prepares the Lock that Obtain returns if it succeeds. It copies the keys,
// because the caller may go on using its slice, and leaves room for one more.
func newLock(c *Client, keys []string, opt *Options) *Lock {
	l := &Lock{client: c, token: opt.Token, metadata: opt.Metadata, announce: opt.Announce}
	l.flags = opt.flags(c.announcements, keys[0])
	if l.token == "" {
		l.token = randomToken()
	}
	l.keys = l.names[:0]
	if len(keys) >= len(l.names) {
		l.keys = make([]string, 0, len(keys)+1)
	}
	l.keys = append(l.keys, keys...)
	return l
}

// Key returns the name of the lock, or of the first lock if there are several. It
// returns "" for a nil *Lock.
func (l *Lock) Key() string {
	if l == nil {
		return ""
	}
	return l.keys[0]
}

// Keys returns the names of the locks in a new slice.
func (l *Lock) Keys() []string {
	if l == nil {
		return nil
	}
	return slices.Clone(l.keys)
}

// Token returns the ownership token. It is a secret between this process and Redis.
// Keep it out of logs, and do not confuse it with the fencing token.
func (l *Lock) Token() string {
	if l == nil {
		return ""
	}
	return l.token
}

// Metadata returns what was passed as Options.Metadata.
func (l *Lock) Metadata() string {
	if l == nil {
		return ""
	}
	return l.metadata
}

// FenceToken returns the fencing token of this acquisition. It is greater than those of
// all earlier acquisitions with the same FenceKey and at most 2^53-1. Without a
// FenceKey it is 0. A resource that rejects tokens lower than the highest it has seen
// is safe from late writes by earlier holders (M. Kleppmann, "How to do distributed
// locking", 2016).
func (l *Lock) FenceToken() int64 {
	if l == nil {
		return 0
	}
	return l.fence
}

// Remaining returns how long this process may rely on the lock without asking Redis.
// Zero or less means that the lock is lost for good. Remaining does no I/O.
//
// The time counts from the instant before the latest successful Obtain or Refresh was
// sent, less Margin(ttl). It includes time during which the machine was suspended. A
// failed Refresh leaves it unchanged, except that a Refresh with a shorter ttl counts
// as soon as it is sent. As soon as a Release is sent, nothing remains.
func (l *Lock) Remaining() time.Duration {
	if l == nil {
		return 0
	}
	return l.lease.remaining(l.client.now())
}

// TTL asks Redis for the time to live of the lock, in whole milliseconds. For several
// locks it is the shortest. It is 0 if this Lock no longer holds the lock. It is
// negative if the lock is held but has no time to live (after PERSIST); the next
// Refresh restores it. A nil *Lock returns ErrLockNotHeld.
func (l *Lock) TTL(ctx context.Context) (time.Duration, error) {
	if l == nil {
		return 0, ErrLockNotHeld
	}
	ms, err := l.client.runInt(ctx, ttlScript, l.keys, l.token)
	if err != nil {
		return 0, err
	}
	if ms == ttlNotOurs {
		l.lease.lose()
		return 0, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// Refresh sets the time to live to ttl (at least 1 ms, rounded up to whole
// milliseconds) if this Lock still holds the lock. It never creates a lock. Of the
// options it reads only RetryStrategy.
//
// ErrNotObtained means that the lock is lost: Redis says that somebody else holds it or
// that it does not exist, or it ran out by the clocks of this process, before or during
// the call. That is final and not retried. Other errors are retried as the strategy
// says, as long as the lock and ctx last, and leave Remaining unchanged, except as
// described there. ErrInvalidTTL means that nothing was sent. A nil *Lock returns
// ErrNotObtained.
func (l *Lock) Refresh(ctx context.Context, ttl time.Duration, opt *Options) error {
	if err := validateTTL(ttl); err != nil {
		return err
	}
	if l == nil {
		return ErrNotObtained
	}
	wait := newWaiter(ctx, opt.orDefault().strategy(), l.Remaining())
	defer wait.stop()
	for {
		err := l.refresh(wait.ctx, ttl)
		if err == nil || err == ErrNotObtained {
			return err
		}
		if wait.next() != nil {
			return wait.explain(err, false)
		}
	}
}

// refresh runs the script once.
func (l *Lock) refresh(ctx context.Context, ttl time.Duration) error {
	sent, span := l.client.now(), usable(ttl)
	if !l.lease.begin(sent, span) {
		return ErrNotObtained
	}
	reply, err := l.client.runInt(ctx, refreshScript, l.keys, l.token, milliseconds(ttl))
	if err != nil {
		l.lease.abandon()
		return err
	}
	if reply != refreshed && reply != refreshedAndAsked {
		l.lease.lose()
		return ErrNotObtained
	}
	if !l.lease.extend(l.client.now(), sent, reply == refreshedAndAsked) {
		return ErrNotObtained
	}
	return nil
}

// ReleaseRequested reports whether a successful Refresh has found that somebody
// requested the release of the lock (see Client.RequestRelease). For several locks, a
// request for one of them is enough. What to do about it is the holder's decision. It
// does no I/O.
func (l *Lock) ReleaseRequested() bool { return l != nil && l.lease.releaseRequested() }

// Release deletes the lock if this Lock still holds it. If ctx ends before or during
// the call, Release makes one more attempt with a context of its own, for a third of
// the ttl but at least 250 ms and at most 2 s. What interrupts the work must not leave
// the lock behind.
//
// ErrLockNotHeld means that there was nothing to release: the lock had run out,
// somebody else holds it, or it was released before. If Redis finds no lock although
// this one cannot have run out yet, Release assumes that it was deleted by an earlier
// send whose reply was lost, and succeeds. After any other error Release may be called
// again.
func (l *Lock) Release(ctx context.Context) error {
	if l == nil {
		return ErrLockNotHeld
	}
	present := l.lease.giveUp(l.client.now())
	reply, err := l.releaseDespite(ctx)
	if err != nil {
		return fmt.Errorf("redislock: release: %w", err)
	}
	l.lease.lose()
	if reply == released || reply == releasedNothing && present {
		return nil
	}
	return ErrLockNotHeld
}

// releaseDespite runs the script with ctx, and once more without it if ctx has ended.
func (l *Lock) releaseDespite(ctx context.Context) (reply int64, err error) {
	if ctx.Err() == nil {
		if reply, err = l.runRelease(ctx); err == nil || hasEnded(ctx) == nil {
			return reply, err
		}
	}
	ctx, cancel := detach(ctx, l.lease.length())
	defer cancel()
	return l.runRelease(ctx)
}

func (l *Lock) runRelease(ctx context.Context) (reply int64, err error) {
	args := []any{&l.token}
	if l.announce {
		for _, channel := range announce.Channels(l.keys[0]) {
			args = append(args, channel)
		}
	}
	return l.client.runInt(ctx, releaseScript, l.keys, args...)
}
