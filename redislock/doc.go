// Package redislock is a lock on one Redis deployment, with fencing tokens.
//
// A lock is one Redis hash with the fields token, metadata and fence, and with resign
// once somebody has requested its release. It has a time to live. HGETALL shows it.
// Obtain creates the hash, Refresh extends its time to live,
// and Release deletes it. Each of these is one script call, so it takes one round trip
// and is atomic on the server. Refresh and Release touch a lock only if it carries the
// random ownership token of this very acquisition.
//
// The types, the order of parameters and the errors are those of
// github.com/bsm/redislock. To move from there, change the import path.
//
// # What it promises
//
// At most one process believes that it holds a lock (Lock.Remaining is positive), as
// long as the clocks of the processes and of the server run at nearly the same rate,
// the server's wall clock does not step, and no acknowledged write is lost in a
// failover of Redis. No lock can promise this without such assumptions.
//
// One promise holds without them, if a FenceKey is given and its counter survives (or
// FenceClock or FenceFloor make up for its loss): a resource that rejects fencing
// tokens lower than the highest it has seen never applies a write of an earlier holder.
//
// # Requirements
//
// Locks need Redis 6.2.7 or later and permission to run evalsha, eval, type, hget,
// hmget, hset, pexpire, pttl and del. A FenceKey also needs get and set, and FenceClock
// needs time. Announcements are optional: they need publish, subscribe, unsubscribe,
// pubsub|numsub and ping, and access to the channels of the lock (announce.Channels).
//
// Set ContextTimeoutEnabled in the options of the Redis client. Without it a context's
// deadline does not interrupt a read that hangs, and go-redis waits for its
// ReadTimeout.
//
// # What it leaves out
//
// The package starts no goroutine and logs nothing. Only package announce runs
// goroutines, while a lock is being watched. If you need a lock held over time, with
// renewal and callbacks, use package leader.
package redislock
