package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func openRedsync(addr string) (cycle, func(), error) {
	client := redis.NewClient(clientOptions(addr))
	rs := redsync.New(goredis.NewPool(client))
	return func(ctx context.Context, key string) error {
		mutex := rs.NewMutex(key, redsync.WithExpiry(cycleTTL))
		if err := mutex.TryLockContext(ctx); err != nil {
			return err
		}
		ok, err := mutex.UnlockContext(ctx)
		return errors.Join(err, errorUnless(ok, "not unlocked"))
	}, func() { _ = client.Close() }, nil
}

func redsyncContender() contender {
	return contender{
		name:     "redsync, retry 50–250 ms",
		key:      plainKey,
		sends:    []string{"set", "evalsha", "eval"},
		releases: 1,
		newReplica: func(e *election, _ string) (replica, error) {
			client, d := e.client()
			rs := redsync.New(goredis.NewPool(client))
			mutex := rs.NewMutex(e.name,
				redsync.WithExpiry(e.timings.lease), redsync.WithTries(math.MaxInt))
			return &redsyncReplica{client: client, dialer: d, mutex: mutex}, nil
		},
	}
}

type redsyncReplica struct {
	client *redis.Client
	dialer *dialer
	mutex  *redsync.Mutex
}

func (r *redsyncReplica) compete(ctx context.Context) (time.Time, error) {
	err := r.mutex.LockContext(ctx)
	return time.Now(), err
}

func (r *redsyncReplica) leave(ctx context.Context) (time.Time, error) {
	began := time.Now()
	ok, err := r.mutex.UnlockContext(ctx)
	return began, errors.Join(err, errorUnless(ok, "not unlocked"))
}

func (r *redsyncReplica) crash() { r.dialer.cut() }
func (r *redsyncReplica) close() { _ = r.client.Close() }
