package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// openRedisleader obtains and releases with package redislock. opt returns the options
// for a key.
func openRedisleader(opt func(key string) *redislock.Options) opener {
	return func(addr string) (cycle, func(), error) {
		client := redis.NewClient(clientOptions(addr))
		locker := redislock.New(client)
		return func(ctx context.Context, key string) error {
			lock, err := locker.Obtain(ctx, key, cycleTTL, opt(key))
			if err != nil {
				return err
			}
			return lock.Release(ctx)
		}, func() { _ = client.Close() }, nil
	}
}

func withoutOptions(string) *redislock.Options { return nil }

func withFence(key string) *redislock.Options {
	return &redislock.Options{FenceKey: key + ":fence"}
}

func withFenceClock(key string) *redislock.Options {
	return &redislock.Options{FenceKey: key + ":fence", FenceClock: true}
}

// redisleaderContender is an elector of package leader in each replica, with the default
// options.
func redisleaderContender() contender {
	return contender{
		name:     "redisleader, leader.Elector",
		key:      lockKey,
		sends:    []string{"evalsha", "eval"},
		releases: 1,
		renews:   true,
		newReplica: func(e *election, id string) (replica, error) {
			client, d := e.client()
			r := &electorReplica{client: client, dialer: d, running: newRunning()}
			config := electorConfig(e.name, e.timings, id, r.work)
			var err error
			r.elector, err = leader.New(redislock.New(client), config)
			return r, err
		},
	}
}

// lockKey is the key that electors of package leader compete for.
func lockKey(name string) string { return "redisleader:{" + name + "}" }

func electorConfig(name string, t timings, id string, work func(context.Context)) leader.Config {
	return leader.Config{
		Name:          name,
		Identity:      id,
		LeaseDuration: t.lease,
		RenewDeadline: t.deadline,
		RetryPeriod:   t.retry,
		Logger:        logr.FromSlogHandler(slog.DiscardHandler),
		Callbacks: leader.Callbacks{
			OnStartedLeading: func(ctx context.Context, _ leader.Term) { work(ctx) },
		},
	}
}

type electorReplica struct {
	client  *redis.Client
	dialer  *dialer
	elector *leader.Elector
	running
	worked time.Time // when the work of the latest term ended
}

// work is what a leader does: nothing, until it is told to stop.
func (r *electorReplica) work(ctx context.Context) {
	r.start()
	<-ctx.Done()
	r.worked = time.Now()
}

func (r *electorReplica) compete(ctx context.Context) (time.Time, error) {
	return r.run(ctx, r.elector.Run)
}

func (r *electorReplica) leave(context.Context) (time.Time, error) {
	err := r.stop()
	return r.worked, err
}

func (r *electorReplica) crash() { r.dialer.cut() }

func (r *electorReplica) close() {
	_ = r.stop()
	_ = r.client.Close()
}
