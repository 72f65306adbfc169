package leader

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/redislock/announce"
)

// announceTo delivers an announcement to all watches.
func (s *memServer) announceTo(a announce.Announcement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		select {
		case <-w.c:
		default:
		}
		w.c <- a
	}
}

func (s *memServer) listeners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

// pair is a leader, and a follower that has just made an attempt.
func pair(t *testing.T, server *memServer) (a, b *replica) {
	t.Helper()
	a = newReplica(t, server, "a", nil).start(t)
	await(t, 0, "a leads", a.IsLeader)
	b = newReplica(t, server, "b", nil).start(t)
	synctest.Wait()
	return a, b
}

func TestFollowerTriesAtOnceWhenTheReleaseIsAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a, b := pair(t, server)
		a.join()
		await(t, 0, "b leads", b.IsLeader)
		b.join()
	})
}

// B12: a lost announcement costs at most a RetryPeriod, with its jitter.
func TestLostAnnouncementCostsAtMostARetryPeriod(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.unannounced = true
		a, b := pair(t, server)
		a.join()
		if waited := await(t, b.timing.retry*6/5+time.Millisecond, "b leads", b.IsLeader); waited == 0 {
			t.Error("b heard what was lost")
		}
		b.join()
	})
}

// False and repeated announcements may cause attempts in vain, but never delay one that
// is due.
func TestForgedAnnouncementsDoNotPutOffTheNextLook(t *testing.T) {
	for _, kind := range []announce.Kind{announce.Acquired, announce.Unavailable, announce.Released, announce.Subscribed} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				server.unannounced = true
				a, b := pair(t, server)
				a.join()
				limit := time.Now().Add(b.timing.retry*6/5 + time.Millisecond)
				for !b.IsLeader() && time.Now().Before(limit) {
					server.announceTo(announce.Announcement{Kind: kind, Delay: time.Hour})
					time.Sleep(time.Millisecond)
					synctest.Wait()
				}
				if !b.IsLeader() {
					t.Error("b was kept from trying")
				}
				b.join()
			})
		})
	}
}

func TestNoAttemptOnceTheAcquisitionIsAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		_, b := pair(t, server)
		before := server.count("obtain")
		server.announceTo(announce.Announcement{Kind: announce.Released, Delay: 5 * time.Millisecond})
		synctest.Wait()
		server.announceTo(announce.Announcement{Kind: announce.Acquired})
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := server.count("obtain") - before; n != 0 {
			t.Errorf("%d attempts although somebody has obtained the lock", n)
		}
		server.announceTo(announce.Announcement{Kind: announce.Released, Delay: 5 * time.Millisecond})
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := server.count("obtain") - before; n != 1 {
			t.Errorf("%d attempts after a release was announced, want 1", n)
		}
		b.join()
	})
}

// The release was heard. The lock is free even if no further announcements arrive.
func TestLostConnectionLeavesASuggestedAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.unannounced = true
		a, b := pair(t, server)
		a.join()
		server.announceTo(announce.Announcement{Kind: announce.Released, Delay: 5 * time.Millisecond})
		synctest.Wait()
		server.announceTo(announce.Announcement{Kind: announce.Unavailable})
		await(t, 6*time.Millisecond, "b leads", b.IsLeader)
		b.join()
	})
}

func TestOnlyThoseWhoWaitListen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a, b := pair(t, server)
		if n := server.listeners(); n != 1 {
			t.Errorf("%d listeners with one follower", n)
		}
		a.join()
		await(t, 0, "b leads", b.IsLeader)
		if n := server.listeners(); n != 0 {
			t.Errorf("%d listeners with a leader alone", n)
		}
		b.join()
	})
}

func TestDeniedAnnouncementsAreLoggedOnce(t *testing.T) {
	var lines logLines
	w := wait{logger: lines.logger(0)}
	w.unavailable(errors.New("connection refused"))
	w.unavailable(errNoPermission{})
	w.unavailable(errNoPermission{})
	if len(lines.all()) != 1 {
		t.Errorf("logged %q, want one line", lines.all())
	}
}

// errNoPermission is the error of a server that denies a subscription.
type errNoPermission struct{}

func (errNoPermission) Error() string { return "NOPERM no permission to subscribe" }
func (errNoPermission) RedisError()   {}
