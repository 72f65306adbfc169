package main

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// openOurs obtains and releases with package redislock. opt says for each key with what
// options.
func openOurs(opt func(key string) *redislock.Options) func(addr string) (cycle, func(), error) {
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

func withFence(key string) *redislock.Options { return &redislock.Options{FenceKey: key + ":fence"} }

func withFenceClock(key string) *redislock.Options {
	return &redislock.Options{FenceKey: key + ":fence", FenceClock: true}
}

// electorContender is an elector of package leader in each replica, with what it has by
// default.
func electorContender() contender {
	return contender{
		name:     "redisleader, leader.Elector",
		key:      func(name string) string { return "redisleader:{" + name + "}" },
		sends:    []string{"evalsha", "eval"},
		releases: 1,
		renews:   true,
		enlist: func(a *arena, id string) (replica, error) {
			client, l := a.client()
			r := &electorReplica{client: client, line: l, running: running{began: make(chan time.Time, 1)}}
			var err error
			r.elector, err = leader.New(redislock.New(client), electorConfig(a, id, r.work))
			return r, err
		},
	}
}

func electorConfig(a *arena, id string, work func(context.Context)) leader.Config {
	return leader.Config{
		Name:          a.name,
		Identity:      id,
		LeaseDuration: a.timings.lease,
		RenewDeadline: a.timings.deadline,
		RetryPeriod:   a.timings.retry,
		Callbacks:     leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) { work(ctx) }},
	}
}

type electorReplica struct {
	client  *redis.Client
	line    *line
	elector *leader.Elector
	running
	worked time.Time // when the work of the latest term had ended
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

func (r *electorReplica) crash() { r.line.cut() }

func (r *electorReplica) close() {
	_ = r.stop()
	_ = r.client.Close()
}
