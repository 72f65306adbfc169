package leader

import (
	"context"
	"time"

	"github.com/redisleader/redisleader/redislock"
	"github.com/redisleader/redisleader/redislock/announce"
)

// locker is what an elector needs of *redislock.Client. Tests of the state machine put
// a lock in memory in its place.
type locker interface {
	Obtain(ctx context.Context, key string, ttl time.Duration, opt *redislock.Options) (lock, error)
	Watch(key string) watch
	Stagger() time.Duration
}

// watch is what an elector needs of *announce.Watch.
type watch interface {
	Announcements() <-chan announce.Announcement
	Close()
	Join()
}

// lock is what an elector needs of *redislock.Lock.
type lock interface {
	Token() string
	FenceToken() int64
	Remaining() time.Duration
	Refresh(ctx context.Context, ttl time.Duration, opt *redislock.Options) error
	ReleaseRequested() bool
	Release(ctx context.Context) error
}

// redisLocker is the locker of New.
type redisLocker struct{ client *redislock.Client }

func (l redisLocker) Obtain(ctx context.Context, key string, ttl time.Duration, opt *redislock.Options) (lock, error) {
	obtained, err := l.client.Obtain(ctx, key, ttl, opt)
	if err != nil {
		return nil, err // not obtained: a nil *redislock.Lock in the interface would not be nil
	}
	return obtained, nil
}

func (l redisLocker) Watch(key string) watch { return redisWatch{l.client.Announcements().Watch(key)} }

func (l redisLocker) Stagger() time.Duration { return l.client.Announcements().Stagger() }

type redisWatch struct{ *announce.Watch }

func (w redisWatch) Announcements() <-chan announce.Announcement { return w.C }
