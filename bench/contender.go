package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"
)

// contender is something that takes part in contests for one name: a lock that can be
// waited for, or an elector.
type contender struct {
	name   string
	enlist func(a *arena, id string) (replica, error)

	// key is the Redis key that is competed for. nil: nothing in Redis.
	key func(name string) string

	// sends are the commands that its clients send. Commands that only its scripts call
	// are not among them. nil: its requests go to the arena's cluster.
	sends []string

	releases int64 // requests that leaving takes
	renews   bool  // a holder extends its lease without being told to
}

// replica is one of several that compete for a name, as if each were a process of its
// own: with its own client.
type replica interface {
	// compete waits until the replica holds the lock, and returns the instant at which
	// it knew. The replica then holds it until leave or crash is called, or ctx ends.
	// The error says that ctx ended first, or what failed.
	compete(ctx context.Context) (time.Time, error)

	// leave gives the lock up in good order and returns the instant at which it began
	// to: when the work, if any, had ended and the release was about to be sent.
	leave(ctx context.Context) (time.Time, error)

	// crash cuts the replica off from its server, for good.
	crash()

	// close frees what the replica has, after the ctx of compete has ended.
	close()
}

// arena is where the replicas of one contender compete for one name.
type arena struct {
	addr    string
	name    string
	timings timings
	cluster *cluster
	meter   *meter // counts the commands of those enlisted from now on; nil: none
}

// client is a client with the options that all users of go-redis here have, and the
// line it uses.
func (a *arena) client() (*redis.Client, *line) {
	l := &line{meter: a.meter}
	opts := clientOptions(a.addr)
	opts.Dialer = l.dial
	return redis.NewClient(opts), l
}

// clientOptions are the same for all users of go-redis. Contexts bound calls; the pool
// is small and does not depend on the machine; all else has its default.
func clientOptions(addr string) *redis.Options {
	return &redis.Options{Addr: addr, PoolSize: 20, ContextTimeoutEnabled: true}
}

// contenders are those that compete with one another. The floor is apart.
func contenders() []contender {
	return []contender{electorContender(), rueidisContender(), bsmContender(), redsyncContender(), clientGoContender()}
}

// shuffled returns them in a random order, so that none is always the one after the
// same other.
func shuffled[T any](values []T) []T {
	out := make([]T, 0, len(values))
	for _, i := range rand.Perm(len(values)) {
		out = append(out, values[i])
	}
	return out
}

func plainKey(name string) string { return name }

// pause waits and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
