package leader

import (
	"testing"
	"testing/synctest"
	"time"
)

// world is a backend for the acceptance suite: the lock in memory under a bubble's
// clock, or real Redis.
type world interface {
	// candidate makes one that is not running yet, run starts it.
	candidate(identity string, change func(*Config, *replica)) *replica
	run(r *replica) *replica

	// await waits until condition holds. In a bubble it may take at most limit; real
	// time is only bounded.
	await(limit time.Duration, what string, condition func() bool)

	// holder is the identity of who holds the lock, "" if nobody does.
	holder() string
	// steal puts somebody else's lock in the place of what is there, for a minute.
	// remove deletes whatever is there.
	steal()
	remove()
	// sever keeps candidates from reaching the server, heal ends that.
	sever()
	heal()
}

// memoryWorld is for use in a bubble.
type memoryWorld struct {
	t      *testing.T
	server *memServer
}

func (w memoryWorld) candidate(identity string, change func(*Config, *replica)) *replica {
	w.t.Helper()
	return newReplica(w.t, w.server, identity, change)
}

func (w memoryWorld) run(r *replica) *replica { return r.start(w.t) }

func (w memoryWorld) await(limit time.Duration, what string, condition func() bool) {
	w.t.Helper()
	await(w.t, limit, what, condition)
}

func (w memoryWorld) holder() string {
	synctest.Wait()
	entry, _ := w.server.holder(lockKey(defaultKeyPrefix, "test"))
	return decodeCard(entry.metadata).Identity
}

func (w memoryWorld) steal()  { w.server.steal(lockKey(defaultKeyPrefix, "test"), time.Minute) }
func (w memoryWorld) remove() { w.server.delete(lockKey(defaultKeyPrefix, "test")) }
func (w memoryWorld) sever() {
	w.server.setFault(func(string) memFault { return memFault{err: errDown} })
}
func (w memoryWorld) heal() { w.server.setFault(nil) }

// redisWorld puts all candidates behind the proxy of a scene.
type redisWorld struct{ *scene }

func (w redisWorld) candidate(identity string, change func(*Config, *replica)) *replica {
	w.Helper()
	return w.behind(identity, change)
}

func (w redisWorld) run(r *replica) *replica { return w.start(r) }

func (w redisWorld) await(_ time.Duration, what string, condition func() bool) {
	w.Helper()
	w.scene.await(what, condition)
}

func (w redisWorld) steal() {
	w.do("DEL", w.key)
	w.do("HSET", w.key, "token", "intruder", "metadata", "intruder", "fence", "1")
	w.do("PEXPIRE", w.key, time.Minute.Milliseconds())
}

func (w redisWorld) remove() { w.do("DEL", w.key) }
func (w redisWorld) sever()  { w.proxy.Refuse() }
func (w redisWorld) heal()   { w.proxy.Heal() }
