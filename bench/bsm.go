package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// bsmRetry is the time between retries in the README of bsm/redislock.
const bsmRetry = 100 * time.Millisecond

func openBSM(addr string) (cycle, func(), error) {
	client := redis.NewClient(clientOptions(addr))
	locker := redislock.New(client)
	return func(ctx context.Context, key string) error {
		lock, err := locker.Obtain(ctx, key, cycleTTL, nil)
		if err != nil {
			return err
		}
		return lock.Release(ctx)
	}, func() { _ = client.Close() }, nil
}

func bsmContender() contender {
	return contender{
		name:     "bsm/redislock, retry 100 ms",
		key:      plainKey,
		sends:    []string{"evalsha", "eval"},
		releases: 1,
		newReplica: func(e *election, _ string) (replica, error) {
			client, d := e.client()
			locker := redislock.New(client)
			return &bsmReplica{election: e, client: client, dialer: d, locker: locker}, nil
		},
	}
}

type bsmReplica struct {
	election *election
	client   *redis.Client
	dialer   *dialer
	locker   *redislock.Client
	lock     *redislock.Lock
}

func (r *bsmReplica) compete(ctx context.Context) (_ time.Time, err error) {
	// Without a deadline it would wait for no longer than one ttl.
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	opt := &redislock.Options{RetryStrategy: redislock.LinearBackoff(bsmRetry)}
	r.lock, err = r.locker.Obtain(ctx, r.election.name, r.election.timings.lease, opt)
	return time.Now(), err
}

func (r *bsmReplica) leave(ctx context.Context) (time.Time, error) {
	began := time.Now()
	return began, r.lock.Release(ctx)
}

func (r *bsmReplica) crash() { r.dialer.cut() }
func (r *bsmReplica) close() { _ = r.client.Close() }
