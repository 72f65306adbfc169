package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// contender is something whose replicas compete for one name: a lock that one can wait
// for, or an elector.
type contender struct {
	name       string
	newReplica func(e *election, id string) (replica, error)

	// key is the Redis key that the replicas compete for; nil if they do not use Redis.
	key func(name string) string

	// sends are the commands that its clients send, without those that only its scripts
	// call. If it is nil, the requests go to the election's cluster.
	sends []string

	releases int64 // how many requests a release takes
	renews   bool  // the holder extends its lease by itself
}

// replica is one of several that compete for a name. Each has its own client, as if it
// were a process of its own.
type replica interface {
	// compete waits until the replica holds the lock, and returns the instant at which
	// it knew. It then holds the lock until leave or crash is called, or ctx ends. If
	// ctx ends first, or something fails, compete returns an error.
	compete(ctx context.Context) (time.Time, error)

	// leave releases the lock in good order. It returns the instant at which the release
	// began: when the work, if any, had ended and the request was about to be sent.
	leave(ctx context.Context) (time.Time, error)

	// crash cuts the replica off from its server for good.
	crash()

	// close frees the replica's resources, after the ctx of compete has ended.
	close()
}

// election is what the replicas of one contender compete for.
type election struct {
	addr    string
	name    string
	timings timings
	cluster *cluster
	meter   *meter // counts the commands of replicas made from now on; nil: none
}

// client returns a client with the options that all users of go-redis have here, and the
// dialer of its connections.
func (e *election) client() (*redis.Client, *dialer) {
	d := &dialer{meter: e.meter}
	opts := clientOptions(e.addr)
	opts.Dialer = d.dial
	return redis.NewClient(opts), d
}

// clientOptions are the same for all users of go-redis. Contexts bound calls, the pool is
// small and does not depend on the machine, and everything else has its default.
func clientOptions(addr string) *redis.Options {
	return &redis.Options{Addr: addr, PoolSize: 20, ContextTimeoutEnabled: true}
}

// contenders are those that are compared with one another. The floor is not among them.
func contenders() []contender {
	return []contender{
		redisleaderContender(), rueidisContender(), bsmContender(), redsyncContender(),
		clientGoContender(),
	}
}

// shuffled returns the values in a random order, so that no contender always follows the
// same other.
func shuffled[T any](values []T) []T {
	out := make([]T, 0, len(values))
	for _, i := range rand.Perm(len(values)) {
		out = append(out, values[i])
	}
	return out
}

func plainKey(name string) string { return name }

// pause waits and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
