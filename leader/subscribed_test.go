package leader

import (
	"testing"
	"testing/synctest"

	"github.com/redisleader/redisleader/redislock"
)

// B12: a candidate that can hear announcements again looks at once, for one that it did
// not hear may have said that the lock is free.
func TestLooksOnceAnnouncementsArrive(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.mute = true
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		b := newReplica(t, server, "b", nil).start(t)
		await(t, 0, "b follows", func() bool { return b.GetLeader() == "a" })
		a.join() // unheard
		synctest.Wait()
		if b.IsLeader() {
			t.Fatal("b heard of the release")
		}
		server.mu.Lock()
		server.mute = false
		server.announce(redislock.Subscribed)
		server.mu.Unlock()
		await(t, 0, "b leads", b.atWork)
		b.join()
	})
}
