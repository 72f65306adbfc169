package leader

import (
	"testing"
	"testing/synctest"

	"github.com/redisleader/redisleader/redislock/announce"
)

// B12: a candidate that can hear announcements again tries at once, because it may have
// missed that of a release.
func TestLooksOnceAnnouncementsArrive(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.unannounced = true
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
		server.unannounced = false
		server.announce(announce.Subscribed)
		server.mu.Unlock()
		await(t, 0, "b leads", b.atWork)
		b.join()
	})
}
