// Package redislock is a lock on one Redis deployment, with a fencing token.
//
// A lock is one Redis hash with the fields token, metadata and fence, and a time to
// live; HGETALL shows it. Obtain creates it, Refresh extends it, Release deletes it.
// Each of them is one script call and so one round trip, atomic on the server, and
// touches the lock only if it carries the random ownership token of this very
// acquisition. Types, the order of parameters and the errors are those of
// github.com/bsm/redislock: changing the import path is enough to move.
//
// # What it promises
//
// At most one process believes to hold a lock (Lock.Remaining is positive), as long as
// the clocks of the processes and of the server run at nearly the same rate, the
// server's wall clock does not step, and no acknowledged write is lost in a failover of
// Redis. Nothing of this kind can be promised without such assumptions. What holds
// without them, if a FenceKey is given and the counter survives (or FenceClock or
// FenceFloor make up for it): a resource that rejects fencing tokens lower than the
// highest it has seen never applies the write of an earlier holder.
//
// # Clients
//
// Use a client with ContextTimeoutEnabled, or a context's deadline does not interrupt a
// read that hangs; go-redis otherwise waits for its ReadTimeout. Locks need Redis 6 or
// later and the commands evalsha, eval, type, hget, hmget, hset, pexpire, pttl and del;
// a FenceKey needs get and set, FenceClock needs time. Announcements are a help that
// may be denied: publish, pubsub|numsub and subscribe, with the channels of the lock
// (see Channels).
//
// The package logs nothing. It keeps a connection, and goroutines to serve it, only
// while a lock is being watched. Who needs a lock held over time, with renewal and
// callbacks, wants package leader.
package redislock
