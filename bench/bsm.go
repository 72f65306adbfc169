package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// bsmRetry is how often bsm/redislock retries in its README.
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
		enlist: func(a *arena, _ string) (replica, error) {
			client, l := a.client()
			return &bsmReplica{arena: a, client: client, line: l, locker: redislock.New(client)}, nil
		},
	}
}

type bsmReplica struct {
	arena  *arena
	client *redis.Client
	line   *line
	locker *redislock.Client
	lock   *redislock.Lock
}

func (r *bsmReplica) compete(ctx context.Context) (_ time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour) // without a deadline it waits for one ttl only
	defer cancel()
	opt := &redislock.Options{RetryStrategy: redislock.LinearBackoff(bsmRetry)}
	r.lock, err = r.locker.Obtain(ctx, r.arena.name, r.arena.timings.lease, opt)
	return time.Now(), err
}

func (r *bsmReplica) leave(ctx context.Context) (time.Time, error) {
	began := time.Now()
	return began, r.lock.Release(ctx)
}

func (r *bsmReplica) crash() { r.line.cut() }
func (r *bsmReplica) close() { _ = r.client.Close() }
