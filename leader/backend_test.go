package leader

import (
	"testing"
	"testing/synctest"
	"time"
)

// backend is what the acceptance suite runs on: the lock in memory under a bubble's
// clock, or real Redis.
type backend interface {
	// candidate makes a candidate that is not running yet. run starts it.
	candidate(identity string, change func(*Config, *replica)) *replica
	run(r *replica) *replica

	// await waits until condition holds. In a bubble that may take limit at most. In
	// real time the bound is generous.
	await(limit time.Duration, what string, condition func() bool)

	// holder is the identity of who holds the lock, "" if nobody does.
	holder() string
	// steal puts somebody else's lock in the place of what is there, for a minute.
	// remove deletes whatever is there.
	steal()
	remove()
	// sever keeps candidates from reaching the server. heal ends that.
	sever()
	heal()
}

// memoryBackend is for use in a bubble.
type memoryBackend struct {
	t      *testing.T
	server *memServer
}

func (b memoryBackend) candidate(identity string, change func(*Config, *replica)) *replica {
	b.t.Helper()
	return newReplica(b.t, b.server, identity, change)
}

func (b memoryBackend) run(r *replica) *replica { return r.start(b.t) }

func (b memoryBackend) await(limit time.Duration, what string, condition func() bool) {
	b.t.Helper()
	await(b.t, limit, what, condition)
}

func (b memoryBackend) holder() string {
	synctest.Wait()
	entry, _ := b.server.holder(LockKey("", "test"))
	return decodeLeaderRecord(entry.metadata).Identity
}

func (b memoryBackend) steal()  { b.server.steal(LockKey("", "test"), time.Minute) }
func (b memoryBackend) remove() { b.server.delete(LockKey("", "test")) }
func (b memoryBackend) sever() {
	b.server.setFault(func(string) memFault { return memFault{err: errDown} })
}
func (b memoryBackend) heal() { b.server.setFault(nil) }

// redisBackend puts all candidates behind the proxy of an environment.
type redisBackend struct{ *environment }

func (b redisBackend) candidate(identity string, change func(*Config, *replica)) *replica {
	b.Helper()
	return b.behind(identity, change)
}

func (b redisBackend) run(r *replica) *replica { return b.start(r) }

func (b redisBackend) await(_ time.Duration, what string, condition func() bool) {
	b.Helper()
	b.environment.await(what, condition)
}

func (b redisBackend) steal() {
	b.do("DEL", b.key)
	b.do("HSET", b.key, "token", "intruder", "metadata", "intruder", "fence", "1")
	b.do("PEXPIRE", b.key, time.Minute.Milliseconds())
}

func (b redisBackend) remove() { b.do("DEL", b.key) }
func (b redisBackend) sever()  { b.proxy.Refuse() }
func (b redisBackend) heal()   { b.proxy.Heal() }
