package redislock

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Lock is a lock that was obtained. All methods are safe on a nil *Lock and for use by
// many goroutines.
type Lock struct {
	client   *Client
	keys     []string
	token    string
	metadata string
	flags    string // of the scripts
	fence    int64
	lease    lease

	// Room for what nearly every lock needs, so that one allocation does for all of it:
	// a lock's and a fence key's name, and the arguments of scripts, which are pointers
	// because an interface that holds a string or a number is another allocation.
	names       [2]string
	obtainTTL   int64 // milliseconds
	obtainArgs  [5]any
	releaseArgs [2]any
}

// newLock prepares what an Obtain gives if it succeeds. The keys are copied, because
// the caller may go on using its own, with room for one more.
func newLock(c *Client, keys []string, opt *Options) *Lock {
	l := &Lock{client: c, token: opt.Token, metadata: opt.Metadata, flags: opt.flags(&c.hub, keys[0])}
	if l.token == "" {
		l.token = randomToken()
	}
	l.keys = l.names[:0]
	if len(keys) >= len(l.names) {
		l.keys = make([]string, 0, len(keys)+1)
	}
	l.keys = append(l.keys, keys...)
	l.releaseArgs = [2]any{&l.token, &l.flags}
	return l
}

// Key is the name of the lock, the first if there are several, "" of a nil *Lock.
func (l *Lock) Key() string {
	if l == nil {
		return ""
	}
	return l.keys[0]
}

// Keys are the names of the locks, in a slice of the caller's own.
func (l *Lock) Keys() []string {
	if l == nil {
		return nil
	}
	return slices.Clone(l.keys)
}

// Token is the ownership token. It is a secret between this process and Redis: keep it
// out of logs, and do not mistake it for the fencing token.
func (l *Lock) Token() string {
	if l == nil {
		return ""
	}
	return l.token
}

// Metadata is what was passed as Options.Metadata.
func (l *Lock) Metadata() string {
	if l == nil {
		return ""
	}
	return l.metadata
}

// FenceToken is the fencing token of this acquisition: greater than those of all
// earlier ones with the same FenceKey, at most 2^53-1, and 0 without a FenceKey. A
// resource that rejects tokens lower than the highest it has seen is safe from late
// writes of earlier holders (M. Kleppmann, "How to do distributed locking", 2016).
func (l *Lock) FenceToken() int64 {
	if l == nil {
		return 0
	}
	return l.fence
}

// Remaining is how long this process may rely on the lock without asking Redis; zero or
// less means that the lock is lost, and then it stays so. It counts from before the
// latest successful Obtain or Refresh was sent, less a margin of ttl/100 + 2 ms for
// clocks that run at different rates, and sees time that passed while the machine was
// suspended. A failed Refresh leaves it unchanged, except that one with a shorter ttl
// counts from when it was sent. From the moment a Release is sent nothing remains. It
// does no I/O.
func (l *Lock) Remaining() time.Duration {
	if l == nil {
		return 0
	}
	return l.lease.remaining(l.client.now())
}

// TTL asks Redis how long the lock lives unless it is refreshed, in whole milliseconds;
// of several locks it is the shortest. It is 0 if the lock is no longer ours, and
// negative if it is but lost its time to live (PERSIST), which the next Refresh gives
// back. A nil *Lock returns ErrLockNotHeld.
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

// Refresh sets the time to live anew to ttl (at least 1 ms, rounded up to whole
// milliseconds), if the lock is still ours; it never creates one. Of the options it
// reads RetryStrategy alone.
//
// ErrNotObtained means that the lock is lost: Redis knows it as somebody else's or not
// at all, or it ran out by our own clocks, be it during the call. That is final and not
// retried. Other errors are retried as the strategy says, while something remains of
// the lock and ctx lasts; they leave Remaining unchanged. ErrInvalidTTL means that
// nothing was sent. A nil *Lock returns ErrNotObtained.
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
	if reply != refreshed {
		l.lease.lose()
		return ErrNotObtained
	}
	if !l.lease.extend(l.client.now(), sent) {
		return ErrNotObtained
	}
	return nil
}

// Release deletes the lock if it is still ours. If ctx has ended, before the call or
// during it, Release makes one more attempt with a context of its own, for a third of
// the ttl but at least 250 ms and at most 2 s; an interruption of what the lock was for
// must not leave it behind.
//
// ErrLockNotHeld means that there was nothing to release: it had run out, is somebody
// else's, or was released before. If Redis finds no lock at a time at which ours cannot
// have run out yet, that is taken as the answer to a release whose first reply was
// lost, and is a success. After any other error Release may be called again.
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

// releaseDespite runs the script with ctx while that lasts, and otherwise without.
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
	return l.client.runInt(ctx, releaseScript, l.keys, l.releaseArgs[:]...)
}
